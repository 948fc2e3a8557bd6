// `espalier/slim`: nothing here says where the module is, so nothing here can confuse a bundler.

import type { WasmSource } from '../index.js';
import { loadOnce } from './engine.js';

export { EspalierError } from './errors.js';
export { initSync, resolve } from './engine.js';

export function init(source: WasmSource | Promise<WasmSource>): Promise<void> {
  return loadOnce(() => source);
}
