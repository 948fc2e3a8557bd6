// The boundary to Rust: what wasm-bindgen generates from crates/espalier-wasm, as far as it is used here.
// Written by hand, so that the TypeScript can be checked before the wasm is built.

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

/** The input of one run; `Input` in crates/espalier-wasm/src/input.rs. */
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
  /** `//host/path/:_authToken` and its like, by those keys. */
  credentials: Record<string, string>;
  replaceRegistryHost?: string | undefined;
  preferOffline: boolean;
  offline: boolean;
  retries: number;
  timeout: number;
  /** The most bytes of documents that stay in memory from run to run. */
  room: number;
  /** A number for these registries and credentials: what others were told stays apart. */
  asked: number;
}

/** One run's way to registries: documents for the resolution, tarballs for the installation. */
export class Network {
  constructor(options: NetworkOptions, fetch: Fetch | undefined, cache: Cache | undefined);
  /** A tarball that is what it was promised to be. Rejects with an error's details. */
  fetchTarball(resolved: string, name: string, integrity: string | undefined): Promise<Tarball>;
  /** Nothing is fetched any more. */
  end(): void;
  /** Settles when everything is kept that was to be. */
  flush(): Promise<void>;
  traffic(): Traffic;
  free(): void;
}

/** `TarballObject` in crates/espalier-wasm/src/network/mod.rs. */
export interface Tarball {
  url: string;
  bytes: Uint8Array<ArrayBuffer>;
  /** Its own. */
  integrity: string;
  cached: boolean;
}

/** What went over the network so far; `Counts` in crates/espalier-wasm/src/network/traffic.rs. */
export interface Traffic {
  requests: number;
  retries: number;
  pending: number;
  bytes: number;
  wireBytes: number;
  /** Answers that came from the cache. */
  cached: number;
  /** Milliseconds since the network was made. */
  elapsed: number;
}

/** What a run resolves with. */
export interface RunOutcome {
  lockfile: string;
  packedGraph: PackedGraph;
  warnings: Warning[];
  statistics: { packages: number; packuments: number; version_documents: number };
  /** Where `install` was asked for. */
  tree?: TargetTree;
}

/** Rejects with an error's details as a plain object, or with `undefined` when it was aborted. */
export function resolve(
  input: RunInput,
  network: Network,
  observe: (events: ResolveEvent[], traffic: Traffic) => void,
  aborted: Promise<unknown>,
): Promise<RunOutcome>;

/** Throws an error's details as a plain object. */
export function explain(input: RunInput, name: string): Explanation[];

/** The settings of an .npmrc, by key; `variable` is what `${NAME}` in them stands for. */
export function readNpmrc(text: string, variable: (name: string) => string | undefined): [string, string | string[]][];

/** What is to be installed. */
export class TargetTree {
  private constructor();
  plan(): Plan;
  /** What was noted to be there, and is not to be, or not as it is. */
  outdated(): string[];
  /** Takes out an optional package, and returns what goes with it. */
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
  /** Where its tarball is; absent where JavaScript can't fetch it, or where it comes in another's. */
  url?: string;
  /** As the lockfile has it. */
  resolved?: string;
  integrity?: string;
  /** Whether it has to be what its registry says it is. */
  ofRegistry: boolean;
  /** The text of the patch that is to be applied to it. */
  patch?: string;
  /** Whether it is noted to be there already. */
  kept: boolean;
}

/** Unpacks one package. Throws texts about the archive, and an error's details about the patch. */
export class Unpacker {
  constructor(length: number, executables: string[], patch: string | undefined);
  /** Takes the next piece, and gives what is complete: path, bytes, mode, path, … */
  push(piece: Uint8Array): unknown[];
  end(): unknown[];
  /** What is wrong if this is to be a certain package. */
  mistaken(name: string, version: string): string | undefined;
  free(): void;
}

/** Bytes of memory that the instance has taken. */
export function memorySize(): number;

/** Replaces the instance by a fresh one of the same module. */
export function __wbg_reset_state(): void;

/** Instantiates. A second call does nothing. */
export default function instantiate(options: { module_or_path: WebAssembly.Module }): Promise<unknown>;

/** Instantiates at once. */
export function initSync(options: { module: BufferSource | WebAssembly.Module }): unknown;
