// Caches between runs: in memory, and of the caller's own. tests/e2e/cache.spec.ts tests IndexedDB
// in a browser.
// @ts-check

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { install, openCache, resolve } from 'espalier';
import { startPackages } from './packages.js';

const PACKAGES = { a: { '1.0.0': { manifest: { dependencies: { b: '*' } } } }, b: { '1.0.0': {} } };
const MANIFEST = { name: 'project', dependencies: { a: '*' } };

/** A cache whose content a test can inspect. */
class Shelf {
  /** @type {Map<string, import('espalier').CacheEntry>} */
  entries = new Map();
  /** @param {string} key */
  async get(key) {
    return this.entries.get(key);
  }
  /** @param {string} key @param {import('espalier').CacheEntry} entry */
  async set(key, entry) {
    this.entries.set(key, entry);
  }
  /** @param {string} key */
  async delete(key) {
    this.entries.delete(key);
  }
}

test('cached documents and tarballs are not fetched again, and work offline', async () => {
  const { url, requests, close } = await startPackages(PACKAGES);
  const cache = new Shelf();
  const first = await install({ manifest: MANIFEST, registry: url, cache }).result;
  const count = requests.length;
  assert.ok(count > 0 && first.statistics.cached === 0);
  const second = await install({ manifest: MANIFEST, registry: url, cache }).result;
  assert.equal(requests.length, count);
  assert.deepEqual(
    [second.lockfile, second.statistics.requests, second.installStatistics.cached],
    [first.lockfile, 0, 2],
  );
  close();
  const offline = await install({ manifest: MANIFEST, registry: url, cache, offline: true }).result;
  assert.deepEqual([...offline.files.keys()].sort(), [...first.files.keys()].sort());
});

test('a document that is not cached is a typed error offline', async () => {
  const { url, requests } = await startPackages(PACKAGES);
  const error = await resolve({ manifest: MANIFEST, registry: url, cache: new Shelf(), offline: true }).result.catch(
    (reason) => reason,
  );
  assert.deepEqual([error.code, error.package, requests.length], ['ENOTCACHED', 'a', 0]);
});

test('stale documents are fetched again, unless the cache is preferred', async () => {
  const { url, paths } = await startPackages(PACKAGES);
  const cache = new Shelf();
  await resolve({ manifest: MANIFEST, registry: url, cache }).result;
  for (const entry of cache.entries.values()) entry.freshUntil = 1;
  const before = paths().length;
  await resolve({ manifest: MANIFEST, registry: url, cache, preferOffline: true }).result;
  assert.equal(paths().length, before);
  await resolve({ manifest: MANIFEST, registry: url, cache }).result;
  assert.ok(paths().length > before);
});

test('damaged entries are replaced', async () => {
  const { url } = await startPackages(PACKAGES);
  const cache = new Shelf();
  const first = await install({ manifest: MANIFEST, registry: url, cache }).result;
  const garbage = new TextEncoder().encode('garbage');
  for (const [key, entry] of cache.entries) cache.entries.set(key, { ...entry, bytes: garbage });
  const again = await install({ manifest: MANIFEST, registry: url, cache }).result;
  assert.deepEqual([...again.files.keys()].sort(), [...first.files.keys()].sort());
  for (const entry of cache.entries.values()) assert.notDeepEqual(entry.bytes, garbage);
});

test('a resolution goes on without a cache that fails', async () => {
  const { url } = await startPackages(PACKAGES);
  const broken = {
    get: () => Promise.reject(new Error('no')),
    set: () => Promise.reject(new Error('no')),
    delete: () => Promise.reject(new Error('no')),
    flush: () => Promise.reject(new Error('no')),
  };
  const { files } = await install({ manifest: MANIFEST, registry: url, cache: broken }).result;
  assert.ok(files.has('node_modules/b/package.json'));
});

test('a document that needed a token is not given to a run without it', async () => {
  const { url, paths } = await startPackages(PACKAGES);
  const cache = new Shelf();
  await resolve({ manifest: MANIFEST, registry: url, tokens: { [url]: 'secret' }, cache }).result;
  const before = paths().length;
  await resolve({ manifest: MANIFEST, registry: url, cache }).result;
  assert.ok(paths().length > before);
  assert.ok(![...cache.entries.keys()].some((key) => key.includes('secret')));
});

test('without IndexedDB, the cache is in memory, up to a limit', async () => {
  const cache = openCache({ name: 'small', maxBytes: 100 });
  const entry = { bytes: new Uint8Array(40) };
  for (const key of ['a', 'b']) await cache.set(key, entry);
  await cache.get('a');
  await cache.set('c', entry);
  assert.deepEqual(
    [(await cache.get('a')) !== undefined, await cache.get('b'), (await cache.get('c')) !== undefined],
    [true, undefined, true],
  );
  assert.equal(openCache({ name: 'small', maxBytes: 100 }), cache);
});
