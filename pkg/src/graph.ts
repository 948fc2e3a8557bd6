// Makes objects of the four arrays in which Rust packs the tree
// (crates/espalier-wasm/src/packed.rs).

import type { DependencyKind, Graph, GraphEdge, GraphNode, PackedGraph } from '../index.js';

const NODE_FIELDS = 14;
const EDGE_FIELDS = 6;
const KINDS: DependencyKind[] = ['prod', 'dev', 'optional', 'peer', 'peerOptional', 'workspace'];
const OVERRIDDEN = 8;

export function unpackGraph({ texts, offsets, nodes, edges }: PackedGraph): Graph {
  const text = reader(texts, offsets);
  const { length } = nodes;
  const graph: Graph = { nodes: new Array(length / NODE_FIELDS), edges: new Array(edges.length / EDGE_FIELDS) };
  for (let at = 0, index = 0; at < length; at += NODE_FIELDS, index++) graph.nodes[index] = node(nodes, at, text);
  for (let at = 0, index = 0; at < edges.length; at += EDGE_FIELDS, index++) graph.edges[index] = edge(edges, at, text);
  return graph;
}

/**
 * Returns a text by its number. All are decoded at once if each character is a byte, which is
 * nearly always the case.
 */
function reader(texts: Uint8Array, offsets: Uint32Array): (number: number) => string {
  const decoder = new TextDecoder();
  const all = decoder.decode(texts);
  if (all.length === texts.length) return (number) => all.slice(offsets[number], offsets[number + 1]);
  const known: string[] = [];
  return (number) => (known[number] ??= decoder.decode(texts.subarray(offsets[number], offsets[number + 1])));
}

/** The buffers to pass to `postMessage`, so that they are transferred and not copied. */
export function buffersOf({ texts, offsets, nodes, edges }: PackedGraph): ArrayBuffer[] {
  return [texts.buffer, offsets.buffer, nodes.buffer, edges.buffer];
}

function node(fields: Uint32Array, at: number, text: (number: number) => string): GraphNode {
  const flags = fields[at + 10]!;
  const is = (bit: number) => (flags & bit) !== 0;
  const node: GraphNode = {
    name: text(fields[at]!),
    location: text(fields[at + 3]!),
    dev: is(1),
    optional: is(2),
    devOptional: is(4),
    peer: is(8),
    extraneous: is(16),
    inert: is(32),
    inBundle: is(64),
    hasInstallScript: is(128),
  };
  for (const [index, field] of TEXTS) {
    const number = fields[at + index]!;
    if (number !== 0) node[field] = text(number);
  }
  for (const [index, field] of NUMBERS) {
    const number = fields[at + index]!;
    if (number !== 0) node[field] = number - 1;
  }
  return node;
}

/** The optional fields, by their positions. */
const TEXTS = [
  [1, 'packageName'],
  [2, 'version'],
  [4, 'resolved'],
  [5, 'integrity'],
  [6, 'license'],
  [7, 'deprecated'],
  [13, 'nodeRange'],
] as const;
const NUMBERS = [
  [8, 'parent'],
  [9, 'target'],
  [11, 'unpackedSize'],
  [12, 'fileCount'],
] as const;

function edge(fields: Uint32Array, at: number, text: (number: number) => string): GraphEdge {
  const [to, error, flags] = [fields[at + 1]!, fields[at + 4]!, fields[at + 5]!];
  const edge: GraphEdge = {
    from: fields[at]! - 1,
    name: text(fields[at + 2]!),
    spec: text(fields[at + 3]!),
    kind: KINDS[flags % OVERRIDDEN]!,
    overridden: flags >= OVERRIDDEN,
  };
  if (to !== 0) edge.to = to - 1;
  if (error !== 0) edge.error = text(error) as NonNullable<GraphEdge['error']>;
  return edge;
}

/** Adds `graph`, which is made at the first access. */
export function withGraph<T extends { packedGraph: PackedGraph }>(result: T): T & { readonly graph: Graph } {
  let graph: Graph | undefined;
  const get = () => (graph ??= unpackGraph(result.packedGraph));
  return Object.defineProperty(result, 'graph', { get, enumerable: true, configurable: true }) as T & {
    readonly graph: Graph;
  };
}
