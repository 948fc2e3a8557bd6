// What went wrong, in one sentence, and what a person should know about it in another.

import type { ErrorDetails } from '../../engine/types';

export function headline(error: ErrorDetails): string {
  const name = error.package ?? 'a package';
  switch (error.code) {
    case 'EJSONPARSE':
      return `${error.file ?? 'package.json'} is not JSON: line ${error.line}, column ${error.column}.`;
    case 'ETARGET':
      return `No version of ${name} satisfies ${error.spec}.`;
    case 'E404':
      return `This registry has no package ${name}.`;
    case 'E403':
      return `This registry does not hand out ${name}.`;
    case 'ERESOLVE':
      if (!error.conflict) return error.message;
      return `${error.conflict.name} can’t be ${error.conflict.current.spec} and ${error.conflict.wanted.spec} at once.`;
    case 'ENETUNREACH':
      return `The registry gave no answer for ${name}.`;
    case 'EHTTP':
      return `The registry answered ${error.status} for ${name}.`;
    default:
      return error.message;
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
    case 'EHTTP':
    case 'EINVALIDRESPONSE':
    case 'E403':
      return error.url;
    case 'ECRASH':
      return 'This is a fault of Espalier, not of the project.';
    default:
      return undefined;
  }
}
