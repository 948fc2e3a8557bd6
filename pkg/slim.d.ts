// The types of `espalier/slim`: the package without `import.meta.url`, for bundlers that can't
// handle it.

import type { WasmSource } from './index.js';

export * from './index.js';

/** Loads the WebAssembly module. Call it with a source before `resolve`. */
export function init(source: WasmSource | Promise<WasmSource>): Promise<void>;
