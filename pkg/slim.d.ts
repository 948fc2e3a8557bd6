// The types of `espalier/slim`: the same package without `import.meta.url`, for bundlers that stumble over it.

import type { WasmSource } from './index.js';

export * from './index.js';

/** Loads the WebAssembly module. It has to be called, with a source, before `resolve`. */
export function init(source: WasmSource | Promise<WasmSource>): Promise<void>;
