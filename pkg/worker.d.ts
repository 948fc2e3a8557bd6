// The types of `espalier/worker`. Written by hand, as index.d.ts.

import type {
  CacheOptions,
  ExplainInput,
  Explanation,
  InstallInput,
  Installation,
  Mounting,
  MountInput,
  Resolution,
  ResolveInput,
  WasmSource,
} from './index.js';

export type * from './index.js';
export { EspalierError, unpackGraph } from './index.js';

/** What a worker can be given: neither functions nor objects with functions cross to it. */
type Sendable<Input> = Omit<Input, 'fetch' | 'cache'> & { cache?: boolean | CacheOptions };

export type WorkerResolveInput = Sendable<ResolveInput>;
export type WorkerInstallInput = Sendable<InstallInput>;
export type WorkerMountInput = Sendable<MountInput>;

/** How to start a worker client. */
export interface WorkerClientOptions {
  /**
   * A module worker that runs `espalier/worker-entry`. Default: one is started from this package. Bundlers
   * that don't follow `new Worker(new URL(…, import.meta.url))` need it given.
   */
  worker?: Worker;
  /** Where the worker loads the WebAssembly module from. Default: this package. */
  wasm?: Exclude<WasmSource, Response>;
  /**
   * How many bytes of memory the worker may hold on to between runs. Above 64 MB, up to half of it are documents of registries, parsed,
   * for as long as they are fresh: a resolution that differs little from an earlier one takes a fraction of the time. Default: 64 MB.
   */
  memory?: number;
}

/** The engine in a dedicated worker: the page stays responsive whatever it does. */
export interface WorkerClient {
  /** As `resolve` of `espalier`. Events come in batches, at most one for each frame. */
  resolve(input: WorkerResolveInput): Resolution;
  /**
   * As `install` of `espalier`. A folder is written to by the worker; a map and a stream get what it has unpacked, moved and not copied.
   */
  install(input: WorkerInstallInput): Installation;
  /** As `mount` of `espalier`. Packages are kept in the worker; each read copies what it reads. */
  mount(input: WorkerMountInput): Mounting;
  /** As `explain` of `espalier`. */
  explain(input: ExplainInput): Promise<Explanation[]>;
  /** Ends the worker; what is under way is aborted. */
  terminate(): void;
}

/** Starts a dedicated worker. It loads the WebAssembly module right away, so that the first run needn't wait. */
export function createWorkerClient(options?: WorkerClientOptions): WorkerClient;
