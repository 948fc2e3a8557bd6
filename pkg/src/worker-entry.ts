// The script of the dedicated worker, which does what the client asks for.

import type { Entry, InstallInput, MountedTree, PackedGraph, Run } from '../index.js';
import { holdOn, loadByDefault } from './engine.js';
import { buffersOf } from './graph.js';
import { init } from './index.js';
import type { Destination } from './install/destination.js';
import { FolderDestination } from './install/folder.js';
import { started } from './progress.js';
import { type Ask, Calls, type Command, type Report, type Work, answered, toFailure } from './protocol.js';
import { explain, installInto, mount, resolve } from './runs.js';

/** About a frame. A client that draws needs no more. */
const FLUSH_EVERY = 16;

const running = new Map<number, Run<unknown, unknown>>();
const mounted = new Map<number, MountedTree>();
const calls = new Calls(post);

globalThis.onmessage = ({ data: command }: MessageEvent<Command>) => {
  if (command.type === 'start') void run(command.id, command.work);
  if (command.type === 'abort') running.get(command.id)?.abort();
  if (command.type === 'release') mounted.delete(command.id);
  if (command.type === 'init') {
    holdOn(command.memory);
    load(() => init(command.wasm));
  }
  if (command.type === 'ask') void read(command);
  if (command.type === 'reply') calls.settle(command);
};

/** Loads the module in advance. The first run reports a failure, because it tries again. */
function load(start: () => Promise<void>): void {
  loadByDefault(start);
  start().catch(() => {});
}

async function run(id: number, work: Work): Promise<void> {
  const outbox = new Outbox(id);
  try {
    const run = begun(id, work);
    running.set(id, run);
    for await (const batch of run.batches()) outbox.add(batch);
    outbox.flush();
    sendResult(id, await run.result);
  } catch (error) {
    outbox.flush();
    // After an abort, the client has rejected with its own reason already and drops this.
    post({ id, type: 'failed', error: toFailure(error) });
  }
  running.delete(id);
}

function begun(id: number, work: Work): Run<unknown, unknown> {
  // A checked input is a valid input.
  const input = work.input as InstallInput;
  switch (work.type) {
    case 'resolve': {
      const { omit: _omit, frozen: _frozen, ...rest } = input;
      return resolve(rest);
    }
    case 'mount':
      return mount(input);
    case 'explain': {
      const { manifest, lockfile, files, folderName } = input;
      const given = {
        package: work.package,
        ...(manifest === undefined ? {} : { manifest }),
        ...(lockfile === undefined ? {} : { lockfile }),
      };
      return started(() =>
        explain({ ...given, ...(files ? { files } : {}), ...(folderName === undefined ? {} : { folderName }) }),
      );
    }
    case 'install': {
      const destination = work.folder ? new FolderDestination(work.folder) : new ClientDestination(id, work.noted);
      return started((progress) => installInto(input, destination, progress));
    }
  }
}

/**
 * Transfers the arrays of the graph. The client makes `graph` of them; looking at it here would
 * make it here as well.
 */
function sendResult(id: number, result: unknown): void {
  if (typeof result !== 'object' || result === null || !('packedGraph' in result))
    return post({ id, type: 'result', result });
  delete (result as { graph?: unknown }).graph;
  const { files: _files, tree, ...rest } = result as { packedGraph: PackedGraph; files?: unknown; tree?: MountedTree };
  if (tree) mounted.set(id, tree);
  post({ id, type: 'result', result: rest }, buffersOf(rest.packedGraph));
}

/** Answers a call of a mounted tree. */
async function read(ask: Ask): Promise<void> {
  const method = ask.method as 'readFile' | 'readdir' | 'lstat' | 'load' | 'release';
  const tree = mounted.get(ask.id);
  const reply = await answered(ask, () =>
    (tree?.[method] as ((...args: unknown[]) => unknown) | undefined)?.apply(tree, ask.args),
  );
  post(reply);
}

/** The client's destination. Bytes are transferred to it. */
class ClientDestination implements Destination {
  constructor(
    readonly id: number,
    readonly note: string | undefined,
  ) {}

  async noted(): Promise<string | undefined> {
    return this.note;
  }

  async has(path: string): Promise<boolean> {
    return (await calls.ask(this.id, 'has', [path])) as boolean;
  }

  async remove(paths: string[]): Promise<void> {
    await calls.ask(this.id, 'remove', [paths]);
  }

  async write(entries: Entry[]): Promise<void> {
    const buffers = new Set(entries.flatMap((entry) => (entry.type === 'file' ? [entry.bytes.buffer] : [])));
    await calls.ask(this.id, 'write', [entries], [...buffers]);
  }

  async close(): Promise<void> {
    await calls.ask(this.id, 'close', []);
  }
}

/** Collects events until it is time to send them. */
class Outbox {
  #events: unknown[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly id: number) {}

  add(events: readonly unknown[]): void {
    // Of several progress events in a row, the last is sufficient.
    const last = this.#events.at(-1) as { type?: string } | undefined;
    if (last?.type === 'progress') this.#events.pop();
    this.#events.push(...events);
    // The tree is complete. The thread is about to be busy with what only the lockfile needs.
    if (events.some((event) => (event as { type: string }).type === 'settled')) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_EVERY);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#events.length > 0) post({ id: this.id, type: 'events', events: this.#events });
    this.#events = [];
  }
}

function post(report: Report, transfer: Transferable[] = []): void {
  globalThis.postMessage(report, { transfer });
}
