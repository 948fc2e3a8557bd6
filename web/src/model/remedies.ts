// What a person can do about a failure. Pure: what follows from the error and the project, not how it is done.

import type { ErrorDetails, Requirer } from '../engine/types';

export type Remedy =
  /** Change a direct dependency's range. */
  | { readonly kind: 'range'; readonly name: string; readonly range: string }
  | { readonly kind: 'flag'; readonly flag: 'legacyPeerDeps' | 'force' }
  | { readonly kind: 'registry'; readonly registry: 'embedded' | 'public' }
  | { readonly kind: 'caret'; readonly line: number; readonly column: number }
  | { readonly kind: 'retry' };

export function remedies(error: ErrorDetails, registry: string): Remedy[] {
  switch (error.code) {
    case 'EJSONPARSE':
      return error.line === undefined ? [] : [{ kind: 'caret', line: error.line, column: error.column ?? 1 }];
    case 'ETARGET':
      return [...ranges(error), ...elsewhere(registry)];
    case 'E404':
      return elsewhere(registry);
    case 'ERESOLVE':
      return [...conflictRanges(error), { kind: 'flag', flag: 'legacyPeerDeps' }, { kind: 'flag', flag: 'force' }];
    case 'ENETUNREACH':
    case 'EHTTP':
    case 'EINVALIDRESPONSE':
      return [{ kind: 'retry' }, ...(registry === 'embedded' ? [] : [{ kind: 'registry', registry: 'embedded' } as const])];
    default:
      return [];
  }
}

/** Only the root's own ranges can be changed in its package.json. */
function ranges(error: ErrorDetails): Remedy[] {
  const asked = error.chain?.at(-1);
  if (!error.package || asked?.location !== '') return [];
  return (error.nearest ?? []).map((version) => ({ kind: 'range', name: error.package!, range: `^${version}` }));
}

/** The embedded registry holds a few packages only. */
function elsewhere(registry: string): Remedy[] {
  return registry === 'embedded' ? [{ kind: 'registry', registry: 'public' }] : [];
}

/** Where the root asks for the package itself, asking for what the others want settles it. */
function conflictRanges({ conflict }: ErrorDetails): Remedy[] {
  if (!conflict) return [];
  const asks = (chain: readonly Requirer[]) => chain.length === 1;
  const { current, wanted } = conflict;
  if (asks(current.chain) && !asks(wanted.chain)) return [{ kind: 'range', name: conflict.name, range: wanted.spec }];
  if (asks(wanted.chain) && !asks(current.chain)) return [{ kind: 'range', name: conflict.name, range: current.spec }];
  return [];
}
