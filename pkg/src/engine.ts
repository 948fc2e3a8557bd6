// The WebAssembly instance: loaded once, shared by all runs, replaced after a crash and when it has
// grown large.

import type { WasmSource } from '../index.js';
import { onCrash } from './crash.js';
import { EspalierError, restored } from './errors.js';
import * as glue from './glue.js';

/** Memory never shrinks: an idle instance that has taken more than this is replaced, unless more was asked for. */
const LARGE = 64 * 1024 * 1024;
let most = LARGE;

let ready: Promise<void> | undefined;
let loadDefault: (() => Promise<void>) | undefined;
/** How to reject each run that is under way. */
const running = new Set<(error: EspalierError) => void>();

/** How many instances there were before this one. */
let replaced = 0;

onCrash((error) => {
  // Whatever other runs there are, their tasks are gone with the instance.
  replace();
  for (const reject of running) reject(error);
  running.clear();
});

/** What is done when `init` wasn't called. */
export function loadByDefault(load: () => Promise<void>): void {
  loadDefault = load;
}

/** Loads the module, unless it is loaded or loading. */
export function loadOnce(source: () => WasmSource | Promise<WasmSource>): Promise<void> {
  ready ??= load(source).catch((cause: unknown) => {
    ready = undefined;
    throw notLoaded(cause);
  });
  return ready;
}

export function initSync(module: BufferSource | WebAssembly.Module): void {
  if (ready) return;
  try {
    glue.initSync({ module });
  } catch (cause) {
    throw notLoaded(cause);
  }
  ready = Promise.resolve();
}

/** Does something with the instance. After a crash it rejects, because what it waits for would never come. */
export async function withInstance<T>(use: () => Promise<T>): Promise<T> {
  await loaded();
  return new Promise<T>((resolve, reject) => {
    running.add(reject);
    use()
      .then(resolve, (reason: unknown) => reject(restored(reason)))
      .finally(() => running.delete(reject))
      .finally(returnMemory);
  });
}

function loaded(): Promise<void> {
  const message = 'call `init(source)`, and wait for it, before anything else';
  return ready ?? loadDefault?.() ?? Promise.reject(new EspalierError({ code: 'EWASM', message }));
}

function returnMemory(): void {
  if (running.size === 0 && glue.memorySize() > most) replace();
}

function replace(): void {
  glue.__wbg_reset_state();
  replaced++;
}

/** Lets an idle instance keep so many bytes. */
export function holdOn(bytes = LARGE): void {
  most = bytes;
}

/** How many of them may be documents that the next run finds there. */
export function roomForDocuments(): number {
  return most > LARGE ? most / 2 : 0;
}

/** An object of Rust's for as long as its instance is there: in the next one it is made anew. */
export function perInstance<T>(make: () => T): () => T {
  let made: { by: number; object: T } | undefined;
  return () => {
    if (made?.by !== replaced) made = { by: replaced, object: make() };
    return made.object;
  };
}

/** Does something with objects of Rust's, unless their instance is gone: in another one the same address is something else. */
export function whileThere(): (use: () => void) => void {
  const before = replaced;
  return (use) => {
    if (before === replaced) use();
  };
}

/** Frees an object of Rust's, unless its instance is gone. */
export function releaser(): (object: { free(): void }) => void {
  const ifThere = whileThere();
  return (object) => ifThere(() => object.free());
}

async function load(source: () => WasmSource | Promise<WasmSource>): Promise<void> {
  await glue.default({ module_or_path: await compiled(await source()) });
}

async function compiled(source: WasmSource): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  const response = source instanceof Response ? source : await fetch(source);
  if (!response.ok) throw new Error(`${response.url} answered with status ${response.status}`);
  // Streaming is refused unless the server sends application/wasm, which many don't.
  const streams = response.headers.get('content-type')?.split(';')[0]?.trim() === 'application/wasm';
  return streams ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

function notLoaded(cause: unknown): EspalierError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new EspalierError({ code: 'EWASM', message: `the WebAssembly module can't be loaded: ${why}` }, { cause });
}
