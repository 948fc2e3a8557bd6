// Problems of dependencies in a complete tree.

import type { DependencyKind, GraphEdge } from '../engine/types';

const OPTIONAL: ReadonlySet<DependencyKind> = new Set(['optional', 'peerOptional']);

/** Whether a dependency is missing or has a version outside of its range. */
export function isUnmet(edge: GraphEdge): boolean {
  // A missing optional dependency and a missing optional peer are no problems.
  return edge.error !== undefined && !(edge.to === undefined && OPTIONAL.has(edge.kind));
}

/** The same for a peer. A missing optional peer does not count. */
export function isUnmetPeer(edge: GraphEdge): boolean {
  return (edge.kind === 'peer' || edge.kind === 'peerOptional') && isUnmet(edge);
}

/** One or two words for a row. */
export function problemWord(edge: GraphEdge): string | undefined {
  if (!isUnmet(edge)) return edge.error && (edge.error === 'MISSING' ? 'not on this platform' : 'not available');
  switch (edge.error) {
    case undefined:
      return undefined;
    case 'MISSING':
      return 'missing';
    case 'INVALID':
      return 'not in range';
    case 'PEER LOCAL':
      return 'not shared';
    case 'DETACHED':
      return 'detached';
  }
}
