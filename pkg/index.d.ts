// The types of `espalier`. They are written by hand, because they are the package's documentation.
// `src/` is checked against them.

import type { Cache, CacheOptions } from './cache.js';
import type { Graph, PackedGraph } from './graph.js';

export * from './cache.js';
export * from './errors.js';
export * from './explain.js';
export * from './graph.js';
export * from './install.js';

/** The source of the WebAssembly module. */
export type WasmSource = URL | string | Response | BufferSource | WebAssembly.Module;

/**
 * Loads the WebAssembly module, by default the one in this package. Later calls return the first
 * call's promise. After a failure or a trap, the next call loads it again.
 *
 * All functions call it, so only callers with a source of their own need to.
 */
export function init(source?: WasmSource | Promise<WasmSource>): Promise<void>;

/** Like `init`, for a module that is already in memory. */
export function initSync(module: BufferSource | WebAssembly.Module): void;

/** Starts resolving at once. Invalid input rejects `result`; this function never throws. */
export function resolve(input: ResolveInput): Resolution;

/**
 * The project to resolve, and the options. All paths are relative to the project and have forward
 * slashes.
 */
export interface ResolveInput {
  /**
   * The root package.json, as text (errors then state line and column) or as an object. Default:
   * `files['package.json']`.
   */
  manifest?: string | object;
  /** The text of a package-lock.json to start from. Default: `files['package-lock.json']`. */
  lockfile?: string;
  /**
   * The project's other files, from path to text: the package.json files of workspaces and `file:`
   * folders, a `yarn.lock`, patches. Without a package-lock.json, the resolution starts from the
   * content of `node_modules`, as in npm.
   */
  files?: Record<string, string>;
  /**
   * The name of the project's folder, which is npm's name for a nameless root. Default: `project`.
   */
  folderName?: string;

  /** The registry's address. Default: npm's public registry. */
  registry?: string | URL;
  /** The registries of scopes: `{ '@acme': 'https://npm.acme.example/' }`. */
  registries?: Record<`@${string}`, string | URL>;
  /**
   * The address of a proxy that passes on what these registries give, for instance because they do
   * not allow other origins (CORS). It takes the place of a registry's address in requests: `react` is
   * requested from `<via>react`. Lockfiles and errors state the address of the registry. No request
   * carries a token then. Documents from a proxy are cached for runs with the same `via` only. Without
   * `via`, a proxy has to be the `registry`, and each exact version costs a request more, because its
   * document states a tarball elsewhere.
   */
  via?: string | URL;
  /**
   * Tokens by registry: `{ 'https://npm.acme.example/': token }`. A token goes to addresses below
   * that of its registry. For packages of that registry, it also goes to other paths of the same
   * origin. It makes browsers send a preflight request. If the registry refuses it, the error is
   * `EPREFLIGHT`.
   */
  tokens?: Record<string, string>;
  /**
   * The text of an .npmrc: registries, tokens, and the settings with a field here. It overrides the
   * `.npmrc` in `files`, and a field of the input overrides both. Tokens in `files` are ignored,
   * because a project must not decide where a token is sent.
   */
  npmrc?: string;
  /** The variables for `${NAME}` in `npmrc`. */
  environment?: Record<string, string>;

  /** The version of Node that `engines` are compared with. Default: `20.20.2`. */
  nodeVersion?: string;
  /**
   * The version of npm that `engines.npm` is compared with. Default: the npm that Espalier
   * reproduces.
   */
  npmVersion?: string;
  /** The platform to resolve for. Default: Linux, x64, glibc. */
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
  /**
   * npm's `--allow-git`: which packages may depend on git repositories, which can't be fetched in
   * JavaScript. Default: `none`.
   */
  allowGit?: Allow;
  /** npm's `--allow-remote`: which packages may depend on tarballs by URL. Default: `none`. */
  allowRemote?: Allow;
  /** npm's `--allow-file`: which packages may depend on tarballs on disk. Default: `all`. */
  allowFile?: Allow;
  /** npm's `--allow-directory`: which packages may depend on folders. Default: `all`. */
  allowDirectory?: Allow;
  /** npm's `--tag`: the dist-tag for an empty spec. Default: `latest`. */
  defaultTag?: string;
  /**
   * npm's `--before`: ignores versions that were published later. Milliseconds since the epoch, a
   * date, or a date's text.
   */
  before?: Date | string | number;
  /** Rules to add to the manifest's `overrides`. They replace rules with the same name. */
  overrides?: Record<string, unknown>;
  /**
   * Whether events are reported. Otherwise only `progress` is, which makes the result of a large
   * tree come sooner. Default: true.
   */
  events?: boolean;
  /**
   * Whether every decision is reported: the events `visited`, `gathered` and `decided`, and
   * `versions` in `picked`. A resolution then takes somewhat longer. Default: false.
   */
  decisions?: boolean;
  /**
   * Whether a conflict of peers comes with remedies, which are tried for up to five seconds.
   * Default: true.
   */
  remedies?: boolean;

  /**
   * The cache of documents and tarballs: `true` for `openCache()`, options for it, or a cache of
   * your own. Default: none but the browser's.
   */
  cache?: boolean | CacheOptions | Cache;
  /**
   * Documents from `espalier snapshot`, which are then not requested from a registry. Documents
   * that need a token are never in it. An address is read while it is downloaded, and relative
   * addresses in the snapshot start from it.
   */
  snapshot?: URL | Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | string;
  /**
   * Fetches documents again that can change and are older in the snapshot than this: packuments, and
   * the documents of versions that dependents name exactly. Packuments dated at or after `before`
   * are not fetched again. Milliseconds since the epoch, a date, or a date's text. Default: fetches
   * none again.
   */
  snapshotSince?: Date | string | number;
  /** npm's `--prefer-offline`: uses cached documents of any age. */
  preferOffline?: boolean;
  /** npm's `--offline`: makes no requests. If something isn't cached, the error is `ENOTCACHED`. */
  offline?: boolean;

  /** The maximum number of concurrent requests. Default: 128. At most 1024. */
  concurrency?: number;
  /**
   * The number of retries after a network failure, a damaged answer, or a 408, 420, 429 or 5xx.
   * Default: 2, as in npm. The document of a version is not requested again after a network failure
   * if it is for an exact version, or as long as the registry has given no such document: the
   * packument takes its place.
   */
  retries?: number;
  /** The time limit of an attempt in milliseconds. Default: 120,000 (npm: 300,000). */
  timeout?: number;
  /** Replaces the global `fetch`. */
  fetch?: Fetch;
  /** Aborts the resolution and the requests under way. */
  signal?: AbortSignal;
}

/** Any package, only the project and its workspaces, or no package. */
export type Allow = 'all' | 'root' | 'none';

/** The part of `fetch` that is used. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;

/**
 * The options of `fetch`. Beside `accept`, a token is the only header. A token makes browsers send
 * a preflight; `accept` does not.
 */
export interface FetchInit {
  headers: { accept: string; authorization?: string };
  signal: AbortSignal;
  priority: 'high' | 'low';
  /**
   * Set if an answer was damaged, because the browser's own cache may hold it. It causes no
   * preflight.
   */
  cache?: 'reload';
}

/** A platform, in Node's terms. */
export interface Platform {
  /** The value of `process.platform`: `linux`, `darwin`, `win32`. */
  os: string;
  /** The value of `process.arch`: `x64`, `arm64`. */
  cpu: string;
  /** `glibc` or `musl`, on Linux. */
  libc?: string;
}

/** A resolution under way. */
export type Resolution = Run<ResolveEvent, Result>;

/**
 * A run.
 *
 * Iterating yields every event from the first one on, however late the iteration starts and however
 * many iterations there are. It ends with the run, and throws what `result` rejects with.
 */
export interface Run<Event, Result> extends AsyncIterable<Event> {
  /** The result. Rejects with an `EspalierError`, or with the signal's reason. */
  readonly result: Promise<Result>;
  /** Iterates over batches of events that came together. One batch per frame is sufficient. */
  batches(): AsyncIterable<readonly Event[]>;
  /** Stops the run and its requests. `result` rejects with `reason`, by default an `AbortError`. */
  abort(reason?: unknown): void;
}

/**
 * An event. Events are in the order of the decisions: `picked`, `placed`, `kept` and `removed` show
 * how the tree came to be, and why each version was chosen.
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

/** A packument arrived. A version that a dependent names exactly needs none. */
export interface FetchedEvent {
  type: 'fetched';
  /** The package's name. */
  name: string;
  /** The number of its versions. */
  versions: number;
}

/**
 * A version was chosen for a dependency. It is placed next, unless a package in the tree satisfies
 * the dependency.
 */
export interface PickedEvent {
  type: 'picked';
  /** The package's name in the registry. */
  name: string;
  /** The effective spec, which an override may have replaced. */
  spec: string;
  version: string;
  /**
   * The reason: the spec states it (`exact`), the spec's dist-tag names it (`tag`), it is `latest`
   * and in the range (`latest`), it is the highest in the range (`highest`), or the best of a range
   * in which every version is deprecated or doesn't support the engines (`compromise`).
   */
  reason: 'exact' | 'tag' | 'latest' | 'highest' | 'compromise';
  /** The name of the dependent. */
  by: string;
  /** The dependent's location. Empty for the root, absent if it isn't placed yet. */
  from?: string;
  /** The available versions, with `decisions`. */
  versions?: {
    /** The number of versions of the package. */
    total: number;
    /** The number of versions that the spec admits. */
    fitting: number;
    latest?: string;
    /**
     * The highest versions above the chosen one, at most eight, the highest first, with the reason
     * against each: the spec doesn't admit it, it was published after `before`, it doesn't support
     * this Node or npm, it is deprecated, or `latest` satisfies the spec and is lower.
     */
    passedOver: { version: string; why: 'outOfRange' | 'tooNew' | 'engines' | 'deprecated' | 'aboveLatest' }[];
  };
}

/** A dependency at the moment of a decision. */
export interface Demand {
  /** The requested name. */
  name: string;
  /** The effective spec. */
  spec: string;
  /** The spec in the package's own manifest, if an override replaced it. */
  overridden?: string;
  kind: DependencyKind;
  /** The dependent: `name@version`. */
  by: string;
  /**
   * The dependent's location. Empty for the root, absent for a candidate, which has no location
   * yet.
   */
  from?: string;
}

/**
 * The dependencies of a package are looked at. The decisions for it follow. Only with `decisions`.
 */
export interface VisitedEvent {
  type: 'visited';
  /** The package's location; empty for the root. */
  location: string;
  /**
   * The dependencies that have to be resolved, in npm's order. A `requested` one is met, but the
   * user asked for it or for its update.
   */
  problems: (Demand & {
    state: 'missing' | 'invalid' | 'requested';
    /** The version that the name leads to, if any. */
    found?: string;
  })[];
}

/**
 * There is a candidate for a dependency. The dependent can be a candidate itself, because a peer
 * set is gathered before it is placed. Only with `decisions`.
 */
export interface GatheredEvent extends Demand {
  type: 'gathered';
  /**
   * The candidate's version. Absent if it could not be fetched, and for links without a version.
   */
  version?: string;
  /**
   * The origin: `fetched`; `peerSet`: an earlier dependency of the same package gathered it;
   * `tree`: a node that satisfies an optional peer; a `workspace`; a `link` to a folder; or
   * `failed`.
   */
  origin: 'fetched' | 'peerSet' | 'tree' | 'workspace' | 'link' | 'failed';
  /** The location of the package for which the peer set is gathered. */
  set: string;
}

/**
 * A candidate was placed, or wasn't. The resulting `removed`, `placed` and `kept` events follow. A
 * package precedes its peers, and all of them precede those events. Only with `decisions`.
 */
export interface DecidedEvent extends Demand {
  type: 'decided';
  /** The candidate's version. */
  version?: string;
  /**
   * Whether it is placed as a peer of the package in the preceding decision, and so at least as
   * high.
   */
  asPeer: boolean;
  /** The folders that were tried, from the dependent upwards. A `conflict` ends the way up. */
  tried: Trial[];
  /**
   * The result: the dependency was already `met`; the package in a folder was `kept`; the candidate
   * is `new` in the tree, possibly in place of another version; it became a link, because it would
   * nest in itself (`linked`); or no folder accepts it (`refused`).
   */
  result:
    | { type: 'met' }
    | { type: 'kept' /** Of the package whose `node_modules` it is in. */; location: string }
    | { type: 'new'; location: string /** A version. */; replaced?: string }
    | { type: 'linked'; location: string }
    | { type: 'refused' };
  /** The locations of the packages that were removed for it. */
  removed: string[];
}

/** A folder that was tried. */
export interface Trial {
  /** The location of the package whose `node_modules` it is; empty for the root. */
  location: string;
  /** The verdict on the package with its peers. */
  verdict: 'free' | 'keep' | 'replace' | 'conflict';
  why: TrialReason;
}

/** Why a folder accepts or refuses a package. `version` is the present version. */
export type TrialReason =
  /**
   * The folder is free; the package failed to load; the folder's own package has it as a peer; the
   * folder has the same package.
   */
  | { type: 'free' | 'failed' | 'peerOfFolder' | 'same' }
  /** The folder's own package depends on another version. */
  | { type: 'otherDemand'; spec: string }
  /** A package in the folder relies on a version further up, and doesn't accept this one. */
  | { type: 'shadows'; dependent: string; spec: string }
  /** The present version satisfies the spec. */
  | { type: 'satisfies'; version: string }
  /**
   * The present version is replaced: it is older, and every dependent accepts this one; it is
   * newer, and this one saves a copy; it is in the dependent's own folder; or its peers can move.
   */
  | { type: 'upgrade' | 'dedupe' | 'ownFolder' | 'peersMove'; version: string }
  /** The present version can't be replaced. */
  | { type: 'occupied'; version: string }
  /** One of the package's peers finds no place. */
  | { type: 'peerRefused'; name: string; spec: string; location: string };

/** A dependency that had to be resolved is satisfied by a package in the tree. */
export interface KeptEvent {
  type: 'kept';
  /** The location of that package. */
  location: string;
  version: string;
  /** The requested name. */
  name: string;
  spec: string;
  kind: DependencyKind;
  /** The location of the dependent. Empty for the root. */
  from: string;
}

/** A package was added to the tree, possibly in place of another. */
export interface PlacedEvent {
  type: 'placed';
  /** Its location: `node_modules/a/node_modules/b`. */
  location: string;
  /** The folder's name, which can be an alias. */
  name: string;
  /**
   * The chosen version. Empty for links without one, and for an optional package that could not be
   * fetched, which has no entry in the lock.
   */
  version: string;
  /** The kind of the dependency that it was placed for. */
  kind: DependencyKind;
  /** The spec of that dependency. */
  spec: string;
  /** The location of the dependent. Empty for the root. */
  from: string;
}

/**
 * Every package has its place. Remaining requests only add facts about packages in the tree, such
 * as their licenses, and may show that an optional package doesn't support the platform.
 */
export interface SettledEvent {
  type: 'settled';
  /** The number of packages and links, without the root. */
  packages: number;
}

/** A package was removed from the tree. */
export interface RemovedEvent {
  type: 'removed';
  /** Its location. */
  location: string;
}

/** The progress of fetching. A batch has at most one of these, at its end. */
export interface ProgressEvent {
  type: 'progress';
  /** The number of requests so far, including retries. */
  requests: number;
  /** The number of requests that wait for an answer. */
  pending: number;
  /** The bytes of the answers so far, after decompression. */
  bytes: number;
  /**
   * The bytes of the answers as they were sent, according to `Content-Length`. Answers without it
   * count as after decompression.
   */
  wireBytes: number;
  /** Milliseconds since `resolve`. */
  elapsed: number;
}

/** The kind of a dependency. */
export type DependencyKind = 'prod' | 'dev' | 'optional' | 'peer' | 'peerOptional' | 'workspace';

/** The result of a resolution. */
export interface Result {
  /** The text of package-lock.json, with npm's exact bytes. */
  lockfile: string;
  /** The tree with its edges, as objects. They are made of `packedGraph` at the first access. */
  readonly graph: Graph;
  /** The tree in four arrays, which `postMessage` can transfer. */
  packedGraph: PackedGraph;
  /** Warnings about the tree. */
  warnings: Warning[];
  /** The address of the default registry: of the packages whose scope has none of its own. */
  registry: string;
  /** Counts and times. */
  statistics: Statistics;
  /** The use of the snapshot, if there was one. */
  snapshot?: SnapshotUse;
}

/** The use of a snapshot. */
export interface SnapshotUse {
  /** The number of documents that were taken from it. */
  documents: number;
  /**
   * Those of them that are older than their registry permits, with their addresses, and their dates
   * in milliseconds.
   */
  older: { address: string; date: number }[];
}

/** A warning of npm's. */
export interface Warning {
  /** npm's code: `ERESOLVE`, `EBADENGINE`, `deprecated`. */
  code: string;
  /** One sentence. */
  message: string;
  /** The location of the package in the tree. */
  location: string;
}

/** Counts and times of one resolution. */
export interface Statistics {
  /** The number of entries in the lockfile, without the root. */
  packages: number;
  /** The number of packuments that were used. */
  packuments: number;
  /** The number of documents of single versions that were used. */
  versionDocuments: number;
  /** The number of requests, including retries. */
  requests: number;
  /** The number of answers from the cache. */
  cached: number;
  /** The number of retries. */
  retries: number;
  /** The bytes of all answers, after decompression. */
  bytes: number;
  /**
   * The bytes of all answers as they were sent, according to `Content-Length`. Answers without it
   * count as after decompression.
   */
  wireBytes: number;
  /** The time from `resolve` to the result, in milliseconds. */
  elapsed: number;
}
