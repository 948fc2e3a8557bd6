// A run as its caller sees it: events and a promise. It doesn't know whether the run is in this
// thread or in a worker.

import type { Run } from '../index.js';

/** The runner's side of a run. */
export interface Progress<Event> {
  /** Aborted when nobody wants the result any more. */
  signal: AbortSignal;
  /** To be called with events. */
  observe(events: readonly Event[]): void;
}

/** Starts `run` and returns the caller's side. `signal` aborts it from outside. */
export function started<Event, Result>(
  run: (progress: Progress<Event>) => Promise<Result>,
  signal?: AbortSignal,
): Run<Event, Result> {
  const log = new EventLog<Event>();
  const controller = new AbortController();
  const abort = (reason?: unknown) => controller.abort(reason);
  const abortedOutside = () => abort(signal!.reason);
  if (signal?.aborted) abortedOutside();
  else signal?.addEventListener('abort', abortedOutside, { once: true });

  const running: Promise<Result> = controller.signal.aborted
    ? Promise.reject(controller.signal.reason)
    : // An error that it throws at once is a failure like any other.
      (async () => run({ signal: controller.signal, observe: (events) => log.append(events) }))();
  // An aborted run rejects at once with the signal's reason, whatever the runner does.
  const result = raced(running, controller.signal).finally(() => {
    signal?.removeEventListener('abort', abortedOutside);
    log.end();
  });
  // Every iteration throws the same failure, so ignoring the promise is no mistake.
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

/** Keeps all events, so that an iteration can start late and miss nothing. */
class EventLog<Event> {
  readonly #batches: (readonly Event[])[] = [];
  #ended = false;
  #waiting: (() => void)[] = [];

  append(events: readonly Event[]): void {
    this.#batches.push(events);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *batches(): AsyncGenerator<readonly Event[]> {
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

/** Rejects when the signal is aborted, whatever the promise does. */
export function raced<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = () => reject(signal.reason);
    if (signal.aborted) aborted();
    signal.addEventListener('abort', aborted, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}
