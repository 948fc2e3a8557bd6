// What is wrong with a dependency although there is a tree.

import type { DependencyKind, GraphEdge } from '../engine/types';

const OPTIONAL: ReadonlySet<DependencyKind> = new Set(['optional', 'peerOptional']);

/** Whether what answers isn't what was asked for, or nothing answers. */
export function isUnmet(edge: GraphEdge): boolean {
  // An optional dependency that could not be had, and an optional peer that nobody brought, are as their authors wanted it.
  return edge.error !== undefined && !(edge.to === undefined && OPTIONAL.has(edge.kind));
}

/** The same of a peer, optional ones that nobody brought not counted. */
export function isUnmetPeer(edge: GraphEdge): boolean {
  return (edge.kind === 'peer' || edge.kind === 'peerOptional') && isUnmet(edge);
}

/** In a word or two, for a row. */
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
