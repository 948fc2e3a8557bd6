// The script of the dedicated worker: resolves what the client asks for.

import type { ResolveEvent, ResolveInput, Resolution } from '../index.js';
import { loadByDefault } from './engine.js';
import { EspalierError } from './errors.js';
import { init, resolve } from './index.js';
import type { Command, Report } from './protocol.js';

/** A frame, about: a client that draws needs no more. */
const FLUSH_EVERY = 16;

const running = new Map<number, Resolution>();

globalThis.onmessage = ({ data: command }: MessageEvent<Command>) => {
  if (command.type === 'resolve') void run(command.id, command.input as ResolveInput);
  if (command.type === 'abort') running.get(command.id)?.abort();
  if (command.type === 'init') load(() => init(command.wasm));
};

/** Loads before anything is asked for. A failure is told to whoever resolves then, because that tries again. */
function load(start: () => Promise<void>): void {
  loadByDefault(start);
  start().catch(() => {});
}

async function run(id: number, input: ResolveInput): Promise<void> {
  const resolution = resolve(input);
  running.set(id, resolution);
  const outbox = new Outbox(id);
  try {
    for await (const batch of resolution.batches()) outbox.add(batch);
    outbox.flush();
    post({ id, type: 'result', result: await resolution.result });
  } catch (error) {
    outbox.flush();
    post({ id, type: 'failed', error: details(error) });
  }
  running.delete(id);
}

/** Collects events until it is time to send them. */
class Outbox {
  #events: ResolveEvent[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly id: number) {}

  add(events: readonly ResolveEvent[]): void {
    // Each batch ends with its progress; of several, the last tells all.
    if (this.#events.at(-1)?.type === 'progress') this.#events.pop();
    this.#events.push(...events);
    this.#timer ??= setTimeout(() => this.flush(), FLUSH_EVERY);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#events.length > 0) post({ id: this.id, type: 'events', events: this.#events });
    this.#events = [];
  }
}

function details(error: unknown) {
  if (error instanceof EspalierError) return error.toJSON();
  // Aborted: the client has rejected with its own reason by now, and drops this.
  return { code: 'ABORT_ERR', message: String(error) };
}

function post(report: Report): void {
  globalThis.postMessage(report);
}
