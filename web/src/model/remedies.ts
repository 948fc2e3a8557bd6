// The remedies of a failure, derived from the error and the project. Pure: other modules apply
// them.

import type { Change, ErrorDetails } from '../engine/types';

export type Remedy =
  /** Change a direct dependency's range. */
  | { readonly kind: 'range'; readonly name: string; readonly range: string }
  /** Changes that resolve a peer conflict together. The resolver has tried them. */
  | { readonly kind: 'changes'; readonly changes: readonly Exclude<Change, { kind: 'flag' }>[] }
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
      return (error.remedies ?? []).filter((changes) => !changes.some(isElsewhere)).map(tried);
    case 'ENETUNREACH':
    case 'EINVALIDRESPONSE':
      return again(registry);
    case 'E401':
    case 'E403':
      return [];
    case 'EINVALIDTAGNAME':
    case 'EALLOWGIT':
    case 'EALLOWREMOTE':
    case 'EUNSUPPORTED':
      return fromRegistry(error, 'latest');
    case 'EUNSUPPORTEDPROTOCOL':
      return fromRegistry(error, '*');
    default:
      return error.status === undefined ? [] : again(registry);
  }
}

function again(registry: string): Remedy[] {
  return [{ kind: 'retry' }, ...(registry === 'embedded' ? [] : [{ kind: 'registry', registry: 'embedded' } as const])];
}

/** Only the root's own ranges can be changed in its package.json. */
function ranges(error: ErrorDetails): Remedy[] {
  const asked = error.chain?.at(-1);
  if (!error.package || asked?.location !== '') return [];
  return (error.nearest ?? []).map((version) => ({ kind: 'range', name: error.package!, range: `^${version}` }));
}

/** A spec that npm or this page refuses can give way to a range or a tag. */
function fromRegistry(error: ErrorDetails, range: string): Remedy[] {
  return error.package && error.chain?.at(-1)?.location === '' ? [{ kind: 'range', name: error.package, range }] : [];
}

/** The embedded registry holds a few packages only. */
function elsewhere(registry: string): Remedy[] {
  return registry === 'embedded' ? [{ kind: 'registry', registry: 'public' }] : [];
}

/** The page has only the project's own package.json, and no workspace's. */
function isElsewhere(change: Change): boolean {
  return 'folder' in change && change.folder !== undefined;
}

/** npm's flags are switches of the page, and each is a remedy of its own. */
function tried(changes: readonly Change[]): Remedy {
  const [first] = changes;
  if (first?.kind === 'flag') return { kind: 'flag', flag: first.flag === 'force' ? 'force' : 'legacyPeerDeps' };
  return { kind: 'changes', changes: changes.filter((change) => change.kind !== 'flag') };
}
