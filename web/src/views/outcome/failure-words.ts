// The messages of failures: one sentence for the cause, one with background, and advice.

import type { ErrorDetails } from '../../engine/types';

/** A sentence in pieces. Names, versions, ranges and other code are in the monospace face. */
export type Words = readonly (string | { readonly code: string })[];

/** A sentence whose values are code. */
function words(texts: TemplateStringsArray, ...codes: readonly (string | number)[]): Words {
  return texts.flatMap((text, index) => (index < codes.length ? [text, { code: String(codes[index]) }] : [text]));
}

export function headline(error: ErrorDetails): Words {
  const asked = error.chain?.at(-1)?.spec ?? error.message;
  const name = error.package || 'a package without a name';
  switch (error.code) {
    case 'EJSONPARSE':
      return [`${error.file ?? 'package.json'} is not JSON: line ${error.line}, column ${error.column}.`];
    case 'ETARGET':
      return words`No version of ${name} satisfies ${error.spec ?? ''}.`;
    case 'EALLOWGIT':
    case 'EUNSUPPORTED':
      return words`This page can’t fetch from git: ${asked}.`;
    case 'EALLOWREMOTE':
      return words`This page doesn’t fetch tarballs by URL: ${asked}.`;
    case 'EINVALIDTAGNAME':
      return words`“${asked}” is neither a range nor a tag.`;
    case 'EUNSUPPORTEDPROTOCOL':
      return words`npm doesn’t know the protocol of ${asked}.`;
    case 'EINVALIDPACKAGENAME':
      return error.package
        ? words`“${error.package}” is not a valid package name.`
        : ['This is not a valid package name.'];
    case 'E404':
      return words`This registry has no package ${name}.`;
    case 'E401':
    case 'E403':
      return words`This registry refuses access to ${name}.`;
    case 'ERESOLVE':
      if (!error.conflict) return [error.message];
      return words`${error.conflict.name} can’t be ${error.conflict.current.spec} and ${error.conflict.wanted.spec} at once.`;
    case 'ENETUNREACH':
      return words`The registry gave no answer for ${name}.`;
    default:
      return error.status === undefined ? [error.message] : words`The registry answered ${error.status} for ${name}.`;
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
      return 'A browser doesn’t say why: the address may be wrong, the registry may be down, or it doesn’t let pages read its answers (CORS).';
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

/** What a person can do beyond the buttons, or what the buttons have in common. */
export function advice({ code, package: name = '' }: ErrorDetails, registry: string, isPlayed: boolean): Words[] {
  const scope = name.startsWith('@') && name.includes('/') ? name.slice(0, name.indexOf('/')) : '@scope';
  switch (code) {
    case 'ERESOLVE':
      return [['Each of these changes was tried and resolves the conflict.']];
    case 'E404':
      // The embedded registry has no private packages, and is named in the hint.
      if (registry === 'embedded') return [['Check the spelling of the name.']];
      return [
        ['Check the spelling of the name.'],
        isPlayed
          ? words`A private package needs its registry in .npmrc (${`${scope}:registry=https://…`}), and often a token (${`//…/:_authToken=…`}).`
          : words`A private package needs its registry, and often a token. This page sends no tokens. ${'espalier play'} uses the registries (${`${scope}:registry=https://…`}) and tokens of your .npmrc.`,
      ];
    case 'E401':
    case 'E403':
      return [
        isPlayed
          ? words`Log in with ${'npm login'}, or add a token for this registry to .npmrc (${`//…/:_authToken=…`}). An existing token may have expired, or may not allow access to this package.`
          : words`This page sends no tokens. ${'espalier play'} uses those of your .npmrc.`,
      ];
    default:
      return [];
  }
}
