// The types of the tree: a compact form for transfer, and objects.

import type { DependencyKind } from './index.js';

/** Makes objects of a compact graph. */
export function unpackGraph(packed: PackedGraph): Graph;

/**
 * The tree in four arrays. `postMessage(packed, [packed.texts.buffer, …])` transfers it without
 * copying.
 *
 * Texts are referred to by number: text `n` is UTF-8, from `offsets[n]` to `offsets[n + 1]` in
 * `texts`. Text 0 is empty and means "absent". Nodes are referred to by number plus one; 0 means
 * "none".
 */
export interface PackedGraph {
  texts: Uint8Array<ArrayBuffer>;
  offsets: Uint32Array<ArrayBuffer>;
  /**
   * 14 numbers for each node: name, packageName, version, location, resolved, integrity, license,
   * deprecated (texts), parent, target (nodes), and flags: 1 dev, 2 optional, 4 devOptional, 8
   * peer, 16 extraneous, 32 inert, 64 inBundle, 128 hasInstallScript; then the unpacked size and
   * the number of files, each plus one, and 0 if unknown; then nodeRange (text).
   */
  nodes: Uint32Array<ArrayBuffer>;
  /**
   * 6 numbers for each edge: from, to (nodes), name, spec, error (texts), and flags: the kind's
   * index in `prod`, `dev`, `optional`, `peer`, `peerOptional`, `workspace`, plus 8 if an override
   * changed the spec.
   */
  edges: Uint32Array<ArrayBuffer>;
}

/** The tree. References are indices into `nodes`. Node 0 is the root. */
export interface Graph {
  /** The nodes in the lockfile's order. */
  nodes: GraphNode[];
  /** The edges, grouped by `from`. Each group is in npm's order. */
  edges: GraphEdge[];
}

/** A node of the tree. */
export interface GraphNode {
  /** The folder's name, which can be an alias. */
  name: string;
  /** The name in the package's own manifest, if it differs from `name`. */
  packageName?: string;
  /** The version. Links have none, and a root may have none. */
  version?: string;
  /**
   * The key in the lockfile: empty for the root, `node_modules/a/node_modules/b`, `packages/ui`.
   */
  location: string;
  /** The node whose `node_modules` contains this one. */
  parent?: number;
  /** The target of a link. */
  target?: number;
  /** The `resolved` of the lockfile. */
  resolved?: string;
  /** The `integrity` of the lockfile. */
  integrity?: string;
  /** The license's name. */
  license?: string;
  /** The deprecation message of the version. */
  deprecated?: string;
  /** The size of its files in bytes. Only the registry states it, never a lockfile. */
  unpackedSize?: number;
  /** The number of its files, if the registry states it. */
  fileCount?: number;
  /** The versions of Node.js that it is for: the `node` of its `engines`. */
  nodeRange?: string;
  /** Only dev dependencies need it. */
  dev: boolean;
  /** Only optional dependencies need it. */
  optional: boolean;
  /** Dev and optional dependencies need it, on different paths, and nothing else does. */
  devOptional: boolean;
  /** Only peers need it. */
  peer: boolean;
  /** Nothing needs it. */
  extraneous: boolean;
  /** It is in the lock, but isn't installed on this platform. */
  inert: boolean;
  /** It is in the tarball of another package. */
  inBundle: boolean;
  /** Whether it has install scripts. */
  hasInstallScript: boolean;
}

/** A dependency, from the dependent to the package that meets it. */
export interface GraphEdge {
  /** The dependent. */
  from: number;
  /** The package that meets it. Absent if there is none. */
  to?: number;
  /** The requested name. */
  name: string;
  /** The effective spec, which an override may have replaced. */
  spec: string;
  kind: DependencyKind;
  /** npm's name of the error. */
  error?: 'MISSING' | 'INVALID' | 'PEER LOCAL' | 'DETACHED';
  /** Whether an override changed the spec. */
  overridden: boolean;
}
