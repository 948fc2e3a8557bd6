// What can wait until the page has drawn what cannot: each piece in a task of its own, so that none is long.

import { createEffect, createSignal, on, onCleanup } from 'solid-js';

const PATIENCE = 300;
/** For browsers without idle callbacks. */
const PAUSE = 30;

/** The value, once the browser has time for what is made of it. */
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
