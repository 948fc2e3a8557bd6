// The results of a search by name: one for each package, with its copies.

import { packageName } from './copies';
import { nameWords, type Matches } from './search';
import type { Tree } from './tree';

export interface Found {
  readonly name: string;
  /** The copies, the uppermost first. */
  readonly nodes: readonly number[];
  readonly versions: readonly string[];
}

/**
 * Exact names come first, then prefixes, then the packages with the most dependents. Empty if the
 * query has no name.
 */
export function resultsOf(tree: Tree, matches: Matches, query: string): Found[] {
  const words = nameWords(query);
  if (words.length === 0) return [];
  const byName = new Map<string, number[]>();
  for (const node of matches.nodes) {
    if (node === 0) continue;
    const name = packageName(tree.nodes[node]!);
    const known = byName.get(name);
    if (known) known.push(node);
    else byName.set(name, [node]);
  }
  const rank = (name: string) =>
    words.some((word) => name === word) ? 0 : words.some((word) => name.startsWith(word)) ? 1 : 2;
  const askers = (nodes: readonly number[]) => nodes.reduce((sum, node) => sum + tree.into[node]!.length, 0);
  const depth = (node: number) => tree.nodes[node]!.location.split('node_modules/').length;
  return [...byName]
    .sort(([a, left], [b, right]) => rank(a) - rank(b) || askers(right) - askers(left) || (a < b ? -1 : 1))
    .map(([name, nodes]) => ({
      name,
      nodes: nodes.sort((a, b) => depth(a) - depth(b)),
      versions: [...new Set(nodes.map((node) => tree.nodes[node]!.version ?? ''))],
    }));
}
