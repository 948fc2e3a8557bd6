// The boundary to Rust: what wasm-bindgen generates from crates/espalier-wasm, as far as it is used here.
// Written by hand, so that the TypeScript can be checked before the wasm is built.

import type { Fetch } from '../index.js';

/** The input of one run; `Input` in crates/espalier-wasm/src/input.rs. */
export interface RunInput {
  manifest: string;
  lockfile?: string;
  files: Record<string, string>;
  folderName: string;
  registry?: string;
  registries: Record<string, string>;
  nodeVersion?: string;
  npmVersion?: string;
  platform?: { os: string; cpu: string; libc?: string };
  legacyPeerDeps: boolean;
  strictPeerDeps: boolean;
  force: boolean;
  preferDedupe: boolean;
  installLinks: boolean;
  engineStrict: boolean;
  defaultTag?: string;
  allowGit?: 'all' | 'root' | 'none';
  allowRemote?: 'all' | 'root' | 'none';
  allowFile?: 'all' | 'root' | 'none';
  allowDirectory?: 'all' | 'root' | 'none';
  before?: number;
  concurrency: number;
  retries: number;
  timeout: number;
}

/** Rejects with an error's details as a plain object, or with `undefined` when it was aborted. */
export function resolve(
  input: RunInput,
  fetch: Fetch,
  observe: (events: unknown[]) => void,
  aborted: Promise<unknown>,
): Promise<unknown>;

/** Bytes of memory that the instance has taken. */
export function memorySize(): number;

/** Replaces the instance by a fresh one of the same module. */
export function __wbg_reset_state(): void;

/** Instantiates. A second call does nothing. */
export default function instantiate(options: { module_or_path: WebAssembly.Module }): Promise<unknown>;

/** Instantiates at once. */
export function initSync(options: { module: BufferSource | WebAssembly.Module }): unknown;
