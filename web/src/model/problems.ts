// What is wrong with a dependency although there is a tree.

import type { GraphEdge } from '../engine/types';

/** Whether what answers isn't what was asked for, or nothing answers. */
export function isUnmet(edge: GraphEdge): boolean {
  return edge.error !== undefined;
}

/** In a word or two, for a row. */
export function problemWord(edge: GraphEdge): string | undefined {
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
