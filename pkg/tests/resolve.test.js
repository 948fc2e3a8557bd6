// Results of successful resolutions.
// @ts-check

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { openCache, resolve } from 'espalier';
import { ABBREVIATED, startRegistry } from './registry.js';

const PACKAGES = {
  a: { '1.0.0': { dependencies: { b: '^1.0.0' } } },
  b: { '1.0.0': {}, '1.1.0': {}, '2.0.0': {} },
  '@acme/ui': { '3.0.0': {} },
};

test("the lock is npm's, and its graph, warnings and statistics come with it", async () => {
  const { url } = await startRegistry(PACKAGES);
  const manifest = { name: 'app', version: '1.0.0', dependencies: { a: '^1.0.0', b: '^2.0.0' } };
  const { lockfile, graph, warnings, registry, statistics } = await resolve({ manifest, registry: url }).result;

  const lock = JSON.parse(lockfile);
  assert.equal(lock.lockfileVersion, 3);
  const versions = Object.entries(lock.packages).map(([location, { version }]) => [location, version]);
  assert.deepEqual(versions, [
    ['', '1.0.0'],
    ['node_modules/a', '1.0.0'],
    ['node_modules/a/node_modules/b', '1.1.0'],
    ['node_modules/b', '2.0.0'],
  ]);
  assert.equal(lock.packages['node_modules/b'].resolved, `${url}/b/-/b-2.0.0.tgz`);
  assert.equal(lock.packages['node_modules/b'].license, 'MIT');

  assert.deepEqual(
    graph.nodes.map(({ location }) => location),
    versions.map(([location]) => location),
  );
  const edge = graph.edges.find(({ from, name }) => graph.nodes[from]?.name === 'a' && name === 'b');
  assert.deepEqual(edge && graph.nodes[edge.to ?? -1]?.version, '1.1.0');
  assert.deepEqual(warnings, []);
  assert.equal(registry, `${url}/`);
  assert.equal(statistics.packages, 3);
  assert.ok(statistics.requests >= 2 && statistics.bytes > 0 && statistics.retries === 0);
});

test('bytes are counted before and after decompression', async () => {
  const body = JSON.stringify({ versions: { '1.0.0': { name: 'a', version: '1.0.0', license: 'MIT' } } });
  const sent = gzipSync(body);
  const { url } = await startRegistry({}, (_path, response) => {
    const type = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    response.writeHead(200, { ...type, 'content-length': sent.length }).end(sent);
    return true;
  });
  const { statistics } = await resolve({ manifest: { dependencies: { a: '*' } }, registry: url }).result;
  assert.deepEqual([statistics.requests, statistics.wireBytes, statistics.bytes], [1, sent.length, body.length]);
});

test('a proxy passes on what registries give, and is not mentioned anywhere', async () => {
  const registries = { a: 'http://registry.test/', '@acme/ui': 'http://acme.test/npm/' };
  const { url, requests } = await startRegistry({}, (path, response) => {
    const [, name = '', version = ''] = /^npm\/(.+)\/([^/]+)$/.exec(path) ?? [];
    const registry = registries[/** @type {keyof typeof registries} */ (name)];
    if (!registry) return;
    const tarball = `${registry}${name}/-/${name.split('/').at(-1)}-${version}.tgz`;
    response.end(JSON.stringify({ name, version, license: 'MIT', dist: { tarball, integrity: 'sha512-1==' } }));
    return true;
  });
  const input = {
    manifest: { dependencies: { a: '1.0.0', '@acme/ui': '2.0.0' } },
    registry: 'http://registry.test',
    registries: { '@acme': 'http://acme.test/npm' },
    tokens: { 'http://acme.test/npm/': 'secret' },
    cache: openCache({ name: 'via' }),
  };
  const { lockfile, registry } = await resolve({ ...input, via: `${url}/npm` }).result;
  // The proxy may have its own users, so its documents are for it only.
  const again = await resolve({ ...input, via: `${url}/npm`, offline: true }).result;
  assert.equal(again.lockfile, lockfile);
  await assert.rejects(resolve({ ...input, tokens: {}, offline: true }).result, { code: 'ENOTCACHED' });
  const paths = requests.map(({ path }) => path).sort();
  assert.deepEqual(paths, ['npm/@acme/ui/2.0.0', 'npm/a/1.0.0']);
  assert.ok(requests.every(({ headers }) => headers.authorization === undefined));
  const { packages } = JSON.parse(lockfile);
  assert.equal(packages['node_modules/a'].resolved, 'http://registry.test/a/-/a-1.0.0.tgz');
  assert.equal(packages['node_modules/@acme/ui'].resolved, 'http://acme.test/npm/@acme/ui/-/ui-2.0.0.tgz');
  assert.equal(registry, 'http://registry.test/');
  const manifest = { dependencies: { missing: '1.0.0' } };
  const failing = resolve({ manifest, registry: 'http://registry.test/', via: url, retries: 0 }).result;
  await assert.rejects(failing, { code: 'E404', message: /http:\/\/registry\.test\/missing/ });
});

test('packuments are requested in full where that is hardly longer', async () => {
  const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
  // The license is missing in abbreviated packuments only.
  const manifestOf = (/** @type {number} */ index, /** @type {string} */ padding) => ({
    name: names[index],
    version: '1.0.0',
    dependencies: index + 1 < names.length ? { [names[index + 1] ?? '']: '^1.0.0' } : {},
    dist: { tarball: `http://registry.test/p${index}/-/p${index}-1.0.0.tgz`, integrity: `sha512-${index}==` },
    padding,
  });
  const locks = [];
  for (const [padding, isFull] of /** @type {const} */ ([
    ['', true],
    ['longer '.repeat(100), false],
  ])) {
    const { url, requests } = await startRegistry({}, (path, response) => {
      const [name = '', version] = path.split('/');
      const index = names.indexOf(name);
      const isAbbreviated = !version && requests.at(-1)?.headers.accept?.includes('install-v1');
      const whole = { ...manifestOf(index, padding), license: 'MIT' };
      const type = isAbbreviated ? ABBREVIATED : 'application/json';
      response.writeHead(200, { 'content-type': type });
      const versions = { '1.0.0': isAbbreviated ? manifestOf(index, '') : whole };
      response.end(JSON.stringify(version ? whole : { name, versions, time: { '1.0.0': 'x' } }));
      return true;
    });
    const [manifest, cache] = [{ dependencies: { p0: '1' } }, openCache()];
    const { lockfile } = await resolve({ manifest, registry: url, cache, concurrency: 1 }).result;
    assert.equal(lockfile.match(/"license": "MIT"/g)?.length, names.length);
    const documents = requests.filter(({ path }) => path.includes('/')).length;
    // The second packument shows it. Until then, an abbreviated one is requested.
    assert.equal(documents, isFull ? 1 : names.length - 1);
    const count = requests.length;
    const again = await resolve({ manifest, registry: url, cache }).result;
    assert.deepEqual([again.lockfile, requests.length], [lockfile, count]);
    // npm completes a lock of version 1 from abbreviated packuments. Only those that aren't cached are
    // requested, and they take no other's place.
    const dependencies = Object.fromEntries(names.map((name) => [name, { version: '1.0.0' }]));
    const old = JSON.stringify({ lockfileVersion: 1, dependencies });
    const completed = await resolve({ manifest, lockfile: old, registry: url, cache }).result;
    assert.doesNotMatch(completed.lockfile, /license/);
    const abbreviated = requests.filter(
      ({ path, headers }) => !path.includes('/') && /install/.test(`${headers.accept}`),
    );
    assert.equal(abbreviated.length, names.length);
    const last = await resolve({ manifest, registry: url, cache, offline: true }).result;
    assert.equal(last.lockfile, lockfile);
    locks.push(lockfile);
  }
  assert.equal(locks[0], locks[1]);
});

test('the graph has the sizes that the registry states', async () => {
  const { url } = await startRegistry({
    a: { '1.0.0': { dist: { unpackedSize: 1234, fileCount: 5 } } },
    empty: { '1.0.0': { dist: { unpackedSize: 0, fileCount: 0 } } },
    silent: { '1.0.0': {} },
  });
  const manifest = { dependencies: { a: '*', empty: '*', silent: '*' } };
  const { graph } = await resolve({ manifest, registry: url }).result;
  assert.deepEqual(
    graph.nodes.slice(1).map(({ name, unpackedSize, fileCount }) => [name, unpackedSize, fileCount]),
    [
      ['a', 1234, 5],
      ['empty', 0, 0],
      ['silent', undefined, undefined],
    ],
  );
});

test('the graph marks install scripts and has the Node.js ranges of packages', async () => {
  const { url } = await startRegistry({
    a: { '1.0.0': { hasInstallScript: true, engines: { node: '>=18' } } },
    b: { '1.0.0': { engines: ['node >= 0.6'] } },
  });
  const { graph } = await resolve({ manifest: { dependencies: { a: '*', b: '*' } }, registry: url }).result;
  assert.deepEqual(
    graph.nodes.slice(1).map(({ name, hasInstallScript, nodeRange }) => [name, hasInstallScript, nodeRange]),
    [
      ['a', true, '>=18'],
      ['b', false, undefined],
    ],
  );
});

test('unpaired surrogates are encoded as U+FFFD', async () => {
  const { url } = await startRegistry(PACKAGES);
  const manifest =
    '{ "name": "app", "version": "1.0.0", "license": "half \ud800 and \\\\ud800 whole \u{1f333}", "dependencies": { "b": "1.0.0" } }';
  const { lockfile } = await resolve({ manifest, registry: url }).result;
  assert.equal(JSON.parse(lockfile).packages[''].license, 'half \ufffd and \\ud800 whole \u{1f333}');
});

test('requests carry no header that a browser would ask permission for', async () => {
  const { url, requests } = await startRegistry(PACKAGES);
  await resolve({ manifest: { dependencies: { a: '*' } }, registry: url }).result;
  const usual = ['accept', 'accept-encoding', 'accept-language', 'connection', 'host', 'sec-fetch-mode', 'user-agent'];
  for (const { headers } of requests) {
    assert.deepEqual(
      Object.keys(headers).filter((name) => !usual.includes(name)),
      [],
    );
    // Safelisted: at most 128 bytes, and none of these characters
    // (https://fetch.spec.whatwg.org/#cors-safelisted-request-header).
    assert.match(headers.accept ?? '', /^[^\x00-\x08\x0a-\x1f"():<>?@[\\\]{}\x7f]{1,128}$/);
  }
});

test('every iterator receives all events, whenever it starts', async () => {
  const { url } = await startRegistry(PACKAGES);
  const resolution = resolve({ manifest: { dependencies: { a: '*' } }, registry: url });
  const live = await collected(resolution);
  await resolution.result;
  assert.deepEqual(await collected(resolution), live);

  const placed = live.flatMap((event) => (event.type === 'placed' ? [`${event.location}@${event.version}`] : []));
  assert.deepEqual(placed.toSorted(), ['node_modules/a@1.0.0', 'node_modules/b@1.1.0']);
  const fetched = live.flatMap((event) => (event.type === 'fetched' ? [event.name] : []));
  assert.deepEqual(fetched.toSorted(), ['a', 'b']);

  const batches = await collected(resolution.batches());
  assert.deepEqual(batches.flat(), live);
  for (const batch of batches) assert.equal(batch.at(-1)?.type, 'progress');
});

test('workspaces are read from the files', async () => {
  const { url } = await startRegistry(PACKAGES);
  const files = {
    'package.json': JSON.stringify({ name: 'mono', workspaces: ['packages/*'] }),
    './packages/app/package.json': JSON.stringify({
      name: 'app',
      version: '0.1.0',
      dependencies: { lib: '*', b: '1' },
    }),
    'packages//lib/package.json': JSON.stringify({ name: 'lib', version: '0.2.0' }),
  };
  const { lockfile } = await resolve({ files, registry: url }).result;
  const { packages } = JSON.parse(lockfile);
  assert.deepEqual(packages['node_modules/lib'], { resolved: 'packages/lib', link: true });
  assert.equal(packages['node_modules/b'].version, '1.1.0');
  assert.equal(packages['packages/app'].version, '0.1.0');
});

test('a scope can have its own registry', async () => {
  const [open, acme] = [await startRegistry({ a: PACKAGES.a, b: PACKAGES.b }), await startRegistry(PACKAGES)];
  const manifest = { dependencies: { a: '*', '@acme/ui': '*' } };
  await resolve({ manifest, registry: open.url, registries: { '@acme': new URL(acme.url) } }).result;
  assert.ok(acme.paths().includes('@acme/ui'));
  assert.ok(acme.paths().every((path) => path.startsWith('@acme/ui')));
  assert.ok(open.paths().every((path) => !path.startsWith('@')));
});

test('a lock may have names with capital letters beyond ASCII, whose case JavaScript folds', async () => {
  const { url } = await startRegistry(PACKAGES);
  const packages = { '': {}, 'node_modules/É': { version: '1.0.0' }, 'node_modules/é': { version: '2.0.0' } };
  const lockfile = JSON.stringify({ lockfileVersion: 3, packages });
  const manifest = { dependencies: { b: '1.0.0' } };
  const result = await resolve({ manifest, lockfile, registry: url }).result;
  assert.deepEqual(Object.keys(JSON.parse(result.lockfile).packages), ['', 'node_modules/b']);
});

test('a valid lock stays unchanged, also as one of the files', async () => {
  const { url } = await startRegistry(PACKAGES);
  const manifest = { name: 'app', dependencies: { b: '1.0.0' } };
  const first = await resolve({ manifest, registry: url }).result;
  const loosened = JSON.stringify({ name: 'app', dependencies: { b: '^1.0.0' } });
  const again = await resolve({
    files: { 'package.json': loosened, 'package-lock.json': first.lockfile },
    registry: url,
  }).result;
  assert.equal(JSON.parse(again.lockfile).packages['node_modules/b'].version, '1.0.0');
});

test('many requests cause no warnings of Node.js', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `p${index}`);
  const { url } = await startRegistry(Object.fromEntries(names.map((name) => [name, { '1.0.0': {} }])));
  /** @type {Error[]} */
  const warnings = [];
  const warned = (/** @type {Error} */ warning) => void warnings.push(warning);
  process.on('warning', warned);
  await resolve({ manifest: { dependencies: Object.fromEntries(names.map((name) => [name, '*'])) }, registry: url })
    .result;
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', warned);
  assert.deepEqual(warnings, []);
});

test('`concurrency` limits the number of requests', async () => {
  let pending = 0;
  let most = 0;
  const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
  const { url } = await startRegistry(Object.fromEntries(names.map((name) => [name, { '1.0.0': {} }])));
  /** @type {import('espalier').Fetch} */
  const counting = async (address, init) => {
    most = Math.max(most, ++pending);
    const response = await fetch(address, init);
    await new Promise((resolve) => setTimeout(resolve, 5));
    pending--;
    return response;
  };
  const manifest = { dependencies: Object.fromEntries(names.map((name) => [name, '*'])) };
  await resolve({ manifest, registry: url, concurrency: 3, fetch: counting }).result;
  assert.equal(most, 3);
});

/** @template T @param {AsyncIterable<T>} iterable */
async function collected(iterable) {
  const all = [];
  for await (const item of iterable) all.push(item);
  return all;
}
