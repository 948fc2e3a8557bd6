// The types of `espalier/worker`. Written by hand, as index.d.ts.

import type { Resolution, ResolveInput, WasmSource } from './index.js';

export type * from './index.js';
export { EspalierError } from './index.js';

/** What a worker can be given: functions don't cross to it. */
export type WorkerResolveInput = Omit<ResolveInput, 'fetch'>;

/** How to start a worker client. */
export interface WorkerClientOptions {
  /**
   * A module worker that runs `espalier/worker-entry`. Default: one is started from this package. Bundlers
   * that don't follow `new Worker(new URL(…, import.meta.url))` need it given.
   */
  worker?: Worker;
  /** Where the worker loads the WebAssembly module from. Default: this package. */
  wasm?: Exclude<WasmSource, Response>;
}

/** A resolver in a dedicated worker: the page stays responsive whatever it resolves. */
export interface WorkerClient {
  /** As `resolve` of `espalier`. Events come in batches, at most one for each frame. */
  resolve(input: WorkerResolveInput): Resolution;
  /** Ends the worker; resolutions under way are aborted. */
  terminate(): void;
}

/** Starts a dedicated worker. It loads the WebAssembly module right away, so that the first `resolve` needn't wait. */
export function createWorkerClient(options?: WorkerClientOptions): WorkerClient;
