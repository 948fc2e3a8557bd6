// `espalier` in Node, whose `fetch` can't read files.

import { readFile } from 'node:fs/promises';

import type { WasmSource } from '../index.js';
import { loadByDefault, loadOnce } from './engine.js';

export { openCache } from './cache/open.js';
export { initSync } from './engine.js';
export { EspalierError } from './errors.js';
export { unpackGraph } from './graph.js';
export { explain, install, mount, resolve } from './runs.js';

export function init(source?: WasmSource | Promise<WasmSource>): Promise<void> {
  return loadOnce(async () => {
    const given = (await source) ?? new URL('./espalier.wasm', import.meta.url);
    const isFile =
      given instanceof URL ? given.protocol === 'file:' : typeof given === 'string' && !/^https?:/.test(given);
    return isFile ? readFile(given as URL | string) : given;
  });
}

loadByDefault(init);
