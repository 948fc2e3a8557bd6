// Aborting a resolution, by a signal or with `abort()`.
// @ts-check

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resolve } from 'espalier';
import { startRegistry } from './registry.js';

const MANIFEST = { dependencies: { a: '*', b: '*' } };
const PACKAGES = { a: { '1.0.0': {} }, b: { '1.0.0': {} } };

/** A registry that never answers, and a promise that resolves at its second request. */
async function silentRegistry() {
  /** @type {(value?: unknown) => void} */
  let asked;
  const bothAsked = new Promise((resolve) => (asked = resolve));
  let count = 0;
  const registry = await startRegistry(PACKAGES, () => {
    if (++count === 2) asked();
    return true;
  });
  return { ...registry, bothAsked };
}

test('a signal aborts the resolution and its requests, and the result rejects with its reason', async () => {
  const { url, requests, bothAsked } = await silentRegistry();
  const controller = new AbortController();
  const { result } = resolve({ manifest: MANIFEST, registry: url, signal: controller.signal });
  await bothAsked;
  const reason = new Error('no longer interested');
  controller.abort(reason);
  await assert.rejects(result, reason);
  while (!requests.every(({ aborted }) => aborted)) await new Promise((resolve) => setTimeout(resolve, 5));
});

test('`abort()` aborts the resolution and its requests', async () => {
  const { url, bothAsked } = await silentRegistry();
  const resolution = resolve({ manifest: MANIFEST, registry: url });
  await bothAsked;
  resolution.abort();
  await assert.rejects(resolution.result, { name: 'AbortError' });
  await assert.rejects(
    async () => {
      for await (const _event of resolution);
    },
    { name: 'AbortError' },
  );
});

test('a resolution whose signal is already aborted sends no request', async () => {
  const { url, requests } = await startRegistry(PACKAGES);
  await assert.rejects(resolve({ manifest: MANIFEST, registry: url, signal: AbortSignal.abort() }).result, {
    name: 'AbortError',
  });
  assert.deepEqual(requests, []);
});

test('`abort()` after the end does nothing', async () => {
  const { url } = await startRegistry(PACKAGES);
  const resolution = resolve({ manifest: MANIFEST, registry: url });
  const result = await resolution.result;
  resolution.abort();
  assert.equal(await resolution.result, result);
});

test('aborting one resolution does not affect another', async () => {
  const [silent, answering] = [await silentRegistry(), await startRegistry(PACKAGES)];
  const stopped = resolve({ manifest: MANIFEST, registry: silent.url });
  await silent.bothAsked;
  const other = resolve({ manifest: MANIFEST, registry: answering.url });
  stopped.abort();
  await assert.rejects(stopped.result, { name: 'AbortError' });
  assert.equal((await other.result).statistics.packages, 2);
});
