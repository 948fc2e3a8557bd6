// Runs the resolver in a worker. Only this module imports the package `espalier`.

import { createWorkerClient, EspalierError, type WorkerClient } from 'espalier/worker';
import type { Settings } from '../model/address';
import type { ErrorDetails, ResolveEvent, Result } from './types';

export interface Order {
  readonly manifest: string;
  /** Absent for npm's public registry, whose address only the resolver knows. */
  readonly registry?: string | undefined;
  /** The registries of scopes. */
  readonly registries?: Record<string, string> | undefined;
  /** The address of a proxy for all registries. */
  readonly via?: string | undefined;
  /** The address of documents to begin with. */
  readonly snapshot?: string | undefined;
  readonly settings: Settings;
  readonly lockfile?: string | undefined;
  readonly files?: Record<string, string> | undefined;
}

export interface Listener {
  /** The events since the last call, at most once per frame. */
  events(batch: readonly ResolveEvent[]): void;
  done(result: Result): void | Promise<void>;
  failed(error: ErrorDetails): void;
}

/** A question about a large tree is answered from what the worker still knows. */
const MEMORY = 280 * 1024 * 1024;

let client: WorkerClient | undefined;

/**
 * Starts a resolution. The returned function stops it, and the listener gets no more calls. A quiet
 * resolution reports only the progress of its requests.
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
    // The first access makes the graph from its arrays, and then the tree is made from the graph.
    // Each is a task of its own.
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

/** Resolves a what-if beside the page's own run. Rejects with the resolver's error. */
export async function attempt(order: Order, signal: AbortSignal): Promise<Result> {
  // Such a signal reports no more events.
  signal.throwIfAborted();
  const resolution = engine().resolve({ ...input(order), cache: true, remedies: false, events: false });
  const stop = () => resolution.abort();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await resolution.result;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Resolves again, with every decision and the folders that it tried. */
export async function record(order: Order, signal: AbortSignal): Promise<ResolveEvent[]> {
  signal.throwIfAborted();
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

function input({ manifest, registry, registries, via, snapshot, settings, lockfile, files }: Order) {
  const { before, platform, node, ...flags } = settings;
  const [os, cpu, libc] = platform?.split('-') ?? [];
  return {
    manifest,
    ...flags,
    ...(registry ? { registry } : {}),
    ...(registries ? { registries } : {}),
    ...(via ? { via } : {}),
    ...(snapshot ? { snapshot: new URL(snapshot) } : {}),
    ...(lockfile ? { lockfile } : {}),
    ...(files ? { files } : {}),
    ...(before ? { before } : {}),
    ...(node ? { nodeVersion: node } : {}),
    ...(os && cpu ? { platform: { os, cpu, ...(libc ? { libc } : {}) } } : {}),
  };
}

/** An error that is not the resolver's is a fault of this page, and is shown as one. */
function details(error: unknown): ErrorDetails {
  if (error instanceof EspalierError) return error.toJSON();
  return { code: 'ECRASH', message: error instanceof Error ? error.message : String(error) };
}
