import { expect, test } from 'vitest';
import { pack, unpack } from '../src/model/share';

test('packed text is short, fits into an address and unpacks unchanged', async () => {
  const text = `{ "name": "ünïcode", "dependencies": { ${'"a": "^1", '.repeat(200)} "b": "1" } }`;
  const packed = await pack(text);
  expect(packed).toMatch(/^[\w-]+$/);
  expect(packed.length).toBeLessThan(text.length / 4);
  expect(await unpack(packed)).toBe(text);
});

test('truncated or invalid text unpacks to nothing', async () => {
  const packed = await pack('{ "name": "app" }');
  expect(await unpack(packed.slice(0, 6))).toBeUndefined();
  expect(await unpack('$$$')).toBeUndefined();
});
