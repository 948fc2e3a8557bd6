// `espalier` in browsers, workers and Deno: the module is fetched from beside this file.

import type { WasmSource } from '../index.js';
import { loadByDefault, loadOnce } from './engine.js';

export { openCache } from './cache/open.js';
export { initSync } from './engine.js';
export { EspalierError } from './errors.js';
export { unpackGraph } from './graph.js';
export { explain, install, mount, resolve } from './runs.js';

export function init(source?: WasmSource | Promise<WasmSource>): Promise<void> {
  // Bundlers recognise this expression and put the file in its place.
  return loadOnce(() => source ?? new URL('./espalier.wasm', import.meta.url));
}

loadByDefault(init);
