// The types of the tree: compact, to be sent around, and as objects, to be looked at.

import type { DependencyKind } from './index.js';

/** The objects of a compact graph. */
export function unpackGraph(packed: PackedGraph): Graph;

/**
 * The tree in four arrays. `postMessage(packed, [packed.texts.buffer, …])` moves it without copying.
 *
 * Texts are referred to by number: text `n` is UTF-8, from `offsets[n]` to `offsets[n + 1]` in `texts`. Text 0 is empty and
 * stands for "absent". Nodes are referred to by number plus one; 0 stands for "none".
 */
export interface PackedGraph {
  texts: Uint8Array<ArrayBuffer>;
  offsets: Uint32Array<ArrayBuffer>;
  /**
   * 13 numbers a node: name, packageName, version, location, resolved, integrity, license, deprecated (texts), parent, target
   * (nodes), and flags: 1 dev, 2 optional, 4 devOptional, 8 peer, 16 extraneous, 32 inert, 64 inBundle;
   * then the unpacked size and the number of files, each plus one, and 0 where they aren't known.
   */
  nodes: Uint32Array<ArrayBuffer>;
  /**
   * 6 numbers an edge: from, to (nodes), name, spec, error (texts), and flags: the kind's place in `prod`, `dev`, `optional`, `peer`,
   * `peerOptional`, `workspace`, plus 8 where an override changed the spec.
   */
  edges: Uint32Array<ArrayBuffer>;
}

/** The tree. Indices into `nodes` are the only references; node 0 is the root. */
export interface Graph {
  /** In the order of the lockfile. */
  nodes: GraphNode[];
  /** Grouped by `from`, each group in npm's order. */
  edges: GraphEdge[];
}

/** A package in its place. */
export interface GraphNode {
  /** The folder's name (an alias where the spec was one). */
  name: string;
  /** The name in the package's own manifest, where it differs. */
  packageName?: string;
  /** Absent for links and for a root without one. */
  version?: string;
  /** The key in the lockfile: empty for the root, `node_modules/a/node_modules/b`, `packages/ui`. */
  location: string;
  /** The node in whose `node_modules` this one lies. */
  parent?: number;
  /** For links, the node they point to. */
  target?: number;
  /** As in the lockfile. */
  resolved?: string;
  /** As in the lockfile. */
  integrity?: string;
  /** The license's name. */
  license?: string;
  /** The message, for deprecated versions. */
  deprecated?: string;
  /** The bytes of its files, where its registry was asked and says it; a lockfile doesn't. */
  unpackedSize?: number;
  /** How many files it has, where its registry was asked and says it. */
  fileCount?: number;
  /** Only wanted by development dependencies. */
  dev: boolean;
  /** Only wanted by optional dependencies. */
  optional: boolean;
  /** Only wanted by both of these, on different ways. */
  devOptional: boolean;
  /** Only wanted as a peer. */
  peer: boolean;
  /** Wanted by nobody. */
  extraneous: boolean;
  /** In the lock, but not installed on this platform. */
  inert: boolean;
  /** Comes inside another package's tarball. */
  inBundle: boolean;
}

/** A dependency, from the package that has it to the one that meets it. */
export interface GraphEdge {
  /** The node that asks. */
  from: number;
  /** The node that answers; absent when nothing does. */
  to?: number;
  /** The name asked for. */
  name: string;
  /** The spec that is in force (an override's, where one applies). */
  spec: string;
  kind: DependencyKind;
  /** npm's word for what is wrong. */
  error?: 'MISSING' | 'INVALID' | 'PEER LOCAL' | 'DETACHED';
  /** Whether an override changed the spec. */
  overridden: boolean;
}
