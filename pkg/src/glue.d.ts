// The boundary to Rust: the used part of what wasm-bindgen generates from crates/espalier-wasm. It
// is written by hand, so that the TypeScript can be checked before the wasm is built.
// `pkg/tests/boundary.test.js` compares it with the module.

import type {
  BinEntry,
  Cache,
  Explanation,
  Fetch,
  LinkEntry,
  PackagePlace,
  PackedGraph,
  ResolveEvent,
  Warning,
} from '../index.js';

/** The input of a run; `Input` in crates/espalier-wasm/src/input.rs. */
export interface RunInput {
  manifest: string;
  lockfile?: string | undefined;
  files: Record<string, string>;
  folderName: string;
  nodeVersion?: string | undefined;
  npmVersion?: string | undefined;
  platform?: { os: string; cpu: string; libc?: string | undefined } | undefined;
  legacyPeerDeps?: boolean | undefined;
  strictPeerDeps?: boolean | undefined;
  force?: boolean | undefined;
  preferDedupe?: boolean | undefined;
  installLinks?: boolean | undefined;
  engineStrict?: boolean | undefined;
  defaultTag?: string | undefined;
  allowGit?: 'all' | 'root' | 'none' | undefined;
  allowRemote?: 'all' | 'root' | 'none' | undefined;
  allowFile?: 'all' | 'root' | 'none' | undefined;
  allowDirectory?: 'all' | 'root' | 'none' | undefined;
  before?: number | undefined;
  concurrency: number;
  events: boolean;
  decisions?: boolean | undefined;
  remedies: boolean;
  install?:
    | { omit: { dev: boolean; optional: boolean; peer: boolean }; frozen: boolean; noted?: string | undefined }
    | undefined;
}

/** `NetworkOptions` in crates/espalier-wasm/src/network/mod.rs. */
export interface NetworkOptions {
  registry?: string | undefined;
  /** By scope, with its `@`. */
  registries: Record<string, string>;
  /** Values by settings such as `//host/path/:_authToken`. */
  credentials: Record<string, string>;
  replaceRegistryHost?: string | undefined;
  preferOffline: boolean;
  offline: boolean;
  retries: number;
  timeout: number;
  /** The maximum size of documents that stay in memory between runs, in bytes. */
  room: number;
  /** A number for these registries and credentials, which keeps their documents apart. */
  asked: number;
}

/** The network of a run: documents for the resolution, and tarballs for the installation. */
export class Network {
  constructor(options: NetworkOptions, fetch: Fetch | undefined, cache: Cache | undefined);
  /** Fetches and verifies a tarball. Rejects with an error's details. */
  fetchTarball(resolved: string, name: string, integrity: string | undefined): Promise<Tarball>;
  /** The address of the default registry. */
  registry(): string;
  /** Ends all requests. */
  end(): void;
  /** Settles when all entries are kept. */
  flush(): Promise<void>;
  traffic(): Traffic;
  free(): void;
}

/** `TarballObject` in crates/espalier-wasm/src/network/mod.rs. */
export interface Tarball {
  url: string;
  bytes: Uint8Array<ArrayBuffer>;
  /** Its own integrity. */
  integrity: string;
  cached: boolean;
}

/** The counts of the network; `Counts` in crates/espalier-wasm/src/network/traffic.rs. */
export interface Traffic {
  requests: number;
  retries: number;
  pending: number;
  bytes: number;
  wireBytes: number;
  /** The number of answers from the cache. */
  cached: number;
  /** Milliseconds since the network was made. */
  elapsed: number;
}

/** The result of a run. */
export interface RunOutcome {
  lockfile: string;
  packedGraph: PackedGraph;
  warnings: Warning[];
  statistics: { packages: number; packuments: number; version_documents: number };
  /** Set if `install` was requested. */
  tree?: TargetTree;
}

/** Rejects with an error's details as a plain object, or with `undefined` after an abort. */
export function resolve(
  input: RunInput,
  network: Network,
  observe: (events: ResolveEvent[], traffic: Traffic) => void,
  aborted: Promise<unknown>,
): Promise<RunOutcome>;

/** Throws an error's details as a plain object. */
export function explain(input: RunInput, name: string): Explanation[];

/** The settings of an .npmrc, by key. `variable` returns the value for `${NAME}`. */
export function readNpmrc(text: string, variable: (name: string) => string | undefined): [string, string | string[]][];

/** The target of an installation. */
export class TargetTree {
  private constructor();
  plan(): Plan;
  /** The installed locations that have to be removed or replaced. */
  outdated(): string[];
  /** Removes an optional package. Returns the locations that go with it. */
  leaveOut(location: string): string[];
  hiddenLockfile(): string;
  free(): void;
}

export interface Plan {
  packages: PlannedPackage[];
  links: LinkEntry[];
  bins: BinEntry[];
}

export interface PlannedPackage extends PackagePlace {
  /**
   * The address of its tarball. Absent if JavaScript can't fetch it, or if it is in the tarball of
   * another package.
   */
  url?: string;
  /** The `resolved` of the lockfile. */
  resolved?: string;
  integrity?: string;
  /** Whether its name and version have to be those of the registry. */
  ofRegistry: boolean;
  /** The text of the patch to apply. */
  patch?: string;
  /** Whether the hidden lockfile says that it is in place. */
  kept: boolean;
}

/** Unpacks a package. Throws a text about the archive, or an error's details about the patch. */
export class Unpacker {
  constructor(length: number, executables: string[], patch: string | undefined);
  /** Takes the next piece. Returns complete files: path, bytes, mode, path, … */
  push(piece: Uint8Array): unknown[];
  end(): unknown[];
  /** What is wrong if the package isn't the expected one. */
  mistaken(name: string, version: string): string | undefined;
  free(): void;
}

/** The bytes of the instance's memory. */
export function memorySize(): number;

/** Replaces the instance by a new one of the same module. */
export function __wbg_reset_state(): void;

/** Instantiates. A second call does nothing. */
export default function instantiate(options: { module_or_path: WebAssembly.Module }): Promise<unknown>;

/** Instantiates synchronously. */
export function initSync(options: { module: BufferSource | WebAssembly.Module }): unknown;
