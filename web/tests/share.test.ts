import { expect, test } from 'vitest';
import { pack, unpack } from '../src/model/share';

test('a text survives being packed, and fits into an address', async () => {
  const text = `{ "name": "ünïcode", "dependencies": { ${'"a": "^1", '.repeat(200)} "b": "1" } }`;
  const packed = await pack(text);
  expect(packed).toMatch(/^[\w-]+$/);
  expect(packed.length).toBeLessThan(text.length / 4);
  expect(await unpack(packed)).toBe(text);
});

test('what was cut off or made up is nothing', async () => {
  const packed = await pack('{ "name": "app" }');
  expect(await unpack(packed.slice(0, 6))).toBeUndefined();
  expect(await unpack('$$$')).toBeUndefined();
});
