// `espalier/worker`: the same `resolve`, run by a dedicated worker.

import type { Resolution, Result } from '../index.js';
import type { WorkerClient, WorkerClientOptions, WorkerResolveInput } from '../worker.js';
import { EspalierError } from './errors.js';
import { runInput } from './input.js';
import type { Command, Report } from './protocol.js';
import { started, type Progress } from './resolution.js';

export { EspalierError } from './errors.js';

export function createWorkerClient({ worker = startedWorker(), wasm }: WorkerClientOptions = {}): WorkerClient {
  const client = new Client(worker);
  client.send({ type: 'init', wasm: wasm instanceof URL ? wasm.href : wasm });
  return { resolve: (input) => client.resolve(input), terminate: () => client.terminate() };
}

function startedWorker(): Worker {
  // Bundlers recognise this expression, and build the worker where they find it.
  return new Worker(new URL('./worker-entry.js', import.meta.url), { type: 'module', name: 'espalier' });
}

/** A resolution that the worker works on. */
interface Running {
  progress: Progress;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

class Client {
  readonly #worker: Worker;
  readonly #running = new Map<number, Running>();
  #lastId = 0;
  /** Why nothing can be resolved any more. */
  #broken: unknown;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.addEventListener('message', ({ data }: MessageEvent<Report>) => this.#receive(data));
    worker.addEventListener('error', (event) => {
      // Browsers say nothing about a script that can't be loaded.
      const why = event.message ? `the worker failed: ${event.message}` : "the worker's script can't be loaded";
      this.#break(new EspalierError({ code: 'EWASM', message: why }));
    });
  }

  send(command: Command): void {
    this.#worker.postMessage(command);
  }

  resolve(input: WorkerResolveInput): Resolution {
    return started((progress) => this.#run(input, progress), input?.signal);
  }

  terminate(): void {
    this.#worker.terminate();
    this.#break(new DOMException('the worker was terminated', 'AbortError'));
  }

  async #run(input: WorkerResolveInput, progress: Progress): Promise<Result> {
    if ('fetch' in input) throw new EspalierError({ code: 'EINPUT', message: "`fetch` can't be passed to a worker" });
    const checked = runInput(input);
    if (this.#broken) throw this.#broken;
    const id = ++this.#lastId;
    progress.signal.addEventListener('abort', () => this.#abort(id), { once: true });
    return new Promise((resolve, reject) => {
      this.#running.set(id, { progress, resolve, reject });
      this.send({ type: 'resolve', id, input: checked });
    });
  }

  #abort(id: number): void {
    // An answer that is on its way already finds nobody, and is dropped.
    if (this.#running.delete(id)) this.send({ type: 'abort', id });
  }

  #receive(report: Report): void {
    const running = this.#running.get(report.id);
    if (!running) return;
    if (report.type === 'events') return running.progress.observe(report.events);
    this.#running.delete(report.id);
    if (report.type === 'result') running.resolve(report.result);
    else running.reject(new EspalierError(report.error));
  }

  #break(why: unknown): void {
    this.#broken = why;
    for (const { reject } of this.#running.values()) reject(why);
    this.#running.clear();
  }
}
