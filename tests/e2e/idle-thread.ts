// Counts the calls that keep a page's thread busy: compiling and running wasm, inflating, hashing,
// and parsing large texts. A page that leaves all of them to workers stays responsive on any
// machine. Counts do not depend on the machine; times do.

import type { Page } from '@playwright/test';

/** Texts up to this length, in characters, parse in well under a millisecond. */
const SMALL = 100_000;

/** Makes each later document of the page count the heavy calls of its main thread. */
export async function watchHeavyCalls(page: Page): Promise<void> {
  await page.addInitScript((small) => {
    const calls: string[] = [];
    Object.assign(globalThis, { heavyCalls: calls });
    const note = (owner: object, name: string, isHeavy: (...args: unknown[]) => boolean = () => true) => {
      const original = Reflect.get(owner, name) as (...args: unknown[]) => unknown;
      function watched(this: unknown, ...args: unknown[]) {
        if (isHeavy(...args)) calls.push(name);
        return new.target ? Reflect.construct(original, args, new.target) : original.apply(this, args);
      }
      // Objects that the original made stay instances of its replacement.
      watched.prototype = original.prototype;
      Reflect.set(owner, name, watched);
    };
    for (const name of ['compile', 'compileStreaming', 'instantiate', 'instantiateStreaming', 'Module', 'Instance']) {
      note(WebAssembly, name);
    }
    note(globalThis, 'DecompressionStream');
    // Only secure contexts have `subtle`.
    if (globalThis.crypto.subtle) note(SubtleCrypto.prototype, 'digest');
    note(JSON, 'parse', (text) => String(text).length > small);
  }, SMALL);
}

/** The heavy calls of the page's main thread so far, by name. */
export function heavyCalls(page: Page): Promise<string[]> {
  return page.evaluate(() => (globalThis as unknown as { heavyCalls: string[] }).heavyCalls);
}
