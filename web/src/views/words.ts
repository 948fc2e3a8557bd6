// The words that several views use for the same thing.

import type { DependencyKind, GraphNode } from '../engine/types';
import { packageName } from '../model/copies';

export function kindWord(kind: DependencyKind | undefined): string {
  return kind === 'peerOptional' ? 'peer?' : (kind ?? '');
}

/** What a package is called: its folder's name under `node_modules` (which may be an alias), elsewhere its own. */
export function title(node: GraphNode | undefined): string {
  if (!node) return '';
  return node.location.includes('node_modules/') ? node.name : packageName(node);
}
