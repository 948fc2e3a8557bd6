// A graph with the indexes that all views need: edges by node, the row of each package, and the
// packages below it. Pure; computed once for each graph.

import type { DependencyKind, Graph, GraphEdge, GraphNode } from '../engine/types';

export interface Tree {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** For each node, its edges to dependencies, in the order of their rows. */
  readonly out: readonly (readonly number[])[];
  /** For each node, the edges of its dependents. */
  readonly into: readonly (readonly number[])[];
  /**
   * For each node, the edge whose row lists it: the first one in breadth-first order, as in npm's
   * own listing. Every other row with this node is "deduped". -1 for the root and for nodes without
   * dependents.
   */
  readonly home: Int32Array;
  /** For each node, the number of packages below it. Those of its children add up to it. */
  readonly below: Int32Array;
  /** Node by location. */
  readonly at: ReadonlyMap<string, number>;
}

/** The order of a package's dependencies on screen, before their names. */
const KINDS: readonly DependencyKind[] = ['workspace', 'prod', 'optional', 'peer', 'peerOptional', 'dev'];

export function treeOf(graph: Graph): Tree {
  const { nodes, edges } = graph;
  const out: number[][] = nodes.map(() => []);
  const into: number[][] = nodes.map(() => []);
  edges.forEach((edge, index) => {
    if (!isShown(edge)) return;
    out[edge.from]!.push(index);
    if (edge.to !== undefined) into[landing(nodes, edge.to)]!.push(index);
  });
  for (const list of out) list.sort((a, b) => byKindAndName(edges[a]!, edges[b]!));

  const home = new Int32Array(nodes.length).fill(-1);
  const order = breadthFirst(nodes, edges, out, home);
  const below = new Int32Array(nodes.length);
  for (const node of order.toReversed()) {
    if (home[node] !== -1) below[edges[home[node]!]!.from]! += below[node]! + 1;
  }
  return { nodes, edges, out, into, home, below, at: new Map(nodes.map((node, index) => [node.location, index])) };
}

/**
 * The node that an edge leads to. A link is only the way to its target, so it has no row of its
 * own.
 */
export function answer(tree: Pick<Tree, 'nodes' | 'edges'>, edge: number): number {
  const { to } = tree.edges[edge]!;
  return to === undefined ? -1 : landing(tree.nodes, to);
}

/** The edges from the root to a node, along the rows that list them. */
export function path(tree: Tree, node: number): number[] {
  const edges: number[] = [];
  for (let edge = tree.home[node]!; edge !== -1; edge = tree.home[tree.edges[edge]!.from]!) edges.push(edge);
  return edges.reverse();
}

/** Packages: neither the root nor links, which only lead to one. */
export function packagesOf({ nodes }: Pick<Tree, 'nodes'>): readonly number[] {
  let found = packages.get(nodes);
  if (!found) {
    found = nodes.flatMap((node, index) => (index === 0 || node.target !== undefined ? [] : [index]));
    packages.set(nodes, found);
  }
  return found;
}

const packages = new WeakMap<readonly GraphNode[], readonly number[]>();

function landing(nodes: readonly GraphNode[], node: number): number {
  return nodes[node]!.target ?? node;
}

/** A missing optional dependency has no row. */
function isShown(edge: GraphEdge): boolean {
  return edge.to !== undefined || edge.error !== undefined;
}

function byKindAndName(a: GraphEdge, b: GraphEdge): number {
  const kinds = KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind);
  if (kinds !== 0) return kinds;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

/** Fills `home`, and returns the nodes in breadth-first order. */
function breadthFirst(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
  out: readonly (readonly number[])[],
  home: Int32Array,
): number[] {
  const order = nodes.length > 0 ? [0] : [];
  // The list grows during the iteration.
  for (const from of order) {
    for (const edge of out[from]!) {
      const to = answer({ nodes, edges }, edge);
      if (to <= 0 || home[to] !== -1) continue;
      home[to] = edge;
      order.push(to);
    }
  }
  return order;
}
