// Installations in JavaScript: files, links, modes and refusals.
// @ts-check

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EspalierError, install, mount, resolve } from 'espalier';
import { integrityOf, startPackages } from './packages.js';

const BINARY = Buffer.from(Array.from({ length: 3000 }, (_, index) => index % 256));
const PACKAGES = {
  app: {
    '1.0.0': {
      manifest: { bin: './cli.js', dependencies: { lib: '^1.0.0' } },
      files: {
        'cli.js': '#!/usr/bin/env node\r\nrun();\r\n',
        'icon.png': BINARY,
        'run.sh': { content: 'echo', mode: 0o755 },
        secret: { content: '', mode: 0o400 },
      },
    },
  },
  lib: {
    '1.0.0': { files: { 'index.js': 'module.exports = 1;' } },
    '2.0.0': { files: { 'index.js': 'module.exports = 2;' } },
  },
  '@acme/ui': { '1.0.0': { files: { 'dist/index.js': 'ui' } } },
};
const MANIFEST = {
  name: 'project',
  dependencies: { app: '1.0.0', lib: '2.0.0' },
  devDependencies: { '@acme/ui': '*' },
};

/** @param {import('espalier').Files} files */
function shown(files) {
  return [...files.values()]
    .map((entry) => `${entry.path} ${entry.type === 'link' ? `-> ${entry.target}` : entry.mode.toString(8)}`)
    .sort();
}

/** @param {import('espalier').Files} files @param {string} path */
function text(files, path) {
  const entry = files.get(path);
  assert.ok(entry?.type === 'file', path);
  return Buffer.from(entry.bytes).toString();
}

/** @param {import('espalier').InstallInput} input */
async function failure(input) {
  const error = await install({ retries: 0, ...input }).result.then(
    () => undefined,
    (/** @type {unknown} */ reason) => reason,
  );
  assert.ok(error instanceof EspalierError, `${error} is an EspalierError`);
  return error;
}

/** @param {string[]} paths */
const tarballs = (paths) => paths.filter((path) => path.endsWith('.tgz')).map((path) => path.split('/').at(-1));

test("files, modes, links and the hidden lockfile are npm's", async () => {
  const { url } = await startPackages(PACKAGES);
  const { files, bins, packages, hiddenLockfile, installStatistics } = await install({
    manifest: MANIFEST,
    registry: url,
  }).result;
  assert.deepEqual(shown(files), [
    'node_modules/.bin/app -> ../app/cli.js',
    'node_modules/.package-lock.json 644',
    'node_modules/@acme/ui/dist/index.js 644',
    'node_modules/@acme/ui/package.json 644',
    'node_modules/app/cli.js 755',
    'node_modules/app/icon.png 644',
    'node_modules/app/node_modules/lib/index.js 644',
    'node_modules/app/node_modules/lib/package.json 644',
    'node_modules/app/package.json 644',
    'node_modules/app/run.sh 755',
    'node_modules/app/secret 644',
    'node_modules/lib/index.js 644',
    'node_modules/lib/package.json 644',
  ]);
  assert.equal(text(files, 'node_modules/app/cli.js'), '#!/usr/bin/env node\nrun();\r\n');
  const icon = files.get('node_modules/app/icon.png');
  assert.ok(icon?.type === 'file' && BINARY.equals(icon.bytes));
  assert.equal(text(files, 'node_modules/.package-lock.json'), hiddenLockfile);
  assert.deepEqual(Object.keys(JSON.parse(hiddenLockfile).packages), packages.map(({ location }) => location).sort());
  assert.deepEqual(
    bins.map(({ path, package: location, file }) => [path, location, file]),
    [['node_modules/.bin/app', 'node_modules/app', 'cli.js']],
  );
  assert.deepEqual([installStatistics.installed, installStatistics.fetched, installStatistics.kept], [4, 4, 0]);
});

test('present packages stay, and extraneous packages are removed', async () => {
  const { url, paths } = await startPackages(PACKAGES);
  const { files, lockfile } = await install({ manifest: MANIFEST, registry: url }).result;
  const before = paths().length;
  const untouched = files.get('node_modules/app/icon.png');
  const changed = { name: 'project', dependencies: { app: '1.0.0', lib: '1.0.0' } };
  const again = await install({ manifest: changed, lockfile, registry: url, to: files }).result;
  assert.deepEqual(tarballs(paths().slice(before)), ['lib-1.0.0.tgz']);
  assert.equal(again.files, files);
  assert.equal(files.get('node_modules/app/icon.png'), untouched);
  assert.equal(text(files, 'node_modules/lib/index.js'), 'module.exports = 1;');
  assert.ok(![...files.keys()].some((path) => path.includes('@acme') || path.includes('app/node_modules')));
  assert.deepEqual([again.installStatistics.installed, again.installStatistics.kept], [1, 1]);

  const fresh = await install({ manifest: changed, lockfile: again.lockfile, registry: url }).result;
  assert.deepEqual(shown(files), shown(fresh.files));
});

test('without a hidden lockfile, `node_modules` is replaced, and other files stay', async () => {
  const { url } = await startPackages(PACKAGES);
  /** @type {import('espalier').Files} */
  const files = new Map();
  for (const path of ['node_modules/old/index.js', 'src/index.js', 'node_modules_old/x']) {
    files.set(path, { type: 'file', path, bytes: new Uint8Array(), mode: 0o644 });
  }
  await install({ manifest: { dependencies: { lib: '*' } }, registry: url, to: files }).result;
  assert.deepEqual([...files.keys()].sort(), [
    'node_modules/.package-lock.json',
    'node_modules/lib/index.js',
    'node_modules/lib/package.json',
    'node_modules_old/x',
    'src/index.js',
  ]);
});

test('kinds of dependencies can be omitted', async () => {
  const { url } = await startPackages(PACKAGES);
  const { files, lockfile } = await install({ manifest: MANIFEST, registry: url, omit: ['dev'] }).result;
  assert.ok(![...files.keys()].some((path) => path.includes('@acme')));
  assert.ok(lockfile.includes('@acme/ui'));
});

test('a frozen installation insists on a lockfile that fits', async () => {
  const { url } = await startPackages(PACKAGES);
  const { lockfile } = await install({ manifest: MANIFEST, registry: url }).result;
  const again = await install({ manifest: MANIFEST, lockfile, frozen: true, registry: url }).result;
  assert.equal(again.lockfile, lockfile);
  const other = { ...MANIFEST, dependencies: { ...MANIFEST.dependencies, lib: '1.0.0' } };
  const error = await failure({ manifest: other, lockfile, frozen: true, registry: url });
  assert.equal(error.code, 'EUSAGE');
  assert.match(error.differences?.join() ?? '', /lib@2\.0\.0 does not satisfy lib@1\.0\.0/);
  assert.equal((await failure({ manifest: MANIFEST, frozen: true, registry: url })).code, 'EUSAGE');
});

test('workspaces are linked', async () => {
  const { url } = await startPackages(PACKAGES);
  const files = {
    'package.json': JSON.stringify({ name: 'mono', workspaces: ['packages/*'] }),
    'packages/one/package.json': JSON.stringify({
      name: 'one',
      version: '1.0.0',
      bin: 'one.js',
      dependencies: { lib: '1.0.0' },
    }),
    'packages/two/package.json': JSON.stringify({ name: '@s/two', version: '1.0.0', dependencies: { lib: '2.0.0' } }),
  };
  const { links, files: installed } = await install({ files, registry: url }).result;
  assert.deepEqual(
    links.map(({ path, target }) => [path, target]),
    [
      ['node_modules/@s/two', '../../packages/two'],
      ['node_modules/one', '../packages/one'],
    ],
  );
  assert.ok(installed.has('packages/two/node_modules/lib/index.js'));
});

test('a tarball with a wrong integrity is fetched once more, and then refused', async () => {
  const integrity = integrityOf(Buffer.from('another'));
  const { url, paths } = await startPackages({ lib: { '1.0.0': { integrity } } });
  const error = await failure({ manifest: { name: 'p', dependencies: { lib: '1.0.0' } }, registry: url, retries: 1 });
  assert.deepEqual(
    [error.code, error.package, error.location, error.url],
    ['EINTEGRITY', 'lib', 'node_modules/lib', `${url}/lib/-/lib-1.0.0.tgz`],
  );
  assert.deepEqual(
    error.chain.map(({ name, spec }) => [name, spec]),
    [['p', '1.0.0']],
  );
  assert.equal(tarballs(paths()).length, 2);
});

test('a tarball of another package is refused', async () => {
  const { url } = await startPackages({
    lib: { '1.0.0': { manifest: {}, files: { 'package.json': '{"name":"other","version":"1.0.0"}' } } },
  });
  const error = await failure({ manifest: { dependencies: { lib: '1.0.0' } }, registry: url });
  assert.match(error.message, /is of other@1\.0\.0, but lib@1\.0\.0 was asked for/);
});

test('a lockfile that sends a name elsewhere is refused before anything is fetched', async () => {
  const { url, paths } = await startPackages(PACKAGES);
  const manifest = { name: 'p', dependencies: { lib: '1.0.0' } };
  const { lockfile } = await install({ manifest, registry: url }).result;
  const before = tarballs(paths()).length;
  const elsewhere = lockfile.replace(`${url}/lib/-/lib-1.0.0.tgz`, 'http://evil.test/lib/-/lib-1.0.0.tgz');
  assert.equal((await failure({ manifest, lockfile: elsewhere, registry: url })).code, 'EALLOWREMOTE');
  const another = lockfile.replace(`${url}/lib/-/lib-1.0.0.tgz`, `${url}/app/-/app-1.0.0.tgz`);
  assert.equal((await failure({ manifest, lockfile: another, registry: url })).code, 'ELOCKNAME');
  const outside = lockfile.replace('"node_modules/lib"', '"node_modules/../../lib"');
  assert.ok(
    ['EINVALIDLOCK', 'EUSAGE'].includes(
      (await failure({ manifest, lockfile: outside, registry: url, frozen: true })).code,
    ),
  );
  assert.equal(tarballs(paths()).length, before);
});

test('an optional package that cannot be fetched is left out, with the packages that only it needs', async () => {
  const { url } = await startPackages(
    {
      fine: { '1.0.0': {} },
      broken: { '1.0.0': { manifest: { dependencies: { helper: '*' } } } },
      helper: { '1.0.0': {} },
    },
    (path, response) => path.startsWith('broken/-/') && (response.writeHead(404).end(), true),
  );
  const manifest = { dependencies: { fine: '*' }, optionalDependencies: { broken: '*' } };
  const installation = install({ manifest, registry: url });
  const { files, leftOut, hiddenLockfile, lockfile } = await installation.result;
  assert.deepEqual(leftOut.map(({ location }) => location).sort(), ['node_modules/broken', 'node_modules/helper']);
  assert.deepEqual(
    [...files.keys()].filter((path) => path.endsWith('package.json')),
    ['node_modules/fine/package.json'],
  );
  assert.deepEqual(Object.keys(JSON.parse(hiddenLockfile).packages), ['node_modules/fine']);
  assert.ok(lockfile.includes('node_modules/broken'));
});

test('bundled packages come with their bundler, and missing ones are fetched', async () => {
  const carrier = {
    manifest: { dependencies: { cargo: '1.0.0' }, bundleDependencies: ['cargo'] },
    files: { 'node_modules/cargo/package.json': '{"name":"cargo","version":"1.0.0"}', 'node_modules/cargo/x.js': 'x' },
  };
  const { url, paths } = await startPackages({ carrier: { '1.0.0': carrier } });
  const { files, packages } = await install({ manifest: { dependencies: { carrier: '*' } }, registry: url }).result;
  assert.equal(text(files, 'node_modules/carrier/node_modules/cargo/x.js'), 'x');
  assert.deepEqual(
    packages.filter(({ bundled }) => bundled).map(({ name }) => name),
    ['cargo'],
  );
  assert.deepEqual(tarballs(paths()), ['carrier-1.0.0.tgz']);
});

test('a package that a bundle lacks comes only from its registry', async () => {
  const carrier = { manifest: { dependencies: { cargo: '1.0.0' }, bundleDependencies: ['cargo'] } };
  const { url, paths } = await startPackages({
    carrier: { '1.0.0': carrier },
    cargo: { '1.0.0': { files: { 'x.js': 'x' } } },
  });
  const manifest = { name: 'p', dependencies: { carrier: '*' } };
  /** @param {string} from */
  const lock = async (from) => {
    const { lockfile } = await resolve({ manifest, registry: url }).result;
    const { packages, ...rest } = JSON.parse(lockfile);
    const { resolved, integrity } = JSON.parse(
      (await resolve({ manifest: { dependencies: { cargo: '*' } }, registry: url }).result).lockfile,
    ).packages['node_modules/cargo'];
    const bundled = {
      version: '1.0.0',
      resolved: resolved.replace(url, from),
      integrity,
      inBundle: true,
      license: 'MIT',
    };
    return JSON.stringify({ ...rest, packages: { ...packages, 'node_modules/carrier/node_modules/cargo': bundled } });
  };
  const { files } = await install({ manifest, lockfile: await lock(url), frozen: true, registry: url }).result;
  assert.equal(text(files, 'node_modules/carrier/node_modules/cargo/x.js'), 'x');
  assert.deepEqual(tarballs(paths()).slice(-2), ['carrier-1.0.0.tgz', 'cargo-1.0.0.tgz']);
  const error = await failure({ manifest, lockfile: await lock('http://evil.test'), frozen: true, registry: url });
  assert.equal(error.code, 'EALLOWREMOTE');
});

test('a package with several locations is fetched once', async () => {
  const top = (/** @type {string} */ version) => ({ manifest: { dependencies: { lib: version } } });
  const { url, paths } = await startPackages({
    a: { '1.0.0': top('1.0.0') },
    b: { '1.0.0': top('1.0.0') },
    lib: PACKAGES.lib,
  });
  const { files } = await install({ manifest: { dependencies: { a: '*', b: '*', lib: '2.0.0' } }, registry: url })
    .result;
  for (const name of ['a', 'b'])
    assert.equal(text(files, `node_modules/${name}/node_modules/lib/index.js`), 'module.exports = 1;');
  assert.equal(tarballs(paths()).filter((name) => name === 'lib-1.0.0.tgz').length, 1);
});

test('a stream receives all entries at its own pace', async () => {
  const { url } = await startPackages(PACKAGES);
  /** @type {string[]} */
  const received = [];
  let waiting = 0;
  let most = 0;
  const to = new WritableStream({
    async write(entry) {
      most = Math.max(most, ++waiting);
      await new Promise((resolve) => setTimeout(resolve, 2));
      waiting--;
      received.push(entry.path);
    },
  });
  const { files } = await install({ manifest: MANIFEST, registry: url, to }).result;
  assert.equal(files.size, 0);
  assert.equal(received.length, 13);
  assert.equal(received.at(-1), 'node_modules/.package-lock.json');
  assert.equal(most, 1);
  assert.equal(to.locked, true);
});

test('a stream that fails ends the installation', async () => {
  const { url } = await startPackages(PACKAGES);
  const full = new Error('the disk is full');
  const to = new WritableStream({ write: () => Promise.reject(full) });
  await assert.rejects(install({ manifest: MANIFEST, registry: url, to }).result, full);
});

test('events report the plan and its progress', async () => {
  const { url } = await startPackages(PACKAGES);
  const installation = install({ manifest: MANIFEST, registry: url });
  const events = [];
  for await (const event of installation) events.push(event);
  const types = new Set(events.map(({ type }) => type));
  for (const type of ['fetched', 'picked', 'placed', 'progress', 'planned', 'unpacked'])
    assert.ok(types.has(/** @type {any} */ (type)), type);
  const unpacked = events.flatMap((event) => (event.type === 'unpacked' ? [event.location] : []));
  assert.deepEqual(unpacked.sort(), [
    'node_modules/@acme/ui',
    'node_modules/app',
    'node_modules/app/node_modules/lib',
    'node_modules/lib',
  ]);
});

test('an installation can be aborted at any moment', async () => {
  for (let moment = 0; moment < 30; moment++) {
    const { url } = await startPackages(PACKAGES);
    const installation = install({ manifest: MANIFEST, registry: url });
    let count = 0;
    const reason = new Error('enough');
    const watching = (async () => {
      for await (const _event of installation) if (count++ === moment) installation.abort(reason);
    })();
    const [outcome] = await Promise.allSettled([installation.result, watching]);
    if (outcome.status === 'rejected') assert.equal(outcome.reason, reason);
    else assert.ok(count <= moment || moment > 10);
  }
});

test('a mounted tree fetches a package once, at the first read', async () => {
  const { url, paths } = await startPackages(PACKAGES);
  const { tree } = await mount({ manifest: MANIFEST, registry: url, files: { 'src/a.js': 'own' } }).result;
  assert.deepEqual(await tree.readdir('node_modules'), ['.bin', '.package-lock.json', '@acme', 'app', 'lib']);
  assert.deepEqual(await tree.readdir(''), ['node_modules', 'src']);
  assert.deepEqual(await tree.lstat('node_modules/.bin/app'), { type: 'link', target: '../app/cli.js' });
  assert.deepEqual(tarballs(paths()), []);

  const decoder = new TextDecoder();
  const [bin, again] = await Promise.all([
    tree.readFile('node_modules/.bin/app'),
    tree.readFile('/node_modules/app/./cli.js'),
  ]);
  assert.equal(decoder.decode(bin), '#!/usr/bin/env node\nrun();\r\n');
  assert.equal(again, bin);
  assert.deepEqual(tarballs(paths()), ['app-1.0.0.tgz']);
  assert.deepEqual(await tree.lstat('node_modules/app/run.sh'), { type: 'file', size: 4, mode: 0o755 });
  assert.deepEqual(await tree.readdir('node_modules/app'), [
    'cli.js',
    'icon.png',
    'node_modules',
    'package.json',
    'run.sh',
    'secret',
  ]);
  assert.equal(decoder.decode(await tree.readFile('src/a.js')), 'own');
  await assert.rejects(tree.readFile('node_modules/app/nothing'), { code: 'ENOENT' });
  await assert.rejects(tree.readFile('node_modules/app'), { code: 'EISDIR' });
  await assert.rejects(tree.readFile('../../etc/passwd'), { code: 'ENOENT' });
  await tree.load(['node_modules/lib']);
  assert.deepEqual(tarballs(paths()), ['app-1.0.0.tgz', 'lib-2.0.0.tgz']);
});

test('a failed fetch is repeated at the next read', async () => {
  const { url } = await startPackages({ lib: PACKAGES.lib }, (path, response, before) => {
    return path.endsWith('.tgz') && before === 0 && (response.writeHead(404).end(), true);
  });
  const { tree } = await mount({ manifest: { dependencies: { lib: '1.0.0' } }, registry: url, retries: 0 }).result;
  await assert.rejects(tree.readFile('node_modules/lib/index.js'), { code: 'E404', package: 'lib' });
  assert.equal(new TextDecoder().decode(await tree.readFile('node_modules/lib/index.js')), 'module.exports = 1;');
});

const PATCH = `--- a/index.js
+++ b/index.js
@@ -1 +1 @@
-module.exports = 2;
\\ No newline at end of file
+module.exports = 3;
\\ No newline at end of file
--- /dev/null
+++ b/added/note.txt
@@ -0,0 +1 @@
+by a patch
`;

test('a patch is applied and verified, and a changed patch fetches the package again', async () => {
  const { url, paths } = await startPackages(PACKAGES);
  const manifest = {
    name: 'project',
    dependencies: { lib: '2.0.0' },
    patchedDependencies: { lib: 'patches/lib.patch' },
  };
  const input = { manifest, registry: url, files: { 'patches/lib.patch': PATCH } };
  const { files, lockfile } = await install(input).result;
  assert.equal(text(files, 'node_modules/lib/index.js'), 'module.exports = 3;');
  assert.equal(text(files, 'node_modules/lib/added/note.txt'), 'by a patch\n');
  assert.equal(JSON.parse(lockfile).packages['node_modules/lib'].patched.path, 'patches/lib.patch');

  const asked = paths().length;
  const kept = await install({ ...input, lockfile, to: files, preferOffline: true }).result;
  assert.deepEqual([kept.installStatistics.kept, tarballs(paths().slice(asked))], [1, []]);
  const changed = { ...input, to: files, files: { 'patches/lib.patch': PATCH.replaceAll('3', '4') } };
  await install(changed).result;
  assert.equal(text(files, 'node_modules/lib/index.js'), 'module.exports = 4;');

  const { tree } = await mount(input).result;
  assert.equal(Buffer.from(await tree.readFile('node_modules/lib/added/note.txt')).toString(), 'by a patch\n');
});

test('an unsafe, missing or inapplicable patch, and one that changed, is a typed error', async () => {
  const { url } = await startPackages(PACKAGES);
  const manifest = {
    name: 'project',
    optionalDependencies: { lib: '2.0.0' },
    patchedDependencies: { lib: 'lib.patch' },
  };
  /** @param {string | undefined} patch @param {string} [lockfile] */
  const refusal = (patch, lockfile) =>
    failure({
      manifest,
      registry: url,
      files: patch === undefined ? {} : { 'lib.patch': patch },
      ...(lockfile && { lockfile, frozen: true }),
    });
  const drifted = await refusal(PATCH.replace('exports = 2', 'exports = 1'));
  assert.deepEqual([drifted.code, drifted.package, drifted.location], ['EPATCHFAILED', 'lib', 'node_modules/lib']);
  assert.equal((await refusal(PATCH.replace('b/added/', 'b/../'))).code, 'EPATCHUNSAFE');
  assert.equal((await refusal('@@ what is this')).code, 'EPATCHFAILED');
  assert.equal((await refusal(undefined)).code, 'EPATCHNOTFOUND');
});
