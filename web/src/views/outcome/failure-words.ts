// The messages of failures: one sentence for the cause, and one with background.

import type { ErrorDetails } from '../../engine/types';

export function headline(error: ErrorDetails): string {
  const asked = error.chain?.at(-1)?.spec;
  const name = error.package || 'a package without a name';
  switch (error.code) {
    case 'EJSONPARSE':
      return `${error.file ?? 'package.json'} is not JSON: line ${error.line}, column ${error.column}.`;
    case 'ETARGET':
      return `No version of ${name} satisfies ${error.spec}.`;
    case 'EALLOWGIT':
    case 'EUNSUPPORTED':
      return `This page can’t fetch from git: ${asked ?? error.message}.`;
    case 'EALLOWREMOTE':
      return `This page doesn’t fetch tarballs by URL: ${asked ?? error.message}.`;
    case 'EINVALIDTAGNAME':
      return `“${asked}” is neither a range nor a tag.`;
    case 'EUNSUPPORTEDPROTOCOL':
      return `npm doesn’t know the protocol of ${asked}.`;
    case 'EINVALIDPACKAGENAME':
      return error.package ? `“${error.package}” is not a valid package name.` : 'This is not a valid package name.';
    case 'E404':
      return `This registry has no package ${name}.`;
    case 'E401':
    case 'E403':
      return `This registry refuses access to ${name}.`;
    case 'ERESOLVE':
      if (!error.conflict) return error.message;
      return `${error.conflict.name} can’t be ${error.conflict.current.spec} and ${error.conflict.wanted.spec} at once.`;
    case 'ENETUNREACH':
      return `The registry gave no answer for ${name}.`;
    default:
      return error.status === undefined ? error.message : `The registry answered ${error.status} for ${name}.`;
  }
}

export function hint(error: ErrorDetails, registry: string): string | undefined {
  switch (error.code) {
    case 'EJSONPARSE':
      return error.message;
    case 'E404':
    case 'ETARGET':
      return registry === 'embedded' ? 'The embedded registry only holds what the samples need.' : undefined;
    case 'ENETUNREACH':
      if (!navigator.onLine) return 'This machine is offline.';
      return `A browser doesn’t say why: the address may be wrong, the registry may be down, or it doesn’t let pages read its answers (CORS). ${error.url ?? ''}`;
    case 'EINVALIDRESPONSE':
      return error.url;
    case 'EALLOWGIT':
      return 'npm 12 refuses git dependencies too, unless --allow-git says otherwise. Ask for a version from a registry instead.';
    case 'EALLOWREMOTE':
      return 'npm 12 refuses them too, unless --allow-remote says otherwise. Ask for a version from a registry instead.';
    case 'EINVALIDTAGNAME':
      return 'Ranges look like ^1.2.0, ~1.2.0, >=1 <3 or 1.x; tags like latest or next.';
    case 'EUNSUPPORTEDPROTOCOL':
      return 'workspace: and catalog: are pnpm’s and Yarn’s. For npm, a plain range leads to a workspace of that name.';
    case 'ECRASH':
      return 'This is a fault of Espalier, not of the project.';
    default:
      return error.status === undefined ? undefined : error.url;
  }
}
