// The types of `espalier`. Written by hand: they are the package's documentation, and what
// `src/` is checked against.

import type { Cache, CacheOptions } from './cache.js';
import type { Graph, PackedGraph } from './graph.js';

export * from './cache.js';
export * from './errors.js';
export * from './explain.js';
export * from './graph.js';
export * from './install.js';

/** Where the WebAssembly module comes from. */
export type WasmSource = URL | string | Response | BufferSource | WebAssembly.Module;

/**
 * Loads the WebAssembly module. Without a source it is the one in this package. Calling it again returns the
 * first call's promise; after a failure, or after a trap, the next call loads anew.
 *
 * Everything else calls it by itself, so only callers with a source of their own need it.
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
  /**
   * Tokens by registry: `{ 'https://npm.acme.example/': token }`. A token is sent to addresses below that one and to nothing else. It makes
   * browsers ask the registry for permission first (a preflight); where the registry doesn't give it, the error is `EPREFLIGHT`.
   */
  tokens?: Record<string, string>;
  /**
   * The text of an .npmrc: registries, their tokens, and the settings that have a field here. A field of the input wins over it, and it
   * over the `.npmrc` among the `files`, of which tokens are not taken: a project is no place to trust with where a token goes.
   */
  npmrc?: string;
  /** What `${NAME}` in the `npmrc` stands for. */
  environment?: Record<string, string>;

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
  /** Rules that are added to the manifest's `overrides`, over those of the same name. */
  overrides?: Record<string, unknown>;
  /** Whether events come; without them there is only `progress`. A large tree is there sooner if nobody is told of its every part. Default: true. */
  events?: boolean;
  /**
   * Whether every decision is reported: `visited`, `gathered` and `decided` events come, and `versions` in `picked`. A resolution takes
   * somewhat longer with them. Default: false.
   */
  decisions?: boolean;
  /** Whether a conflict of peers is answered with what resolves it: changes are tried for up to five seconds. Default: true. */
  remedies?: boolean;

  /**
   * Where fetched documents and tarballs are kept: `true` for `openCache()`, options for it, or a cache of your own. Default: nowhere
   * but in the browser's own cache.
   */
  cache?: boolean | CacheOptions | Cache;
  /**
   * Documents to begin with, as `espalier snapshot` writes them: what is in it is not asked of a registry. Documents that need a token
   * aren't in it. By its address it is read while it is downloaded, and relative addresses in it count from there.
   */
  snapshot?: URL | Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | string;
  /**
   * Packuments in the snapshot that are older than this are fetched again. Documents of single versions never are, nor are packuments
   * dated at or after `before`. Milliseconds since the epoch, a date, or a date's text. Default: nothing is fetched again.
   */
  snapshotSince?: Date | string | number;
  /** Takes whatever is in the cache, however old, before it asks the network. npm's `--prefer-offline`. */
  preferOffline?: boolean;
  /** Asks nothing of the network: what isn't in the cache can't be had (`ENOTCACHED`). npm's `--offline`. */
  offline?: boolean;

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

/** What `fetch` is called with. There is no header beside a token: any more would make browsers send a preflight. */
export interface FetchInit {
  headers: { accept: string; authorization?: string };
  signal: AbortSignal;
  priority: 'high' | 'low';
  /** Where what came before was damaged: a browser's own cache may hold it. It brings no preflight. */
  cache?: 'reload';
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

/** A resolution under way. */
export type Resolution = Run<ResolveEvent, Result>;

/**
 * Something under way.
 *
 * Iterating yields every event from the first one on, however late the iteration starts and however many
 * iterations there are; it ends with the run, and throws what `result` rejects with.
 */
export interface Run<Event, Result> extends AsyncIterable<Event> {
  /** The outcome. Rejects with an `EspalierError`, or with the signal's reason when aborted. */
  readonly result: Promise<Result>;
  /** As iterating, but yields together what came together: one batch for each paint is plenty. */
  batches(): AsyncIterable<readonly Event[]>;
  /** Stops it and its requests. `reason` is what `result` rejects with; default an `AbortError`. */
  abort(reason?: unknown): void;
}

/**
 * Something that happened, in the order of the decisions: replayed in this order, `picked`, `placed`, `kept` and `removed` tell how the tree
 * came to be, and why each version is the one that it is.
 */
export type ResolveEvent =
  | FetchedEvent
  | PickedEvent
  | PlacedEvent
  | KeptEvent
  | RemovedEvent
  | SettledEvent
  | ProgressEvent
  | VisitedEvent
  | GatheredEvent
  | DecidedEvent;

/** A packument arrived. */
export interface FetchedEvent {
  type: 'fetched';
  /** The package's name. */
  name: string;
  /** How many versions it has. */
  versions: number;
}

/** A version was chosen for a dependency. It is placed then, unless what is there will do. */
export interface PickedEvent {
  type: 'picked';
  /** The package's name in the registry. */
  name: string;
  /** The spec that is in force (an override's, where one applies). */
  spec: string;
  version: string;
  /**
   * Why this one: it is what the spec names (`exact`), what its dist-tag names (`tag`), `latest` and in the range (`latest`), the highest in the range
   * (`highest`), or the best of a range in which all are deprecated or for other engines (`compromise`).
   */
  reason: 'exact' | 'tag' | 'latest' | 'highest' | 'compromise';
  /** The name of the package that asked. */
  by: string;
  /** Its location: empty for the root, absent for one that isn't placed yet. */
  from?: string;
  /** Which versions there were, with `decisions`. */
  versions?: {
    /** How many the package has. */
    total: number;
    /** How many of them the spec admits. */
    fitting: number;
    latest?: string;
    /**
     * The highest of those above the chosen one, the highest first, at most eight, and what speaks against each: the spec doesn't admit
     * it, it was published after `before`, it doesn't support this Node or npm, it is deprecated, or `latest` satisfies and is lower.
     */
    passedOver: { version: string; why: 'outOfRange' | 'tooNew' | 'engines' | 'deprecated' | 'aboveLatest' }[];
  };
}

/** A dependency, as it is when something is decided about it. */
export interface Demand {
  /** The name asked for. */
  name: string;
  /** The spec in force. */
  spec: string;
  /** What the package's own manifest asks for, where an override replaced it. */
  overridden?: string;
  kind: DependencyKind;
  /** The package that asks: `name@version`. */
  by: string;
  /** Its location: empty for the root, absent for a candidate, which has none yet. */
  from?: string;
}

/** A package's dependencies are looked at. Begins what is decided on its behalf; only with `decisions`. */
export interface VisitedEvent {
  type: 'visited';
  /** The package's location; empty for the root. */
  location: string;
  /** The dependencies that need something done, in npm's order. A `requested` one is met, but the user asks for it or for its update. */
  problems: (Demand & {
    state: 'missing' | 'invalid' | 'requested';
    /** The version that the name leads to, if it leads anywhere. */
    found?: string;
  })[];
}

/**
 * There is a candidate for a dependency, perhaps for that of another candidate which has it as a peer: such a set of peers is gathered
 * before it is placed. Only with `decisions`.
 */
export interface GatheredEvent extends Demand {
  type: 'gathered';
  /** The candidate's version; absent for what can't be had, and for links without one. */
  version?: string;
  /**
   * Where it comes from: `fetched`; the `peerSet` of an earlier dependency of the same package; the `tree`, for an optional peer; a
   * `workspace`; a `link` to a folder; or it `failed`.
   */
  origin: 'fetched' | 'peerSet' | 'tree' | 'workspace' | 'link' | 'failed';
  /** The location of the package on whose behalf the set is gathered. */
  set: string;
}

/**
 * A candidate was placed, or not. What follows from it comes afterwards, as `removed`, `placed` and `kept`. A package comes before its
 * peers, and all of them before what follows. Only with `decisions`.
 */
export interface DecidedEvent extends Demand {
  type: 'decided';
  /** The candidate's version. */
  version?: string;
  /** Whether it is placed as a peer of the package decided on before, and so at least as high. */
  asPeer: boolean;
  /** The folders that were asked, from the dependent upwards. A `conflict` ends the way up. */
  tried: Trial[];
  /**
   * What became of it: the dependency was `met` meanwhile; what is in a folder already is `kept`; it is `new` in the tree, perhaps in
   * place of another version; it became a link, since it would nest in itself (`linked`); or no folder would have it (`refused`).
   */
  result:
    | { type: 'met' }
    | { type: 'kept' /** Of the package whose `node_modules` it is in. */; location: string }
    | { type: 'new'; location: string /** A version. */; replaced?: string }
    | { type: 'linked'; location: string }
    | { type: 'refused' };
  /** Locations of what was taken out of the tree for it. */
  removed: string[];
}

/** A folder that was asked whether it will have a package. */
export interface Trial {
  /** The location of the package whose `node_modules` it is; empty for the root. */
  location: string;
  /** The answer for the package with its peers. */
  verdict: 'free' | 'keep' | 'replace' | 'conflict';
  why: TrialReason;
}

/** Why a folder will have a package or not; `version` is that of what is there. */
export type TrialReason =
  /** Nothing is there; it failed to load; the folder's own package has it as a peer; the same package is there. */
  | { type: 'free' | 'failed' | 'peerOfFolder' | 'same' }
  /** The folder's own package asks for another version. */
  | { type: 'otherDemand'; spec: string }
  /** A package in that folder relies on what is further up, and wouldn't accept this one. */
  | { type: 'shadows'; dependent: string; spec: string }
  /** What is there satisfies. */
  | { type: 'satisfies'; version: string }
  /** What is there makes way: it is older, and everyone would take this one; it is newer, and this one spares a copy; it is in the dependent's own folder; or its peers can move. */
  | { type: 'upgrade' | 'dedupe' | 'ownFolder' | 'peersMove'; version: string }
  /** What is there stays. */
  | { type: 'occupied'; version: string }
  /** A peer of it finds no place. */
  | { type: 'peerRefused'; name: string; spec: string; location: string };

/** A dependency was looked at, and what is in the tree already will do. What is met by itself isn't looked at. */
export interface KeptEvent {
  type: 'kept';
  /** The location of what meets it. */
  location: string;
  version: string;
  /** The name asked for. */
  name: string;
  spec: string;
  kind: DependencyKind;
  /** The location of the package that asked; empty for the root. */
  from: string;
}

/** A package was put into the tree, possibly in place of another at the same location. */
export interface PlacedEvent {
  type: 'placed';
  /** Where: `node_modules/a/node_modules/b`. */
  location: string;
  /** The folder's name, which is an alias where the spec was one. */
  name: string;
  /** The chosen version; empty for links without one, and for an optional package that can't be had: it has no entry in the lock. */
  version: string;
  /** The kind of the dependency it was placed for. */
  kind: DependencyKind;
  /** The spec of that dependency. */
  spec: string;
  /** The location of the package that asked; empty for the root. */
  from: string;
}

/**
 * Every package has its place. What is still fetched only says more about packages that are in the tree, such as their licenses, which
 * the lockfile has, and may show that an optional one does not suit the platform.
 */
export interface SettledEvent {
  type: 'settled';
  /** How many packages and links there are, without the root. */
  packages: number;
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
  /** The same as they were sent, where a registry says it (`Content-Length`). What it doesn't say counts as after decompression. */
  wireBytes: number;
  /** Milliseconds since `resolve`. */
  elapsed: number;
}

/** What a dependency is to the package that has it. */
export type DependencyKind = 'prod' | 'dev' | 'optional' | 'peer' | 'peerOptional' | 'workspace';

/** What came out. */
export interface Result {
  /** The text of package-lock.json, byte for byte as npm writes it. */
  lockfile: string;
  /** The same tree with its edges, as objects. They are made of `packedGraph` when they are first looked at. */
  readonly graph: Graph;
  /** The same in four arrays, which `postMessage` can move. */
  packedGraph: PackedGraph;
  /** What a person should know, although the tree stands. */
  warnings: Warning[];
  /** Counts and times. */
  statistics: Statistics;
  /** What was taken from the snapshot, if there was one. */
  snapshot?: SnapshotUse;
}

/** What was taken from a snapshot. */
export interface SnapshotUse {
  /** How many documents. */
  documents: number;
  /** Those among them that a registry would have been asked about, because they are older than it allows: address, and date in milliseconds. */
  older: { address: string; date: number }[];
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
  /** Answers that came from the cache. */
  cached: number;
  /** Those among the requests that tried something again. */
  retries: number;
  /** Bytes of all answers, as they are after decompression. */
  bytes: number;
  /** The same as they were sent, where a registry says it (`Content-Length`). What it doesn't say counts as after decompression. */
  wireBytes: number;
  /** Milliseconds from `resolve` to the result. */
  elapsed: number;
}
