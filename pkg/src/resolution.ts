// A resolution under way, as its caller sees it: a log of events and a promise. Where it runs, in this
// thread or in a worker, it doesn't know.

import type { Resolution, ResolveEvent, Result } from '../index.js';

/** What a resolution's runner is given. */
export interface Progress {
  /** Aborted when nobody wants the result any more. */
  signal: AbortSignal;
  /** To be called with what happened. */
  observe(events: readonly ResolveEvent[]): void;
}

/** Starts `run`, and gives its caller's view of it. `signal` aborts it from outside. */
export function started(run: (progress: Progress) => Promise<Result>, signal?: AbortSignal): Resolution {
  const log = new EventLog();
  const controller = new AbortController();
  const abort = (reason?: unknown) => controller.abort(reason);
  const abortedOutside = () => abort(signal!.reason);
  if (signal?.aborted) abortedOutside();
  else signal?.addEventListener('abort', abortedOutside, { once: true });

  const running = controller.signal.aborted
    ? Promise.reject(controller.signal.reason)
    : run({ signal: controller.signal, observe: (events) => log.append(events) });
  const result = rejectOnAbort(running, controller.signal).finally(() => {
    signal?.removeEventListener('abort', abortedOutside);
    log.end();
  });
  // The same failure is thrown by every iteration, so not looking at the promise is no mistake.
  result.catch(() => {});

  async function* batches() {
    yield* log.batches();
    await result;
  }
  async function* events() {
    for await (const batch of batches()) yield* batch;
  }
  return { result, batches, abort, [Symbol.asyncIterator]: events };
}

/** Whatever the runner makes of it, an aborted resolution rejects at once, with the signal's reason. */
function rejectOnAbort<T>(running: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason);
    signal.addEventListener('abort', aborted, { once: true });
    running.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}

/** Keeps all events, so that an iteration can start late and miss nothing. */
class EventLog {
  readonly #batches: (readonly ResolveEvent[])[] = [];
  #ended = false;
  #waiting: (() => void)[] = [];

  append(events: readonly ResolveEvent[]): void {
    this.#batches.push(events);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *batches(): AsyncGenerator<readonly ResolveEvent[]> {
    for (let next = 0; ; next++) {
      while (next === this.#batches.length) {
        if (this.#ended) return;
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      }
      yield this.#batches[next]!;
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
