// Copies: the same package at several locations, by the name in its manifest.

import type { GraphNode } from '../engine/types';
import { packagesOf, type Tree } from './tree';

/** The name that the package has in its own manifest; its folder may be called by an alias. */
export function packageName(node: GraphNode): string {
  return node.packageName ?? node.name;
}

/** All nodes that hold this package, in the order of the lockfile. */
export function copiesOf(tree: Tree, node: GraphNode): readonly number[] {
  return byName(tree).get(packageName(node)) ?? [];
}

/** Names of packages with more than one copy. */
export function duplicatedNames(tree: Tree): string[] {
  return [...byName(tree)].filter(([, nodes]) => nodes.length > 1).map(([name]) => name);
}

/** The place of a copy in words: `at the top`, `under debug`, `under send › debug`. */
export function place({ location }: Pick<GraphNode, 'location'>): string {
  const parts = location.split('/node_modules/');
  if (parts.length === 1) return location.startsWith('node_modules/') ? 'at the top' : `in ${location}`;
  const holders = parts.slice(0, -1).join(' › ');
  return `under ${holders.replace(/^node_modules\//, '')}`;
}

const names = new WeakMap<Tree, Map<string, number[]>>();

function byName(tree: Tree): Map<string, number[]> {
  const known = names.get(tree);
  if (known) return known;
  const map = new Map<string, number[]>();
  for (const index of packagesOf(tree)) {
    const name = packageName(tree.nodes[index]!);
    const known = map.get(name);
    if (known) known.push(index);
    else map.set(name, [index]);
  }
  names.set(tree, map);
  return map;
}
