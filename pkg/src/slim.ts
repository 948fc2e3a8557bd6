// `espalier/slim`: it doesn't say where the module is, so it can't confuse a bundler.

import type { WasmSource } from '../index.js';
import { loadOnce } from './engine.js';

export { openCache } from './cache/open.js';
export { initSync } from './engine.js';
export { EspalierError } from './errors.js';
export { unpackGraph } from './graph.js';
export { explain, install, mount, resolve } from './runs.js';

export function init(source: WasmSource | Promise<WasmSource>): Promise<void> {
  return loadOnce(() => source);
}
