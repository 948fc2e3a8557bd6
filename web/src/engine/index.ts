// The resolver, in a worker of its own. The only place that imports the package `espalier`.

import { createWorkerClient, EspalierError, type WorkerClient } from 'espalier/worker';
import type { Settings } from '../model/address';
import type { ErrorDetails, ResolveEvent, Result } from './types';

export interface Order {
  readonly manifest: string;
  /** Absent for npm's public registry, whose address only the resolver knows. */
  readonly registry?: string | undefined;
  /** The address of documents to begin with. */
  readonly snapshot?: string | undefined;
  readonly settings: Settings;
  readonly lockfile?: string | undefined;
  readonly files?: Record<string, string> | undefined;
}

export interface Listener {
  /** What happened since the last call; at most once a frame. */
  events(batch: readonly ResolveEvent[]): void;
  done(result: Result): void | Promise<void>;
  failed(error: ErrorDetails): void;
}

/** A question about a large tree is answered from what the worker still knows. */
const MEMORY = 280 * 1024 * 1024;

let client: WorkerClient | undefined;

/**
 * Starts resolving; the returned function stops it, after which the listener hears nothing more. Quietly means that of events there is
 * only how much was fetched.
 */
export function start(order: Order, listener: Listener, quietly = false): () => void {
  let stopped = false;
  const resolution = engine().resolve({ ...input(order), cache: true, events: !quietly });
  const run = async () => {
    for await (const batch of resolution.batches()) {
      if (stopped) return;
      listener.events(batch);
    }
    const result = await resolution.result;
    // The graph is made of its arrays when it is first looked at, and then the tree of the graph: each in a task of its own.
    if (!stopped) void result.graph;
    await breathe();
    if (!stopped) await listener.done(result);
  };
  run().catch((error: unknown) => {
    if (!stopped) listener.failed(details(error));
  });
  return () => {
    stopped = true;
    resolution.abort();
  };
}

/** Resolves beside the page's own run, for a question: what would come out if. Rejects as the resolver does. */
export async function attempt(order: Order, signal: AbortSignal): Promise<Result> {
  const resolution = engine().resolve({ ...input(order), cache: true, remedies: false, events: false });
  const stop = () => resolution.abort();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await resolution.result;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Resolves once more, with every decision and what was tried for it. */
export async function record(order: Order, signal: AbortSignal): Promise<ResolveEvent[]> {
  const resolution = engine().resolve({ ...input(order), cache: true, remedies: false, decisions: true });
  signal.addEventListener('abort', () => resolution.abort(), { once: true });
  const events: ResolveEvent[] = [];
  for await (const batch of resolution.batches()) for (const event of batch) events.push(event);
  await resolution.result;
  return events;
}

/** Lets the browser draw and answer before the next piece of work. */
export function breathe(): Promise<void> {
  return new Promise((rest) => setTimeout(rest));
}

function engine(): WorkerClient {
  return (client ??= createWorkerClient({ memory: MEMORY }));
}

function input({ manifest, registry, snapshot, settings, lockfile, files }: Order) {
  const { before, platform, node, ...flags } = settings;
  const [os, cpu, libc] = platform?.split('-') ?? [];
  return {
    manifest,
    ...flags,
    ...(registry ? { registry } : {}),
    ...(snapshot ? { snapshot: new URL(snapshot) } : {}),
    ...(lockfile ? { lockfile } : {}),
    ...(files ? { files } : {}),
    ...(before ? { before } : {}),
    ...(node ? { nodeVersion: node } : {}),
    ...(os && cpu ? { platform: { os, cpu, ...(libc ? { libc } : {}) } } : {}),
  };
}

/** Anything else than the resolver's own error is a fault of this page, and is shown as such. */
function details(error: unknown): ErrorDetails {
  if (error instanceof EspalierError) return error.toJSON();
  return { code: 'ECRASH', message: error instanceof Error ? error.message : String(error) };
}
