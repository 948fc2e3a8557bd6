// The messages between the worker client and the worker. A number identifies each run.

import type { ErrorDetails, WasmSource } from '../index.js';
import { EspalierError } from './errors.js';
import type { CheckedInput } from './input.js';

/** From the client. */
export type Command =
  | { type: 'init'; wasm?: Exclude<WasmSource, Response | URL>; memory?: number }
  | { type: 'start'; id: number; work: Work }
  | { type: 'abort'; id: number }
  | { type: 'release'; id: number }
  | Ask
  | Reply;

/** The work of a run. */
export type Work =
  | { type: 'resolve'; input: CheckedInput }
  | { type: 'mount'; input: CheckedInput }
  | { type: 'explain'; input: CheckedInput; package: string }
  /**
   * Into a folder, or otherwise into the client's destination. `noted` is the hidden lockfile
   * there.
   */
  | { type: 'install'; input: CheckedInput; folder?: FileSystemDirectoryHandle; noted?: string | undefined };

/** From the worker. */
export type Report =
  | { type: 'events'; id: number; events: unknown[] }
  | { type: 'result'; id: number; result: unknown }
  | { type: 'failed'; id: number; error: Failure }
  | Ask
  | Reply;

/** A call in either direction: to the client's destination, or to the worker's mounted tree. */
export type Ask = { type: 'ask'; id: number; call: number; method: string; args: unknown[] };
export type Reply = { type: 'reply'; call: number } & ({ value: unknown } | { error: Failure });

/** An error as plain data. */
export type Failure = { details: ErrorDetails } | { name: string; message: string; fields: object };

export function toFailure(error: unknown): Failure {
  if (error instanceof EspalierError) return { details: error.toJSON() };
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), fields: {} };
  const { name, message, code, path } = error as Error & { code?: unknown; path?: unknown };
  const fields = typeof code === 'string' ? { code, ...(typeof path === 'string' ? { path } : {}) } : {};
  return { name, message, fields };
}

export function fromFailure(failure: Failure): Error {
  if ('details' in failure) return new EspalierError(failure.details);
  if (failure.name === 'AbortError') return new DOMException(failure.message, 'AbortError');
  return Object.assign(new Error(failure.message), failure.fields);
}

/** Calls to the other side that wait for their reply. */
export class Calls {
  readonly #waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  #last = 0;

  constructor(readonly send: (ask: Ask, transfer: Transferable[]) => void) {}

  ask(id: number, method: string, args: unknown[], transfer: Transferable[] = []): Promise<unknown> {
    const call = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject });
      this.send({ type: 'ask', id, call, method, args }, transfer);
    });
  }

  settle(reply: Reply): void {
    const waiting = this.#waiting.get(reply.call);
    this.#waiting.delete(reply.call);
    if ('error' in reply) waiting?.reject(fromFailure(reply.error));
    else waiting?.resolve(reply.value);
  }

  rejectAll(why: unknown): void {
    for (const { reject } of this.#waiting.values()) reject(why);
    this.#waiting.clear();
  }
}

/** Answers a call. */
export async function answered({ call }: Ask, value: () => unknown): Promise<Reply> {
  try {
    return { type: 'reply', call, value: await value() };
  } catch (error) {
    return { type: 'reply', call, error: toFailure(error) };
  }
}
