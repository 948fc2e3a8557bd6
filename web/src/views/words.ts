// The words that several views use for the same thing.

import type { DependencyKind } from '../engine/types';

export function kindWord(kind: DependencyKind | undefined): string {
  return kind === 'peerOptional' ? 'peer?' : (kind ?? '');
}
