// The types of `espalier`. Written by hand: they are the package's documentation, and what
// `src/` is checked against.

/** Where the WebAssembly module comes from. */
export type WasmSource = URL | string | Response | BufferSource | WebAssembly.Module;

/**
 * Loads the WebAssembly module. Without a source it is the one in this package. Calling it again returns the
 * first call's promise; after a failure, or after a trap, the next call loads anew.
 *
 * `resolve` calls it by itself, so only callers with a source of their own need it.
 */
export function init(source?: WasmSource | Promise<WasmSource>): Promise<void>;

/** As `init`, for a module that is already in memory. */
export function initSync(module: BufferSource | WebAssembly.Module): void;

/** Starts resolving at once. Bad input rejects `result`; nothing is thrown from here. */
export function resolve(input: ResolveInput): Resolution;

/** What to resolve, and how. All paths are relative to the project and have forward slashes. */
export interface ResolveInput {
  /** The root package.json, as text (errors then name line and column) or as an object. Default: `files['package.json']`. */
  manifest?: string | object;
  /** The text of a package-lock.json to start from. Default: `files['package-lock.json']`. */
  lockfile?: string;
  /**
   * The project's other files, path to text: the package.json files of workspaces and of `file:` folders, a `yarn.lock`,
   * patches. Where there is no package-lock.json, what lies in `node_modules` is the start, as in npm.
   */
  files?: Record<string, string>;
  /** The name of the project's folder: npm's name for a root that has none. Default: `project`. */
  folderName?: string;

  /** The registry's address. Default: npm's public registry. */
  registry?: string | URL;
  /** Registries of scopes, by scope: `{ '@acme': 'https://npm.acme.example/' }`. */
  registries?: Record<`@${string}`, string | URL>;

  /** The Node version that `engines` are checked against. Default: `20.20.2`. */
  nodeVersion?: string;
  /** The npm version that `engines.npm` is checked against. Default: the npm that is reproduced. */
  npmVersion?: string;
  /** Where the tree shall run. Default: Linux, x64, glibc. */
  platform?: Platform;

  /** npm's `--legacy-peer-deps`. */
  legacyPeerDeps?: boolean;
  /** npm's `--strict-peer-deps`. */
  strictPeerDeps?: boolean;
  /** npm's `--force`. */
  force?: boolean;
  /** npm's `--prefer-dedupe`. */
  preferDedupe?: boolean;
  /** npm's `--install-links`. */
  installLinks?: boolean;
  /** npm's `--engine-strict`. */
  engineStrict?: boolean;
  /** npm's `--allow-git`: who may depend on git repositories. They can't be fetched in JavaScript in any case. Default: `none`. */
  allowGit?: Allow;
  /** npm's `--allow-remote`: who may depend on tarballs by URL. Default: `none`. */
  allowRemote?: Allow;
  /** npm's `--allow-file`: who may depend on tarballs on disk. Default: `all`. */
  allowFile?: Allow;
  /** npm's `--allow-directory`: who may depend on folders. Default: `all`. */
  allowDirectory?: Allow;
  /** npm's `--tag`: what an empty spec stands for. Default: `latest`. */
  defaultTag?: string;
  /** npm's `--before`: versions published later do not exist. Milliseconds since the epoch, a date, or a date's text. */
  before?: Date | string | number;

  /** How many requests may be under way at once. Default 128, at most 1024. */
  concurrency?: number;
  /** How often a request is tried again after a network failure, a 429 or a 5xx. Default 2, as npm. */
  retries?: number;
  /** Milliseconds that one try of a request may take. Default 120,000. */
  timeout?: number;
  /** Used in place of the global `fetch`. */
  fetch?: Fetch;
  /** Aborts the resolution and the requests under way. */
  signal?: AbortSignal;
}

/** Any package, the project and its workspaces only, or nobody. */
export type Allow = 'all' | 'root' | 'none';

/** As much of `fetch` as is used. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

/** What `fetch` is called with. There is no other header: any more would make browsers send a preflight. */
export interface FetchInit {
  headers: { accept: string };
  signal: AbortSignal;
  priority: 'high' | 'low';
}

/** The platform a tree is resolved for, in Node's words. */
export interface Platform {
  /** As `process.platform`: `linux`, `darwin`, `win32`. */
  os: string;
  /** As `process.arch`: `x64`, `arm64`. */
  cpu: string;
  /** `glibc` or `musl`, on Linux. */
  libc?: string;
}

/**
 * A resolution under way.
 *
 * Iterating yields every event from the first one on, however late the iteration starts and however many
 * iterations there are; it ends with the resolution, and throws what `result` rejects with.
 */
export interface Resolution extends AsyncIterable<ResolveEvent> {
  /** The outcome. Rejects with an `EspalierError`, or with the signal's reason when aborted. */
  readonly result: Promise<Result>;
  /** As iterating, but yields together what came together: one batch for each paint is plenty. */
  batches(): AsyncIterable<readonly ResolveEvent[]>;
  /** Stops the resolution and its requests. `reason` is what `result` rejects with; default an `AbortError`. */
  abort(reason?: unknown): void;
}

/** Something that happened, in the order of the decisions. */
export type ResolveEvent = FetchedEvent | PlacedEvent | RemovedEvent | ProgressEvent;

/** A packument arrived. */
export interface FetchedEvent {
  type: 'fetched';
  /** The package's name. */
  name: string;
  /** How many versions it has. */
  versions: number;
}

/** A package was put into the tree, possibly in place of another at the same location. */
export interface PlacedEvent {
  type: 'placed';
  /** Where: `node_modules/a/node_modules/b`. */
  location: string;
  /** The folder's name, which is an alias where the spec was one. */
  name: string;
  /** The chosen version; empty for links without one. */
  version: string;
  /** The kind of the dependency it was placed for. */
  kind: DependencyKind;
  /** The spec of that dependency. */
  spec: string;
  /** The location of the package that asked; empty for the root. */
  from: string;
}

/** A package was taken out of the tree again. */
export interface RemovedEvent {
  type: 'removed';
  /** Where it was. */
  location: string;
}

/** How far the fetching is; at most one in a batch, and the last one in it. */
export interface ProgressEvent {
  type: 'progress';
  /** Requests made so far, retries included. */
  requests: number;
  /** Requests that wait for their answer. */
  pending: number;
  /** Bytes of the answers so far, as they are after decompression. */
  bytes: number;
  /** Milliseconds since `resolve`. */
  elapsed: number;
}

/** What a dependency is to the package that has it. */
export type DependencyKind = 'prod' | 'dev' | 'optional' | 'peer' | 'peerOptional' | 'workspace';

/** What came out. */
export interface Result {
  /** The text of package-lock.json, byte for byte as npm writes it. */
  lockfile: string;
  /** The same tree with its edges. */
  graph: Graph;
  /** What a person should know, although the tree stands. */
  warnings: Warning[];
  /** Counts and times. */
  statistics: Statistics;
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

/** Something that npm would warn about. */
export interface Warning {
  /** npm's code: `ERESOLVE`, `EBADENGINE`, `deprecated`. */
  code: string;
  /** One sentence. */
  message: string;
  /** The location in the tree that it is about. */
  location: string;
}

/** Counts and times of one resolution. */
export interface Statistics {
  /** Entries of the lockfile without the root. */
  packages: number;
  /** Packuments that were used. */
  packuments: number;
  /** Documents of single versions that were used. */
  versionDocuments: number;
  /** Requests made, retries included. */
  requests: number;
  /** Those among them that tried something again. */
  retries: number;
  /** Bytes of all answers, as they are after decompression. */
  bytes: number;
  /** Milliseconds from `resolve` to the result. */
  elapsed: number;
}

/** One step of the chain from the root to the package that asked. */
export interface Requirer {
  /** The package's name; for the root, its name or `root project`. */
  name: string;
  version?: string;
  /** Where it is in the tree; empty for the root. */
  location: string;
  /** The spec by which it asks for the next one. */
  spec: string;
  kind: DependencyKind;
}

/** Two demands on one package that can't both be met where they have to be. */
export interface PeerConflict {
  /** One line. */
  summary: string;
  /** The package that both want. */
  name: string;
  /** The version that is in the way, and who wants it. */
  current: ConflictSide;
  /** What else is asked for, and by whom. */
  wanted: ConflictSide;
}

/** One of the two chains that collide. */
export interface ConflictSide {
  /** The version that this side would have, where one was found. */
  version?: string;
  /** The spec asked for. */
  spec: string;
  /** Who asked, from the root downwards. */
  chain: Requirer[];
}

/**
 * Codes that are not npm's own:
 * `EHTTP` a status other than 404, 401 or 403 · `ENETUNREACH` no answer: in a browser also a missing CORS header ·
 * `EINVALIDRESPONSE` an answer that can't be read · `EUNSUPPORTED` what this environment can't do, such as git
 * specs · `EINPUT` an argument of the wrong type · `EWASM` the WebAssembly module can't be loaded ·
 * `ECRASH` a bug in Espalier; the next call starts afresh.
 */
export type ErrorCode =
  | 'EJSONPARSE' | 'ETARGET' | 'E404' | 'E403' | 'ERESOLVE' | 'EOVERRIDE' | 'EBADENGINE' | 'EINVALIDPACKAGENAME'
  | 'EHTTP' | 'ENETUNREACH' | 'EINVALIDRESPONSE' | 'EUNSUPPORTED' | 'EINPUT' | 'EWASM' | 'ECRASH'
  // npm has more codes; this keeps the known ones visible in an editor.
  | (string & {});

/** Why there is no tree. `message` is one sentence for a person. */
export class EspalierError extends Error {
  constructor(details: ErrorDetails, options?: ErrorOptions);
  readonly name: 'EspalierError';
  /** npm's code for the same failure, or one of the few that npm doesn't need. */
  readonly code: ErrorCode;
  /** The package, or the file, that couldn't be had. */
  readonly package?: string;
  /** The spec that nothing meets. */
  readonly spec?: string;
  /** Who asked, from the root downwards; empty where the root itself is at fault. */
  readonly chain: Requirer[];
  /** For `ERESOLVE`: what collides. */
  readonly conflict?: PeerConflict;
  /** For `ETARGET`: the versions that come closest, best first. */
  readonly nearest?: string[];
  /** For failed requests: the address. */
  readonly url?: string;
  /** For `EHTTP`: the status. */
  readonly status?: number;
  /** For `EJSONPARSE`: the file, and the position counted from 1. */
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
  /** The same as plain data, which survives `postMessage` and `JSON.stringify`. */
  toJSON(): ErrorDetails;
}

/** The fields of an `EspalierError` as plain data. */
export interface ErrorDetails {
  code: ErrorCode;
  message: string;
  package?: string;
  spec?: string;
  chain?: Requirer[];
  conflict?: PeerConflict;
  nearest?: string[];
  url?: string;
  status?: number;
  file?: string;
  line?: number;
  column?: number;
}
