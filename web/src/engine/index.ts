// The resolver, in a worker of its own. The only place that imports the package `espalier`.

import { createWorkerClient, EspalierError, type WorkerClient } from 'espalier/worker';
import type { ErrorDetails, ResolveEvent, Result } from './types';

export interface Order {
  readonly manifest: string;
  /** Absent for npm's public registry, whose address only the resolver knows. */
  readonly registry?: string | undefined;
  readonly legacyPeerDeps: boolean;
  readonly force: boolean;
}

export interface Listener {
  /** What happened since the last call; at most once a frame. */
  events(batch: readonly ResolveEvent[]): void;
  done(result: Result): void;
  failed(error: ErrorDetails): void;
}

let client: WorkerClient | undefined;

/** Starts resolving; the returned function stops it, after which the listener hears nothing more. */
export function start(order: Order, listener: Listener): () => void {
  client ??= createWorkerClient();
  let stopped = false;
  const { registry, ...rest } = order;
  const resolution = client.resolve({ ...rest, ...(registry ? { registry } : {}) });
  const run = async () => {
    for await (const batch of resolution.batches()) {
      if (stopped) return;
      listener.events(batch);
    }
    const result = await resolution.result;
    if (!stopped) listener.done(result);
  };
  run().catch((error: unknown) => {
    if (!stopped) listener.failed(details(error));
  });
  return () => {
    stopped = true;
    resolution.abort();
  };
}

/** Anything else than the resolver's own error is a fault of this page, and is shown as such. */
function details(error: unknown): ErrorDetails {
  if (error instanceof EspalierError) return error.toJSON();
  return { code: 'ECRASH', message: error instanceof Error ? error.message : String(error) };
}
