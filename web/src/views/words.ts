// Words that several views share.

import type { DependencyKind, GraphNode } from '../engine/types';
import { packageName } from '../model/copies';

export function kindWord(kind: DependencyKind | undefined): string {
  return kind === 'peerOptional' ? 'peer?' : (kind ?? '');
}

/**
 * The name of a package: that of its folder in `node_modules`, which may be an alias, or its own
 * elsewhere.
 */
export function title(node: GraphNode | undefined): string {
  if (!node) return '';
  return node.location.includes('node_modules/') ? node.name : packageName(node);
}
