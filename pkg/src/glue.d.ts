// The boundary to Rust: what wasm-bindgen generates from crates/espalier-wasm, as far as it is used here.
// Written by hand, so that the TypeScript can be checked before the wasm is built.

import type { BinEntry, LinkEntry, PackedGraph, PackagePlace, Warning } from '../index.js';

/** The input of one run, which crosses as JSON; `Input` in crates/espalier-wasm/src/input.rs. */
export interface RunInput {
  manifest: string;
  lockfile?: string | undefined;
  files: Record<string, string>;
  folderName: string;
  registry?: string | undefined;
  registries: Record<string, string>;
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
  remedies: boolean;
  install?: { omit: { dev: boolean; optional: boolean; peer: boolean }; frozen: boolean; noted?: string | undefined } | undefined;
}

/** What Rust asks of the network. Rejections have `code`, `message`, `url` and `status`. */
export interface Network {
  document(url: string, name: string, accept: string, urgent: boolean, anew: boolean): Promise<unknown>;
  tarball(url: string, name: string, integrity: string | undefined, urgent: boolean): Promise<unknown>;
}

/** What a run resolves with. */
export interface RunOutcome {
  lockfile: string;
  packedGraph: PackedGraph;
  warnings: Warning[];
  statistics: { packages: number; packuments: number; version_documents: number };
  /** Where `install` was asked for. */
  tree?: Tree;
}

/** Rejects with an error's details as a plain object, or with `undefined` when it was aborted. */
export function resolve(
  input: string,
  network: Network,
  observe: (events: unknown[]) => void,
  aborted: Promise<unknown>,
): Promise<RunOutcome>;

/** `Explanation[]` as JSON. Throws an error's details as a plain object. */
export function explain(input: string, name: string): string;

/** The settings of an .npmrc, by key; `variable` is what `${NAME}` in them stands for. */
export function readNpmrc(text: string, variable: (name: string) => string | undefined): [string, string | string[]][];

/** What is to be installed. */
export class Tree {
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
