// The WebAssembly instance: loaded once, shared by all runs, and replaced after a crash or when it
// has grown large.

import type { WasmSource } from '../index.js';
import { onCrash } from './crash.js';
import { EspalierError, restored } from './errors.js';
import * as glue from './glue.js';

/**
 * An idle instance with more memory than this is replaced, because memory never shrinks. Callers
 * can permit more.
 */
const LARGE = 64 * 1024 * 1024;
let most = LARGE;

let ready: Promise<void> | undefined;
let loadDefault: (() => Promise<void>) | undefined;
/** The functions that reject the current runs. */
const running = new Set<(error: EspalierError) => void>();

/** The number of earlier instances. */
let replaced = 0;

onCrash((error) => {
  // The tasks of all other runs are gone with the instance.
  replace();
  for (const reject of running) reject(error);
  running.clear();
});

/** Sets the way to load the module if `init` wasn't called. */
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

/** Uses the instance. Rejects after a crash, because the result would never come. */
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

/** Sets the number of bytes that an idle instance may keep. */
export function holdOn(bytes = LARGE): void {
  most = bytes;
}

/** How many of them may be documents for the next run. */
export function roomForDocuments(): number {
  return most > LARGE ? most / 2 : 0;
}

/** An object of Rust's that is made again for each instance. */
export function perInstance<T>(make: () => T): () => T {
  let made: { by: number; object: T } | undefined;
  return () => {
    if (made?.by !== replaced) made = { by: replaced, object: make() };
    return made.object;
  };
}

/**
 * Returns a function that uses objects of Rust's, unless their instance is gone: in another
 * instance, the same address is another object.
 */
export function whileThere(): (use: () => void) => void {
  const before = replaced;
  return (use) => {
    if (before === replaced) use();
  };
}

/** Returns a function that frees an object of Rust's, unless its instance is gone. */
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
  // Streaming requires application/wasm, which many servers don't send.
  const streams = response.headers.get('content-type')?.split(';')[0]?.trim() === 'application/wasm';
  return streams ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

function notLoaded(cause: unknown): EspalierError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new EspalierError({ code: 'EWASM', message: `the WebAssembly module can't be loaded: ${why}` }, { cause });
}
