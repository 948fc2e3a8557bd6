// The worker client, with the worker's script in a real thread.
// @ts-check

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { Worker as Thread } from 'node:worker_threads';
import { createWorkerClient, EspalierError } from 'espalier/worker';
import { startPackages } from './packages.js';
import { startRegistry } from './registry.js';

const PACKAGES = { a: { '1.0.0': { dependencies: { b: '*' } } }, b: { '1.0.0': {} } };
const MANIFEST = { name: 'app', dependencies: { a: '*' } };

/** Gives Node's thread the interface of a browser's worker. */
class Worker extends EventTarget {
  /** @param {string} script */
  constructor(script) {
    super();
    const bridge = `
      const { parentPort } = require('node:worker_threads');
      globalThis.postMessage = (message) => parentPort.postMessage(message);
      const early = [];
      const receive = (data) => (globalThis.onmessage ? globalThis.onmessage({ data }) : early.push(data));
      parentPort.on('message', receive);
      import(${JSON.stringify(script)}).then(() => early.forEach(receive));`;
    this.thread = new Thread(bridge, { eval: true });
    this.thread.on('message', (data) => this.dispatchEvent(new MessageEvent('message', { data })));
    this.thread.on('error', ({ message }) => this.dispatchEvent(Object.assign(new Event('error'), { message })));
  }

  /** @param {unknown} message */
  postMessage(message) {
    this.thread.postMessage(message);
  }

  terminate() {
    void this.thread.terminate();
  }
}

/** A browser's worker fetches the module from beside its script, which Node's `fetch` cannot. */
const wasm = await readFile(new URL(import.meta.resolve('espalier/espalier.wasm')));

/** @param {string} script @param {number} [memory] */
function startClient(script = import.meta.resolve('espalier/worker-entry'), memory) {
  const worker = /** @type {any} */ (new Worker(script));
  const client = createWorkerClient({ worker, wasm, ...(memory === undefined ? {} : { memory }) });
  after(() => client.terminate());
  return client;
}

test('a worker resolves, with events', async () => {
  const { url } = await startRegistry(PACKAGES);
  const resolution = startClient().resolve({ manifest: MANIFEST, registry: new URL(url), before: undefined });
  const placed = [];
  for await (const event of resolution) if (event.type === 'placed') placed.push(event.name);
  assert.deepEqual(placed, ['a', 'b']);
  const { lockfile, graph } = await resolution.result;
  assert.deepEqual(Object.keys(JSON.parse(lockfile).packages), ['', 'node_modules/a', 'node_modules/b']);
  assert.equal(graph.nodes.length, 3);
});

test('with enough memory, a second run requests no document again', async () => {
  const registry = await startRegistry(PACKAGES);
  const other = await startRegistry({ ...PACKAGES, b: { '2.0.0': {} } });
  const client = startClient(undefined, 128 * 1024 * 1024);
  /** @param {object} more */
  const resolved = async (more) =>
    (await client.resolve({ manifest: MANIFEST, registry: registry.url, ...more }).result).lockfile;
  const lockfile = await resolved({});
  const asked = registry.requests.length;
  assert.ok(asked > 0);
  assert.equal(await resolved({}), lockfile);
  assert.equal(await resolved({ offline: true }), lockfile);
  assert.equal(registry.requests.length, asked);
  // Documents of another registry, and those for another token, are kept apart.
  assert.match(await resolved({ registry: other.url }), /"version": "2\.0\.0"/);
  const before = registry.requests.length;
  assert.equal(await resolved({ tokens: { [`${registry.url}/`]: 'secret' } }), lockfile);
  assert.ok(registry.requests.length > before);
});

test('a stale document in memory is requested again', async () => {
  const registry = await startRegistry(
    PACKAGES,
    (_, response) => void response.setHeader('cache-control', 'max-age=0'),
  );
  const client = startClient(undefined, 128 * 1024 * 1024);
  const run = async () => {
    const { length } = registry.requests;
    await client.resolve({ manifest: MANIFEST, registry: registry.url }).result;
    return registry.paths().slice(length).toSorted();
  };
  assert.deepEqual(await run(), ['a', 'a/1.0.0', 'b', 'b/1.0.0']);
  // A version with the same integrity is the same.
  assert.deepEqual(await run(), ['a', 'b']);
});

test('with `events: false`, only `progress` arrives', async () => {
  const { url } = await startRegistry(PACKAGES);
  const types = new Set();
  for await (const { type } of startClient().resolve({ manifest: MANIFEST, registry: url, events: false }))
    types.add(type);
  assert.deepEqual([...types], ['progress']);
});

test('errors arrive as instances of EspalierError', async () => {
  const { url } = await startRegistry({ a: PACKAGES.a });
  const client = startClient();
  const error = await client.resolve({ manifest: MANIFEST, registry: url }).result.catch((reason) => reason);
  assert.ok(error instanceof EspalierError);
  assert.equal(error.code, 'E404');
  assert.deepEqual(
    error.chain.map(({ name }) => name),
    ['app', 'a'],
  );
  await assert.rejects(client.resolve(/** @type {any} */ ({ manifest: MANIFEST, fetch })).result, { code: 'EINPUT' });
});

test('concurrent resolutions are independent, and one can be aborted', async () => {
  const [silent, answering] = [await startRegistry({}, () => true), await startRegistry(PACKAGES)];
  const client = startClient();
  const stopped = client.resolve({ manifest: MANIFEST, registry: silent.url });
  const other = client.resolve({ manifest: MANIFEST, registry: answering.url });
  while (silent.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  stopped.abort(new Error('enough'));
  await assert.rejects(stopped.result, /enough/);
  assert.equal((await other.result).statistics.packages, 2);
  while (!silent.requests[0]?.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
});

const INSTALLED = {
  a: { '1.0.0': { manifest: { bin: 'a.js', dependencies: { b: '*' } }, files: { 'a.js': '1' } } },
  b: { '1.0.0': {} },
};

test("the worker installs into a map and into a stream, at the stream's pace", async () => {
  const { url, paths } = await startPackages(INSTALLED);
  const client = startClient();
  const installation = client.install({ manifest: MANIFEST, registry: url });
  const unpacked = [];
  for await (const event of installation) if (event.type === 'unpacked') unpacked.push(event.name);
  const { files, bins, graph, lockfile } = await installation.result;
  const expected = [
    'node_modules/.bin/a',
    'node_modules/.package-lock.json',
    'node_modules/a/a.js',
    'node_modules/a/package.json',
    'node_modules/b/package.json',
  ];
  assert.deepEqual([...files.keys()].sort(), expected);
  assert.deepEqual([unpacked.sort(), bins.length, graph.nodes.length], [['a', 'b'], 1, 3]);

  const before = paths().length;
  const again = await client.install({ manifest: MANIFEST, lockfile, registry: url, to: files, offline: true }).result;
  assert.deepEqual([again.files, again.installStatistics.kept, paths().length], [files, 2, before]);

  /** @type {string[]} */
  const streamed = [];
  const to = new WritableStream({ write: (entry) => void streamed.push(entry.path) });
  await client.install({ manifest: MANIFEST, registry: url, to }).result;
  assert.deepEqual(streamed.sort(), expected);
});

test('a failing destination ends the installation with its own error', async () => {
  const { url } = await startPackages(INSTALLED);
  const to = new WritableStream({ write: () => Promise.reject(new Error('the disk is full')) });
  await assert.rejects(startClient().install({ manifest: MANIFEST, registry: url, to }).result, /the disk is full/);
});

test('the worker mounts a tree and reads its files', async () => {
  const { url, paths } = await startPackages(INSTALLED);
  const { tree } = await startClient().mount({ manifest: MANIFEST, registry: url }).result;
  assert.deepEqual(await tree.readdir('node_modules'), ['.bin', '.package-lock.json', 'a', 'b']);
  assert.ok(!paths().some((path) => path.endsWith('.tgz')));
  assert.equal(new TextDecoder().decode(await tree.readFile('node_modules/a/a.js')), '1');
  await assert.rejects(tree.readFile('node_modules/nothing'), { code: 'ENOENT' });
  await assert.rejects(tree.readFile('node_modules/b/package.json', { signal: AbortSignal.abort() }), {
    name: 'AbortError',
  });
});

test('the worker explains a package', async () => {
  const { url } = await startRegistry(PACKAGES);
  const client = startClient();
  const { lockfile } = await client.resolve({ manifest: MANIFEST, registry: url }).result;
  const [explanation] = await client.explain({ manifest: MANIFEST, lockfile, package: 'b' });
  assert.equal(explanation?.dependents?.[0]?.from.name, 'a');
});

test('an input that contains functions is refused', async () => {
  const client = startClient();
  const cache = { get: async () => undefined, set: async () => {}, delete: async () => {} };
  await assert.rejects(client.resolve(/** @type {any} */ ({ manifest: MANIFEST, cache })).result, { code: 'EINPUT' });
});

test('`terminate()` rejects the running and all later calls', async () => {
  const silent = await startRegistry({}, () => true);
  const client = startClient();
  const { result } = client.resolve({ manifest: MANIFEST, registry: silent.url });
  while (silent.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  client.terminate();
  await assert.rejects(result, { name: 'AbortError' });
  await assert.rejects(client.resolve({ manifest: MANIFEST }).result, { name: 'AbortError' });
});

test('a worker that crashes rejects with its message', async () => {
  const client = startClient('data:text/javascript,throw new Error("broken script")');
  await assert.rejects(client.resolve({ manifest: MANIFEST }).result, { code: 'EWASM', message: /broken script/ });
});
