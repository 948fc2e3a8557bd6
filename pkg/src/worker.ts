// `espalier/worker`: the package's functions, run by a dedicated worker.

import type * as api from '../worker.js';
import type { ExplainInput, MountedTree, PackedGraph } from '../index.js';
import { EspalierError } from './errors.js';
import { withGraph } from './graph.js';
import { type CheckedInput, checkedExplainInput, checkedInput, checkedInstallInput, isCache } from './input.js';
import type { Destination } from './install/destination.js';
import { destinationOf } from './install/destinations.js';
import { type Progress, raced, started } from './progress.js';
import { type Ask, Calls, type Command, type Report, type Work, answered, fromFailure } from './protocol.js';

export { EspalierError } from './errors.js';
export { unpackGraph } from './graph.js';

export function createWorkerClient({
  worker = startedWorker(),
  wasm,
  memory,
}: api.WorkerClientOptions = {}): api.WorkerClient {
  const client = new Client(worker);
  client.send({
    type: 'init',
    ...(wasm === undefined ? {} : { wasm: wasm instanceof URL ? wasm.href : wasm }),
    ...(memory === undefined ? {} : { memory }),
  });
  return {
    resolve: (input) => client.resolve(input),
    install: (input) => client.install(input),
    mount: (input) => client.mount(input),
    explain: (input) => client.explain(input),
    terminate: () => client.terminate(),
  };
}

function startedWorker(): Worker {
  // Bundlers recognise this expression and build the worker.
  return new Worker(new URL('./worker-entry.js', import.meta.url), { type: 'module', name: 'espalier' });
}

/** A run in the worker. */
interface Running {
  observe(events: readonly never[]): void;
  resolve(result: unknown): void;
  reject(error: unknown): void;
  /** The destination on this side. */
  destination?: Destination | undefined;
}

class Client {
  readonly #worker: Worker;
  readonly #running = new Map<number, Running>();
  readonly #calls: Calls;
  /** The worker drops a mounted tree if nobody holds it any more. */
  readonly #forgotten = new FinalizationRegistry<number>((id) => this.send({ type: 'release', id }));
  #lastId = 0;
  /** Why the worker can't be used any more. */
  #broken: unknown;

  constructor(worker: Worker) {
    this.#worker = worker;
    this.#calls = new Calls((ask) => this.send(ask));
    worker.addEventListener('message', ({ data }: MessageEvent<Report>) => this.#receive(data));
    worker.addEventListener('error', (event) => {
      // Browsers state no reason if a script can't be loaded.
      const why = event.message ? `the worker failed: ${event.message}` : "the worker's script can't be loaded";
      this.#break(new EspalierError({ code: 'EWASM', message: why }));
    });
  }

  send(command: Command): void {
    this.#worker.postMessage(command);
  }

  resolve(input: api.WorkerResolveInput): ReturnType<api.WorkerClient['resolve']> {
    return started(
      (progress) => this.#resolved(progress, () => ({ type: 'resolve', input: sendable(checkedInput(input), input) })),
      input?.signal,
    );
  }

  install(input: api.WorkerInstallInput): ReturnType<api.WorkerClient['install']> {
    return started(async (progress) => {
      const checked = sendable(checkedInstallInput(input), input);
      const { to } = input;
      // The worker itself writes to a folder.
      if (to && 'getDirectoryHandle' in to)
        return this.#resolved(progress, () => ({ type: 'install', input: checked, folder: to }));
      const destination = destinationOf(to);
      const noted = await destination.noted();
      try {
        const result = await this.#resolved<unknown, object>(
          progress,
          () => ({ type: 'install', input: checked, noted }),
          destination,
        );
        return Object.assign(result, { files: destination.files ?? new Map() });
      } catch (error) {
        await destination.abort?.(error);
        throw error;
      }
    }, input?.signal) as ReturnType<api.WorkerClient['install']>;
  }

  mount(input: api.WorkerMountInput): ReturnType<api.WorkerClient['mount']> {
    return started(async (progress) => {
      let id = 0;
      const work = (given: number): Work => {
        id = given;
        return { type: 'mount', input: sendable(checkedInstallInput(input), input) };
      };
      const result = await this.#resolved<unknown, object>(progress, work);
      return Object.assign(result, { tree: this.#tree(id) });
    }, input?.signal) as ReturnType<api.WorkerClient['mount']>;
  }

  async explain(input: ExplainInput): ReturnType<api.WorkerClient['explain']> {
    const checked = checkedExplainInput(input);
    const run = started(
      (progress) => this.#run(progress, () => ({ type: 'explain', input: checked, package: input.package })),
      input.signal,
    );
    return run.result as ReturnType<api.WorkerClient['explain']>;
  }

  terminate(): void {
    this.#worker.terminate();
    this.#break(new DOMException('the worker was terminated', 'AbortError'));
  }

  async #resolved<Event, Result>(
    progress: Progress<Event>,
    work: (id: number) => Work,
    destination?: Destination,
  ): Promise<Result> {
    const result = (await this.#run(progress, work, destination)) as { packedGraph: PackedGraph };
    return withGraph(result) as Result;
  }

  async #run<Event>(
    progress: Progress<Event>,
    work: (id: number) => Work,
    destination?: Destination,
  ): Promise<unknown> {
    if (this.#broken) throw this.#broken;
    const id = ++this.#lastId;
    const started = work(id);
    progress.signal.addEventListener('abort', () => this.#abort(id), { once: true });
    return new Promise((resolve, reject) => {
      this.#running.set(id, { observe: progress.observe, resolve, reject, destination });
      this.send({ type: 'start', id, work: started });
    });
  }

  /**
   * A mounted tree on this side. Its bytes are copied, because the worker keeps them for the next
   * reader.
   */
  #tree(id: number): MountedTree {
    const ask = async <T>(method: string, args: unknown[], signal?: AbortSignal): Promise<T> => {
      if (this.#broken) throw this.#broken;
      const answer = this.#calls.ask(id, method, args) as Promise<T>;
      return signal ? raced(answer, signal) : answer;
    };
    const tree: MountedTree = {
      readFile: (path, options) => ask('readFile', [path], options?.signal),
      readdir: (path, options) => ask('readdir', [path], options?.signal),
      lstat: (path, options) => ask('lstat', [path], options?.signal),
      load: (locations, options) => ask('load', [locations], options?.signal),
      release: () => void ask('release', []).catch(() => {}),
    };
    this.#forgotten.register(tree, id);
    return tree;
  }

  #abort(id: number): void {
    // An answer that is under way finds no receiver and is dropped.
    if (this.#running.delete(id)) this.send({ type: 'abort', id });
  }

  #receive(report: Report): void {
    if (report.type === 'reply') return this.#calls.settle(report);
    if (report.type === 'ask') return void this.#write(report);
    const running = this.#running.get(report.id);
    if (!running) return;
    if (report.type === 'events') return running.observe(report.events as never[]);
    this.#running.delete(report.id);
    if (report.type === 'result') running.resolve(report.result);
    else running.reject(fromFailure(report.error));
  }

  /** Writes what the worker has unpacked to the destination. */
  async #write(ask: Ask): Promise<void> {
    const destination = this.#running.get(ask.id)?.destination;
    const method = ask.method as 'has' | 'remove' | 'write' | 'close';
    const reply = await answered(ask, () => {
      if (!destination) throw new DOMException('nobody waits for it any more', 'AbortError');
      return (destination[method] as ((...args: unknown[]) => unknown) | undefined)?.apply(destination, ask.args);
    });
    this.send(reply);
  }

  #break(why: unknown): void {
    this.#broken = why;
    for (const { reject } of this.#running.values()) reject(why);
    this.#running.clear();
    this.#calls.rejectAll(why);
  }
}

/** The part of an input that can be sent to a worker. */
function sendable(checked: CheckedInput, input: object): CheckedInput {
  if ('fetch' in input) throw new EspalierError({ code: 'EINPUT', message: "`fetch` can't be passed to a worker" });
  if (checked.cache && isCache(checked.cache)) {
    throw new EspalierError({
      code: 'EINPUT',
      message: "a `cache` of your own can't be passed to a worker; options for one can",
    });
  }
  return checked;
}
