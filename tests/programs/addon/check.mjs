import assert from 'node:assert';
import { createRequire } from 'node:module';

// The addon that the install script built is loaded, not the fallback in JavaScript.
const addon = createRequire(import.meta.url)('bufferutil/build/Release/bufferutil.node');
const masked = Buffer.alloc(4);
addon.mask(Buffer.from([1, 2, 3, 4]), Buffer.from([1, 1, 1, 1]), masked, 0, 4);
assert.deepStrictEqual([...masked], [0, 3, 2, 5]);
