// Handles panics and traps of Rust. Wasm can't clean up after one: the promises of its tasks would
// stay pending for ever, and the instance must not be entered again.
//
// Rust's tasks run in microtasks, so a trap surfaces there. `cargo xtask wasm` makes the generated
// glue import `queueMicrotask` from here instead of using the global one.

import { EspalierError } from './errors.js';

let message: string | undefined;
let listener: ((error: EspalierError) => void) | undefined;

/** Rust's panic hook calls this, just before the trap. */
export function panicked(text: string): void {
  message = text;
}

/** Like the global function, but a task that traps is reported to the engine. */
export function queueMicrotask(task: () => void): void {
  globalThis.queueMicrotask(() => {
    try {
      task();
    } catch (cause) {
      crashed(cause);
    }
  });
}

/** Sets the receiver of crashes. */
export function onCrash(tell: (error: EspalierError) => void): void {
  listener = tell;
}

/** Calls Rust outside of a task. A trap is reported in the same way. */
export function guarded<T>(call: () => T): T {
  try {
    return call();
  } catch (cause) {
    throw message !== undefined || cause instanceof WebAssembly.RuntimeError ? crashed(cause) : cause;
  }
}

function crashed(cause: unknown): EspalierError {
  const why = message ?? String(cause);
  message = undefined;
  const error = new EspalierError(
    { code: 'ECRASH', message: `Espalier has crashed; please report it: ${why}` },
    { cause },
  );
  listener?.(error);
  return error;
}
