// Analyses a whole tree: the distance of each package from the project, the packages that would go
// with it, and their bytes. Pure; computed once for each tree.

import { answer, packagesOf, type Tree } from './tree';

export interface Analysis {
  /** For each node, its distance from the project in edges; -1 if it is unreachable. */
  readonly depth: Int32Array;
  /**
   * For each node, its immediate dominator: the last node on every path from the project. -1 for
   * the root and unreachable nodes.
   */
  readonly dominator: Int32Array;
  /** For each node, the nodes that it dominates immediately. */
  readonly dominated: readonly (readonly number[])[];
  /** For each node, the number of packages that would go with it, including itself. */
  readonly only: Int32Array;
  /** Their unpacked bytes, as far as they are known. */
  readonly onlyBytes: Float64Array;
}

/** The unpacked bytes of all installed packages, and the number of packages with a known size. */
export interface Totals {
  readonly bytes: number;
  readonly sized: number;
  readonly installed: number;
}

export function totals(tree: Tree): Totals {
  let known = sums.get(tree);
  if (!known) {
    const installed = packagesOf(tree).filter((node) => !tree.nodes[node]!.inert);
    known = {
      bytes: installed.reduce((sum, node) => sum + bytesOf(tree, node), 0),
      sized: installed.filter((node) => tree.nodes[node]!.unpackedSize !== undefined).length,
      installed: installed.length,
    };
    sums.set(tree, known);
  }
  return known;
}

const sums = new WeakMap<Tree, Totals>();
const analyses = new WeakMap<Tree, Analysis>();

export function analyze(tree: Tree): Analysis {
  const known = analyses.get(tree);
  if (known) return known;
  const made = makeAnalysis(tree);
  analyses.set(tree, made);
  return made;
}

/** The unpacked bytes of a package. A package that is not installed takes none. */
export function bytesOf(tree: Tree, node: number): number {
  const { inert, unpackedSize } = tree.nodes[node]!;
  return inert ? 0 : (unpackedSize ?? 0);
}

/** The number of packages that a node can reach, without itself. Computed on demand. */
export function reaches(tree: Tree, node: number): number {
  let counts = reached.get(tree);
  if (!counts) reached.set(tree, (counts = new Map()));
  let count = counts.get(node);
  if (count === undefined) {
    const seen = new Set([node]);
    for (const from of seen)
      for (const edge of tree.out[from]!) {
        const to = answer(tree, edge);
        if (to > 0) seen.add(to);
      }
    counts.set(node, (count = seen.size - 1));
  }
  return count;
}

const reached = new WeakMap<Tree, Map<number, number>>();

function makeAnalysis(tree: Tree): Analysis {
  const size = tree.nodes.length;
  const depth = new Int32Array(size).fill(-1);
  const dominator = dominators(tree, depth);
  const dominated: number[][] = tree.nodes.map(() => []);
  const only = new Int32Array(size);
  const onlyBytes = new Float64Array(size);
  for (let node = 1; node < size; node += 1) if (dominator[node]! >= 0) dominated[dominator[node]!]!.push(node);
  for (const node of [...descending(dominated)].reverse()) {
    only[node]! += 1;
    onlyBytes[node]! += bytesOf(tree, node);
    if (dominator[node]! < 0) continue;
    only[dominator[node]!]! += only[node]!;
    onlyBytes[dominator[node]!]! += onlyBytes[node]!;
  }
  return { depth, dominator, dominated, only, onlyBytes };
}

/** The nodes of the dominator tree, each before those below it. */
function descending(dominated: readonly (readonly number[])[]): number[] {
  const order = dominated.length > 0 ? [0] : [];
  for (const node of order) for (const below of dominated[node]!) order.push(below);
  return order;
}

/**
 * By the algorithm of Cooper, Harvey and Kennedy, in reverse postorder; fills in the depths on the
 * way.
 */
function dominators(tree: Tree, depth: Int32Array): Int32Array {
  const size = tree.nodes.length;
  const result = new Int32Array(size).fill(-1);
  if (size === 0) return result;
  breadthFirst(tree, depth);
  const order = reversePostorder(tree);
  const position = new Int32Array(size).fill(-1);
  order.forEach((node, index) => {
    position[node] = index;
  });
  const meet = (a: number, b: number): number => {
    while (a !== b) {
      while (position[a]! > position[b]!) a = result[a]!;
      while (position[b]! > position[a]!) b = result[b]!;
    }
    return a;
  };
  result[0] = 0;
  for (let changed = true; changed; ) {
    changed = false;
    for (const node of order) {
      if (node === 0) continue;
      let next = -1;
      for (const edge of tree.into[node]!) {
        const from = tree.edges[edge]!.from;
        if (result[from]! === -1) continue;
        next = next === -1 ? from : meet(from, next);
      }
      if (result[node] !== next) {
        result[node] = next;
        changed = true;
      }
    }
  }
  result[0] = -1;
  return result;
}

function breadthFirst(tree: Tree, depth: Int32Array): void {
  depth[0] = 0;
  const order = [0];
  for (const from of order)
    for (const edge of tree.out[from]!) {
      const to = answer(tree, edge);
      if (to < 0 || depth[to] !== -1) continue;
      depth[to] = depth[from]! + 1;
      order.push(to);
    }
}

/** This is not recursive, because a chain of dependencies can have any length. */
function reversePostorder(tree: Tree): number[] {
  const seen = new Uint8Array(tree.nodes.length);
  const order: number[] = [];
  const stack: { node: number; next: number }[] = [{ node: 0, next: 0 }];
  seen[0] = 1;
  while (stack.length > 0) {
    const top = stack.at(-1)!;
    const edge = tree.out[top.node]![top.next];
    top.next += 1;
    if (edge === undefined) {
      order.push(top.node);
      stack.pop();
      continue;
    }
    const to = answer(tree, edge);
    if (to <= 0 || seen[to]) continue;
    seen[to] = 1;
    stack.push({ node: to, next: 0 });
  }
  return order.reverse();
}
