// The types of `espalier/worker`, written by hand like index.d.ts.

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

/** The input of a worker. Functions, and objects with functions, can't be sent to it. */
type Sendable<Input> = Omit<Input, 'fetch' | 'cache'> & { cache?: boolean | CacheOptions };

export type WorkerResolveInput = Sendable<ResolveInput>;
export type WorkerInstallInput = Sendable<InstallInput>;
export type WorkerMountInput = Sendable<MountInput>;

/** The options of a worker client. */
export interface WorkerClientOptions {
  /**
   * A module worker that runs `espalier/worker-entry`. Default: the client starts one from this
   * package. Bundlers that don't follow `new Worker(new URL(…, import.meta.url))` need this option.
   */
  worker?: Worker;
  /** The source of the WebAssembly module. Default: this package. */
  wasm?: Exclude<WasmSource, Response>;
  /**
   * The number of bytes that the worker may keep between runs. Above 64 MB, up to half of it holds
   * parsed documents while they are fresh, so a resolution similar to an earlier one takes a
   * fraction of the time. Default: 64 MB.
   */
  memory?: number;
}

/** The engine in a dedicated worker, so that the page stays responsive. */
export interface WorkerClient {
  /** Like `resolve` of `espalier`. Events come in batches, at most one per frame. */
  resolve(input: WorkerResolveInput): Resolution;
  /**
   * Like `install` of `espalier`. The worker itself writes to a folder. Files for a map or a stream
   * are transferred, not copied.
   */
  install(input: WorkerInstallInput): Installation;
  /** Like `mount` of `espalier`. The worker keeps the packages. Each read copies its result. */
  mount(input: WorkerMountInput): Mounting;
  /** Like `explain` of `espalier`. */
  explain(input: ExplainInput): Promise<Explanation[]>;
  /** Ends the worker and aborts its runs. */
  terminate(): void;
}

/** Starts a dedicated worker, which loads the WebAssembly module at once. */
export function createWorkerClient(options?: WorkerClientOptions): WorkerClient;
