// Snapshots in place of requests: which documents they supply, and what a result states about them.
// @ts-check

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { resolve } from 'espalier';
import { startRegistry } from './registry.js';

const PACKAGES = { a: { '1.0.0': { dependencies: { '@s/b': '^1.0.0' } } }, '@s/b': { '1.0.0': {}, '1.1.0': {} } };
const MANIFEST = { name: 'project', dependencies: { a: '*' } };
const HOUR = 3_600_000;

/**
 * As `espalier snapshot` writes it, of what a resolution asks for; the documents are of `date`.
 * @param {string} registry @param {number} date @param {string} [base] Where documents' addresses count from.
 */
async function taken(registry, date, base = '') {
  /** @type {object[]} */
  const documents = [];
  /** @type {Buffer[]} */
  const bodies = [];
  /** @type {import('espalier').Fetch} */
  const noted = async (address, init) => {
    const answer = await fetch(address, init);
    const body = Buffer.from(await answer.clone().arrayBuffer());
    documents.push({
      address: address.slice(base.length),
      accept: init.headers.accept,
      final: /\/\d[^/]*$/.test(address),
      contentType: answer.headers.get('content-type'),
      date: date / 1000,
      freshUntil: date / 1000 + 300,
      length: body.length,
    });
    bodies.push(body);
    return answer;
  };
  const { lockfile } = await resolve({ manifest: MANIFEST, registry, fetch: noted }).result;
  const head = Buffer.from(`${JSON.stringify({ snapshot: 1, documents })}\n`);
  return { snapshot: new Uint8Array(gzipSync(Buffer.concat([head, ...bodies]))), lockfile };
}

test('a resolution from a snapshot sends no request, and lists documents that are too old', async () => {
  const { url, paths } = await startRegistry(PACKAGES);
  const date = Date.now() - HOUR;
  const { snapshot, lockfile } = await taken(url, date);
  const before = paths().length;
  assert.equal(before, 4);
  const older = [`${url}/@s%2fb`, `${url}/a`].map((address) => ({ address, date }));
  for (const given of [snapshot, snapshot.buffer, new Blob([snapshot])]) {
    const result = await resolve({ manifest: MANIFEST, registry: url, snapshot: given }).result;
    assert.equal(result.lockfile, lockfile);
    assert.equal(result.snapshot?.documents, 4);
    assert.deepEqual(
      result.snapshot?.older.sort((one, other) => one.address.localeCompare(other.address)),
      older,
    );
    assert.equal(result.statistics.requests, 0);
  }
  assert.equal(paths().length, before);
});

test('a snapshot is read while it is downloaded', async () => {
  const { url } = await startRegistry(PACKAGES);
  const { snapshot, lockfile } = await taken(url, Date.now());
  const half = snapshot.length >> 1;
  const server = createServer((request, response) => {
    if (request.url !== '/app.snapshot') return void response.writeHead(404).end();
    response.write(snapshot.subarray(0, half), () => setImmediate(() => response.end(snapshot.subarray(half))));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const address = new URL(`http://127.0.0.1:${port}/app.snapshot`);
  try {
    for (const given of [address, address.href]) {
      const result = await resolve({ manifest: MANIFEST, registry: url, snapshot: given }).result;
      assert.equal(result.lockfile, lockfile);
      assert.equal(result.statistics.requests, 0);
    }
    const elsewhere = resolve({ manifest: MANIFEST, registry: url, snapshot: new URL('/other', address) });
    await assert.rejects(elsewhere.result, { code: 'EINPUT', message: /\/other answered with status 404$/ });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('relative addresses in a snapshot are relative to its own', async () => {
  const { url, paths } = await startRegistry(PACKAGES);
  const { snapshot, lockfile } = await taken(url, Date.now(), url);
  const server = createServer((_request, response) => response.end(snapshot));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const before = paths().length;
  try {
    const registry = `http://127.0.0.1:${port}`;
    const result = await resolve({ manifest: MANIFEST, registry, snapshot: new URL('/app.snapshot', registry) }).result;
    assert.equal(result.lockfile.replaceAll(registry, url), lockfile);
    assert.equal(result.statistics.requests, 0);
    await assert.rejects(resolve({ manifest: MANIFEST, registry, snapshot }).result, { code: 'EINPUT' });
  } finally {
    server.closeAllConnections();
    server.close();
  }
  assert.equal(paths().length, before);
});

test('only documents that may have changed are requested again, and none with an earlier `before`', async () => {
  const { url, paths } = await startRegistry(PACKAGES);
  const date = Date.now() - HOUR;
  const { snapshot, lockfile } = await taken(url, date);
  /** @param {object} options */
  const asked = async (options) => {
    const before = paths().length;
    const result = await resolve({ manifest: MANIFEST, registry: url, snapshot, ...options }).result;
    assert.equal(result.lockfile, lockfile);
    return paths().slice(before).sort();
  };
  assert.deepEqual(await asked({ snapshotSince: date }), []);
  assert.deepEqual(await asked({ snapshotSince: date + 1000 }), ['@s/b', 'a']);
});

test('an invalid or truncated snapshot is refused', async () => {
  const { url, paths } = await startRegistry(PACKAGES);
  const { snapshot } = await taken(url, Date.now());
  const damaged = snapshot.slice();
  // The checksum of the file precedes its length.
  damaged.fill(0, -8, -4);
  const nothing = new Uint8Array(gzipSync('{}\n'));
  const cases = [new Uint8Array([1, 2, 3]), nothing, snapshot.slice(0, -20), damaged];
  const before = paths().length;
  for (const given of cases) {
    const resolution = resolve({ manifest: MANIFEST, registry: url, snapshot: given });
    await assert.rejects(resolution.result, { code: 'EINPUT', message: /^`snapshot` can't be used: / });
  }
  assert.equal(paths().length, before);
  const wrong = /** @type {any} */ ('text');
  await assert.rejects(resolve({ manifest: MANIFEST, registry: url, snapshot: wrong }).result, { code: 'EINPUT' });
});
