// Why a package is here: for each package that asks for it, the shortest way from the root. What is only here
// because of the package itself is no reason.

import { answer, path, type Tree } from './tree';

/** Edges from the root; the last one leads to the package. */
export type Chain = readonly number[];

export function chainsTo(tree: Tree, node: number): Chain[] {
  return tree.into[node]!
    .filter((edge) => isReachable(tree, tree.edges[edge]!.from))
    .map((edge) => [...path(tree, tree.edges[edge]!.from), edge])
    .filter((chain) => !chain.slice(0, -1).some((edge) => answer(tree, edge) === node))
    .sort((a, b) => a.length - b.length || compareNames(tree, a, b));
}

/** Packages that nothing leads to are not part of any chain. */
function isReachable(tree: Tree, node: number): boolean {
  return node === 0 || tree.home[node] !== -1;
}

function compareNames(tree: Tree, a: Chain, b: Chain): number {
  const name = (chain: Chain) => chain.map((edge) => tree.edges[edge]!.name).join('>');
  return name(a) < name(b) ? -1 : 1;
}
