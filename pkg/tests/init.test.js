// Loading the module from every kind of source, failures to load it, and crashes of it.
// @ts-check

import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, mock, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startPackages } from './packages.js';
import { startRegistry } from './registry.js';

const WASM = new URL(import.meta.resolve('espalier/espalier.wasm'));
const MANIFEST = { dependencies: { a: '*' } };

/** Fresh copies of the package, each with an instance of its own. */
const folder = await mkdtemp(join(tmpdir(), 'espalier-init-'));
after(() => rm(folder, { recursive: true, force: true }));
let copies = 0;
const fresh = () => freshly('./slim.js');
const freshFull = () => freshly('./node.js');

/** @param {string} entry @returns {Promise<typeof import('espalier/slim')>} */
async function freshly(entry) {
  const copy = join(folder, `${++copies}`);
  await cp(new URL('.', WASM), copy, { recursive: true });
  await cp(new URL('../package.json', WASM), join(copy, 'package.json'));
  return import(join(copy, entry));
}

/** @param {string} contentType */
async function served(contentType) {
  const server = createServer(async (request, response) => {
    if (request.url !== '/espalier.wasm') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': contentType }).end(await readFile(WASM));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  after(() => void server.close());
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return `http://127.0.0.1:${port}/espalier.wasm`;
}

/** @param {typeof import('espalier/slim')} espalier */
async function works(espalier) {
  const { url } = await startRegistry({ a: { '1.0.0': {} } });
  const { statistics } = await espalier.resolve({ manifest: MANIFEST, registry: url }).result;
  assert.equal(statistics.packages, 1);
}

test('`init` takes every kind of source', async () => {
  const bytes = await readFile(WASM);
  const module = await WebAssembly.compile(bytes);
  const streamed = await served('application/wasm');
  const mistyped = await served('application/octet-stream');
  const sources = [bytes, module, new URL(streamed), mistyped, fetch(streamed), fetch(mistyped)];
  for (const source of sources) {
    const espalier = await fresh();
    await espalier.init(source);
    await works(espalier);
  }
});

test('in Node.js, `init` also takes the URL of a file', async () => {
  for (const source of [WASM, fileURLToPath(WASM)]) {
    const espalier = await freshFull();
    await espalier.init(source);
    await works(espalier);
  }
});

test('`initSync` loads synchronously', async () => {
  const espalier = await fresh();
  espalier.initSync(await readFile(WASM));
  await works(espalier);
});

test('a second `init` changes nothing', async () => {
  const espalier = await fresh();
  const first = espalier.init(WebAssembly.compile(await readFile(WASM)));
  assert.equal(espalier.init('http://127.0.0.1:9/never-asked-for'), first);
  await works(espalier);
});

test('the error of the slim package asks for a source', async () => {
  const espalier = await fresh();
  await assert.rejects(espalier.resolve({ manifest: MANIFEST }).result, { code: 'EWASM', message: /init\(source\)/ });
});

test('`init` can be called again after a failure', async () => {
  const espalier = await fresh();
  const address = await served('application/wasm');
  await assert.rejects(espalier.init(`${address}.missing`), { code: 'EWASM', message: /status 404/ });
  await assert.rejects(espalier.init(new Uint8Array([1, 2, 3])), { code: 'EWASM' });
  await espalier.init(address);
  await works(espalier);
});

test('a crash rejects the current runs, and the next resolution has a fresh instance', async () => {
  const espalier = await fresh();
  await espalier.init(await readFile(WASM));
  const silent = await startRegistry({}, () => true);
  const input = { manifest: MANIFEST, registry: silent.url, timeout: 200 };
  const other = espalier.resolve(input);
  // This installation has its tree already, and waits for a tarball.
  const withoutTarballs = await startPackages({ a: { '1.0.0': {} } }, (path) => path.endsWith('.tgz'));
  const installing = espalier.install({ manifest: MANIFEST, registry: withoutTarballs.url, timeout: 200 });
  const wanted = () => withoutTarballs.paths().some((path) => path.endsWith('.tgz'));
  while (silent.requests.length === 0 || !wanted()) await new Promise((resolve) => setTimeout(resolve, 5));

  // Rust asks for the time before it looks for remedies. It expects no exception there, so one acts
  // like a trap.
  const peers = { x: { '1.0.0': { peerDependencies: { a: '1.0.0' } } }, a: { '1.0.0': {}, '2.0.0': {} } };
  const { url } = await startRegistry(peers);
  const now = Date.now.bind(Date);
  const clock = mock.method(Date, 'now', () => {
    if (new Error().stack?.includes('wasm')) throw new Error('time stands still');
    return now();
  });
  const crash = { code: 'ECRASH', message: /time stands still/ };
  await assert.rejects(
    espalier.resolve({ manifest: { dependencies: { x: '*', a: '2.0.0' } }, registry: url, timeout: 2000 }).result,
    crash,
  );
  clock.mock.restore();
  await assert.rejects(other.result, crash);
  await assert.rejects(installing.result, crash);
  await works(espalier);

  // The timers and the request of the old instance end without effect.
  silent.close();
  await new Promise((resolve) => setTimeout(resolve, 300));
  await works(espalier);
});
