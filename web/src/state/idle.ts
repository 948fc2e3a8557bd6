// Runs work that can wait after the page is drawn, each piece in a task of its own, so that no task
// is long.

import { createEffect, createSignal, on, onCleanup } from 'solid-js';

const PATIENCE = 300;
/** For browsers without idle callbacks. */
const PAUSE = 30;

/** The value, delayed until the browser is idle. */
export function whenIdle<Value>(value: () => Value | undefined): () => Value | undefined {
  const [rested, setRested] = createSignal<Value | undefined>();
  createEffect(
    on(value, (current) => {
      if (typeof requestIdleCallback === 'undefined') {
        const timer = setTimeout(() => setRested(() => current), PAUSE);
        onCleanup(() => clearTimeout(timer));
        return;
      }
      const idle = requestIdleCallback(() => setRested(() => current), { timeout: PATIENCE });
      onCleanup(() => cancelIdleCallback(idle));
    }),
  );
  return rested;
}
