// What happens when Rust panics or traps. Wasm can't tidy up after itself then: the promises of its tasks
// would stay pending for ever, and the instance must not be entered again.
//
// Rust's tasks run in microtasks, so that is where a trap surfaces. `cargo xtask wasm` makes the generated
// glue import `queueMicrotask` from here instead of using the global one.

import { EspalierError } from './errors.js';

let message: string | undefined;
let listener: ((error: EspalierError) => void) | undefined;

/** Rust's panic hook calls this, just before the trap. */
export function panicked(text: string): void {
  message = text;
}

/** As the global one, but a task that traps is reported to the engine instead of to nobody. */
export function queueMicrotask(task: () => void): void {
  globalThis.queueMicrotask(() => {
    try {
      task();
    } catch (cause) {
      crashed(cause);
    }
  });
}

/** Who is told. */
export function onCrash(tell: (error: EspalierError) => void): void {
  listener = tell;
}

/** A call of Rust's that isn't a task: what traps in it is reported the same way. */
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
