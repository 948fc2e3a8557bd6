// The tree as objects, out of the four arrays that Rust packs it into (crates/espalier-wasm/src/packed.rs).

import type { DependencyKind, Graph, GraphEdge, GraphNode, PackedGraph } from '../index.js';

const NODE_FIELDS = 13;
const EDGE_FIELDS = 6;
const KINDS: DependencyKind[] = ['prod', 'dev', 'optional', 'peer', 'peerOptional', 'workspace'];
const OVERRIDDEN = 8;

export function unpackGraph({ texts, offsets, nodes, edges }: PackedGraph): Graph {
  const decoder = new TextDecoder();
  const known: string[] = [''];
  const text = (number: number) =>
    (known[number] ??= decoder.decode(texts.subarray(offsets[number], offsets[number + 1])));
  return {
    nodes: Array.from({ length: nodes.length / NODE_FIELDS }, (_, index) =>
      node(nodes.subarray(index * NODE_FIELDS), text),
    ),
    edges: Array.from({ length: edges.length / EDGE_FIELDS }, (_, index) =>
      edge(edges.subarray(index * EDGE_FIELDS), text),
    ),
  };
}

/** The buffers to pass to `postMessage`, so that they are moved and not copied. */
export function buffersOf({ texts, offsets, nodes, edges }: PackedGraph): ArrayBuffer[] {
  return [texts.buffer, offsets.buffer, nodes.buffer, edges.buffer];
}

function node(fields: Uint32Array, text: (number: number) => string): GraphNode {
  const [
    name,
    packageName,
    version,
    location,
    resolved,
    integrity,
    license,
    deprecated,
    parent,
    target,
    flags,
    size,
    files,
  ] = fields as unknown as number[];
  const is = (bit: number) => (flags! & bit) !== 0;
  return {
    name: text(name!),
    ...present({
      packageName: text(packageName!),
      version: text(version!),
      resolved: text(resolved!),
      integrity: text(integrity!),
      license: text(license!),
      deprecated: text(deprecated!),
    }),
    location: text(location!),
    ...(parent ? { parent: parent - 1 } : {}),
    ...(target ? { target: target - 1 } : {}),
    ...(size ? { unpackedSize: size - 1 } : {}),
    ...(files ? { fileCount: files - 1 } : {}),
    dev: is(1),
    optional: is(2),
    devOptional: is(4),
    peer: is(8),
    extraneous: is(16),
    inert: is(32),
    inBundle: is(64),
  };
}

function edge(fields: Uint32Array, text: (number: number) => string): GraphEdge {
  const [from, to, name, spec, error, flags] = fields as unknown as number[];
  return {
    from: from! - 1,
    ...(to ? { to: to - 1 } : {}),
    name: text(name!),
    spec: text(spec!),
    kind: KINDS[flags! % OVERRIDDEN]!,
    ...(error ? { error: text(error) as NonNullable<GraphEdge['error']> } : {}),
    overridden: flags! >= OVERRIDDEN,
  };
}

/** Without what is empty. */
function present<T extends Record<string, string>>(texts: T): Partial<T> {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== '')) as Partial<T>;
}

/** Adds `graph`, which is made when it is first looked at. */
export function withGraph<T extends { packedGraph: PackedGraph }>(result: T): T & { readonly graph: Graph } {
  let graph: Graph | undefined;
  const get = () => (graph ??= unpackGraph(result.packedGraph));
  return Object.defineProperty(result, 'graph', { get, enumerable: true, configurable: true }) as T & {
    readonly graph: Graph;
  };
}
