// Packages with bundled dependencies: the tarball is fetched, verified, inflated and listed.
// @ts-check

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { EspalierError, resolve } from 'espalier';
import { archive } from './packages.js';
import { startRegistry } from './registry.js';

const MANIFEST = { name: 'app', dependencies: { carrier: '1.0.0' } };
const OWN = { name: 'carrier', version: '1.0.0', dependencies: { cargo: '^1.0.0' }, bundleDependencies: ['cargo'] };
const TARBALL = gzipSync(
  archive({
    'package/package.json': JSON.stringify(OWN),
    'package/index.js': '// nothing\n'.repeat(500),
    'package/node_modules/cargo/package.json': JSON.stringify({ name: 'cargo', version: '1.2.3' }),
  }),
);

/** A registry whose `carrier` has the given tarball and integrity. @param {Buffer} tarball */
function startCarrier(tarball, integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`) {
  const { name: _name, version: _version, ...own } = OWN;
  const dist = { tarball: '/carrier/-/carrier-1.0.0.tgz', integrity };
  return startRegistry({ carrier: { '1.0.0': { ...own, dist } } }, (path, response) => {
    if (path !== 'carrier/-/carrier-1.0.0.tgz') return;
    response.end(tarball);
    return true;
  });
}

/** @param {string} url @returns {Promise<unknown>} */
const failure = (url) => resolve({ manifest: MANIFEST, registry: url }).result.catch((reason) => reason);

test('bundled packages are in the lock, and their packuments are not requested', async () => {
  const { url, paths } = await startCarrier(TARBALL);
  const { lockfile } = await resolve({ manifest: MANIFEST, registry: url }).result;
  const { version, inBundle } = JSON.parse(lockfile).packages['node_modules/carrier/node_modules/cargo'];
  assert.deepEqual([version, inBundle], ['1.2.3', true]);
  assert.ok(!paths().includes('cargo'));
});

test('a tarball with a wrong integrity is not read', async () => {
  const { url } = await startCarrier(TARBALL, `sha512-${createHash('sha512').update('another').digest('base64')}`);
  const error = await failure(url);
  assert.ok(error instanceof EspalierError);
  assert.match(error.message, /its integrity is sha512-.+, but sha512-.+ was expected/);
});

test('a damaged tarball is an error', async () => {
  for (const damaged of [
    TARBALL.subarray(0, TARBALL.length / 2),
    gzipSync('not an archive'.repeat(100)),
    Buffer.from('?'),
  ]) {
    const error = await failure((await startCarrier(damaged)).url);
    assert.ok(error instanceof EspalierError);
    assert.equal(error.code, 'EINVALIDRESPONSE');
  }
});
