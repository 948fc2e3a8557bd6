// Records npm's results for projects with a lock, with installed packages, or with requested
// changes:
//
//   node starts.mjs <folder of npm> > crates/espalier-core/tests/starts/cases.json
//
// The registry is made up and served on loopback. A case has files, npm's arguments, and npm's
// package.json, package-lock.json and yarn.lock, or the code of npm's error.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const npm = join(process.argv[2], 'bin/npm-cli.js');
const ORIGIN = 'http://registry.test';

const published = [
  ['a', '1.0.0', { b: '^1.0.0' }],
  ['a', '1.1.0', { b: '^1.0.0' }],
  ['a', '2.0.0', { b: '^2.0.0', o: '1' }],
  ['b', '1.0.0'],
  ['b', '1.2.0'],
  ['b', '2.0.0'],
  ['c', '1.0.0', { a: '^1.0.0' }, { p: '^1.0.0' }],
  ['c', '2.0.0', { a: '*' }, { p: '^1.0.0' }],
  ['p', '1.0.0'],
  ['p', '1.5.0'],
  ['p', '2.0.0'],
  ['o', '1.0.0'],
  ['t', '1.0.0', {}, { b: '2' }, undefined, ['b']],
  ['r', '1.0.0', { s: '*' }],
  ['s', '1.0.0', {}, { b: '*' }, { b: '1.0.0' }],
  ['m', '1.0.0', { b: 5 }],
  ['m', '2.0.0', { 'Foo Bar': '1' }],
  ['m', '3.0.0', true],
  ['m', '4.0.0', { '.b': '1' }],
  ['l', '1.0.0', ['latest']],
  ['l', '2.0.0', {}, 'b'],
  ['0', '1.0.0'],
];
const packuments = {};
for (const [name, version, dependencies, peerDependencies, devDependencies, optionalPeers] of published) {
  const packument = (packuments[name] ??= { name, 'dist-tags': { next: version }, versions: {} });
  packument['dist-tags'].latest = version;
  packument['dist-tags'].old = Object.keys(packument.versions)[0] ?? version;
  const peerDependenciesMeta =
    optionalPeers && Object.fromEntries(optionalPeers.map((peer) => [peer, { optional: true }]));
  const dist = {
    tarball: `${ORIGIN}/${name}/-/${name}-${version}.tgz`,
    integrity: `sha512-${Buffer.from(name + version).toString('base64')}`,
  };
  packument.versions[version] = {
    name,
    version,
    license: 'MIT',
    dependencies,
    peerDependencies,
    devDependencies,
    peerDependenciesMeta,
    dist,
  };
}

// A package with a bundle. npm normalises the manifests that it reads from a disk, and lists the
// commands of `directories.bin`.
const bundled = {
  'package.json': {
    name: 'k',
    version: '1.0.0',
    bundledDependencies: ['e', 'f', 'i'],
    dependencies: { e: '1', f: '1', i: '1' },
    peerDependencies: { absent: '1' },
    peerDependenciesMeta: { absent: { optional: true } },
    directories: { bin: 'tools' },
  },
  'tools/k': '',
  'node_modules/e/package.json': {
    name: 'e',
    version: '1.0.0',
    directories: { bin: './cmd/' },
    dependencies: { g: '1' },
    funding: 'http://fund.test',
    license: { type: 'MIT' },
    gypfile: true,
  },
  'node_modules/e/cmd/one': '',
  'node_modules/e/cmd/.hidden': '',
  'node_modules/e/cmd/more/one': '',
  'node_modules/e/cmd/more/two': '',
  'node_modules/e/binding.gyp': '',
  'node_modules/f/package.json': {
    name: 'f',
    version: '1.0.0',
    bundleDependencies: true,
    dependencies: { h: '1' },
    optionalDependencies: { b: '1' },
    bin: './f.js',
    scripts: { install: 'true' },
    engines: { node: '>=99' },
    os: ['linux'],
  },
  'node_modules/f/node_modules/h/package.json': { name: 'h', version: '1.0.0', directories: { bin: 'missing' } },
  'node_modules/g/package.json': {
    name: 'g',
    version: '1.0.0',
    bin: { 'x/g': '../g.js' },
    directories: { bin: 'cmd' },
  },
  'node_modules/g/cmd/no': '',
  'node_modules/i/package.json': { name: 'i', version: '1.0.0', dependencies: { b: '1' }, bundleDependencies: false },
};
const text = (value) => (typeof value === 'string' ? value : `${JSON.stringify(value, null, 2)}\n`);
const put = (folder, files) => {
  for (const [path, contents] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text(contents));
  }
};
const scratch = mkdtempSync(join(tmpdir(), 'starts-'));
const tar = createRequire(resolve(npm, '../../package.json'))('tar');
const tarball = async (files) => {
  put(join(scratch, 'pack/package'), files);
  const paths = Object.keys(files).map((path) => `package/${path}`);
  tar.c(
    {
      cwd: join(scratch, 'pack'),
      file: join(scratch, 'k.tgz'),
      gzip: true,
      portable: true,
      sync: true,
      mtime: new Date(0),
    },
    paths,
  );
  return readFileSync(join(scratch, 'k.tgz'));
};
const bytes = await tarball(bundled);
const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
const { directories: _, bundledDependencies: bundleDependencies, ...common } = bundled['package.json'];
packuments.k = {
  name: 'k',
  'dist-tags': { latest: '1.0.0' },
  versions: {
    '1.0.0': {
      ...common,
      bundleDependencies,
      bin: { k: 'tools/k' },
      dist: { tarball: `${ORIGIN}/k/-/k-1.0.0.tgz`, integrity },
    },
  },
};
const listing = {
  integrity,
  files: Object.keys(bundled),
  manifests: Object.entries(bundled).flatMap(([path, value]) =>
    path.endsWith('package.json') ? [[path, text(value)]] : [],
  ),
};

const server = createServer((request, response) => {
  if (request.url === '/k/-/k-1.0.0.tgz') return response.end(bytes);
  const packument = packuments[request.url.slice(1)];
  response.writeHead(packument ? 200 : 404, { 'content-type': 'application/json' });
  const origin = `http://${request.headers.host}`;
  response.end(packument ? JSON.stringify(packument).replaceAll(ORIGIN, origin) : '{}');
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const registry = `http://127.0.0.1:${server.address().port}`;
for (const name of ['user', 'global']) writeFileSync(join(scratch, name), '');

const RESULTS = ['package.json', 'package-lock.json', 'yarn.lock'];
const read = (path) => {
  try {
    return readFileSync(path, 'utf8').replaceAll(registry, ORIGIN);
  } catch {
    return undefined;
  }
};

async function run(files, words) {
  const folder = join(scratch, 'project');
  rmSync(folder, { recursive: true, force: true });
  for (const [path, contents] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text(contents).replaceAll(ORIGIN, registry));
  }
  const fixed = [
    '--package-lock-only',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--allow-git=all',
    '--allow-remote=all',
    `--registry=${registry}/`,
    `--cache=${scratch}/cache`,
    `--userconfig=${scratch}/user`,
    `--globalconfig=${scratch}/global`,
  ];
  const child = spawn(process.execPath, [npm, ...fixed, ...words], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  child.stderr.on('data', (chunk) => (complaint += chunk));
  const status = await new Promise((ended) => child.on('close', ended));
  if (status !== 0) return { code: /error code (\S+)/.exec(complaint)?.[1] ?? null };
  const after = Object.fromEntries(RESULTS.map((name) => [name, read(join(folder, name))]));
  return { after };
}

const project = (fields) => ({ name: 'project', version: '1.0.0', ...fields });
const pinned = project({ dependencies: { a: '1.0.0', c: '1.0.0' }, devDependencies: { b: '1.0.0' } });
const loose = project({ dependencies: { a: '*', c: '*' }, devDependencies: { b: '>=1' } });
const lockOf = async (manifest, ...words) =>
  (await run({ 'package.json': manifest }, ['install', ...words])).after['package-lock.json'];
const lock = await lockOf(pinned);
const old = { 'package.json': loose, 'package-lock.json': lock };
const oldest = { 'package.json': loose, 'package-lock.json': await lockOf(pinned, '--lockfile-version=1') };
const both = { 'package.json': loose, 'package-lock.json': await lockOf(pinned, '--lockfile-version=2') };
const entry = lock.slice(
  lock.indexOf('    "node_modules/p"'),
  lock.indexOf('    }', lock.indexOf('    "node_modules/p"')) + 5,
);
const ours = entry.replaceAll('1.5.0', '1.0.0');
const conflict = (base) => lock.replace(entry, `<<<<<<< HEAD\n${ours}\n${base}=======\n${entry}\n>>>>>>> theirs`);
const extensions = {
  'a@1': { dependencies: { o: '1' } },
  c: { peerDependencies: { p: '^2.0.0' }, peerDependenciesMeta: { p: { optional: true } } },
};
const extended = project({ ...loose, packageExtensions: extensions });
const yarn = `# yarn lockfile v1\n\n\n"a@*", a@^1.0.0:\n  version "1.0.0"\n\nb@^1.0.0:\n  version "1.0.0"\n\n"c@*":\n  version "1.0.0"\n  dependencies:\n    a "^1.0.0"\n`;
const installed = (name, version, fields) => ({ name, version, ...fields });
const workspaces = {
  'package.json': project({ workspaces: ['packages/*'], dependencies: { b: '^1.0.0' } }),
  'packages/one/package.json': { name: 'one', version: '1.0.0', dependencies: { a: '^1.0.0', two: '*' } },
  'packages/two/package.json': { name: 'two', version: '2.0.0' },
};

const bundles = {
  'package.json': project({
    workspaces: ['packages/*'],
    dependencies: { b: '1' },
    bundleDependencies: ['b'],
    devDependencies: { k: '1' },
  }),
  'packages/one/package.json': {
    name: 'one',
    version: '1.0.0',
    dependencies: { k: 'npm:p@1' },
  },
};
const lockOfBundles = async (files, ...words) => (await run(files, ['install', ...words])).after['package-lock.json'];
const withLock = async (files, ...words) => ({ ...files, 'package-lock.json': await lockOfBundles(files, ...words) });
const nested = {
  'package.json': project({ workspaces: ['w'], dependencies: { k: 'npm:p@1' }, optionalDependencies: { i: 'npm:k' } }),
  'w/package.json': { name: 'w', version: '1.0.0', devDependencies: { k: '1' } },
};
const commands = {
  'package.json': project({
    workspaces: ['w'],
    directories: { bin: 'tools' },
    dependencies: { local: 'file:local', k: `${ORIGIN}/k/-/k-1.0.0.tgz` },
  }),
  'tools/x': '',
  'w/package.json': { name: 'w', version: '1.0.0', directories: { bin: './bin/' }, bin: '' },
  'w/bin/a': '',
  'w/bin/.hidden': '',
  'w/bin/more/a': '',
  'w/bin/more/b': '',
  'local/package.json': { name: 'local', version: '1.0.0', directories: { bin: 'missing' } },
};

// A lock whose packages have these texts for addresses, in turn.
const withAddresses = (base, ...addresses) => {
  let count = 0;
  const replaced = base['package-lock.json'].replace(
    /"resolved": "[^"]*"/g,
    () => `"resolved": ${JSON.stringify(addresses[count++ % addresses.length])}`,
  );
  return { ...base, 'package-lock.json': replaced };
};

const linked = project({ dependencies: { a: '*', x: 'file:./node_modules/a' } });
const lockOfLinked = (entry) => ({
  name: 'project',
  version: '1.0.0',
  lockfileVersion: 3,
  requires: true,
  packages: {
    '': linked,
    'node_modules/a': entry,
    'node_modules/x': { resolved: 'node_modules/a', link: true },
  },
});

/** Projects whose dependencies npm can't read, or reads as JavaScript does. */
const unreadable = Object.entries({
  'a dependency on a number': { dependencies: { b: 5 } },
  'a dependency on nothing': { dependencies: { b: null } },
  'a development dependency on an object': { devDependencies: { b: { version: '1' } } },
  'an optional dependency on a list': { optionalDependencies: { b: ['1'] } },
  'an optional peer on a number': { peerDependencies: { b: 1 }, peerDependenciesMeta: { b: { optional: true } } },
  'an alternative that is a number': { dependencies: { b: '1' }, acceptDependencies: { b: 1 } },
  'a list of dependencies': { dependencies: ['latest'] },
  'a list of dependencies that are no tags': { dependencies: ['b@1'] },
  'a text of dependencies': { dependencies: 'b' },
  'a list of optional dependencies': { optionalDependencies: ['b'] },
  'a text of peers': { peerDependencies: 'b' },
  'no dependencies but true': { dependencies: true, optionalDependencies: false, acceptDependencies: 'x' },
  'empty lists of dependencies': { dependencies: [], devDependencies: [], peerDependencies: [] },
  'bundled dependencies that are nothing, under one of their names': {
    dependencies: { b: '1' },
    bundleDependencies: null,
    bundledDependencies: ['b'],
  },
  'an invalid name': { dependencies: { 'Foo Bar': '1' } },
  'an optional dependency with an invalid name': { optionalDependencies: { '@/x': '1' } },
  'a package with a dependency on a number': { dependencies: { m: '1' } },
  'an optional package with a dependency on a number': { optionalDependencies: { m: '1' } },
  'a package with an invalid name for a dependency': { dependencies: { m: '2' } },
  'an optional package with such a dependency': { optionalDependencies: { m: '4' } },
  'a package whose dependencies are true': { dependencies: { m: '3' } },
  'a package with a list of dependencies': { dependencies: { l: '1' } },
  'a package with a text of peers': { dependencies: { l: '2' } },
}).map(([title, fields]) => [title, { 'package.json': project(fields) }, 'install']);

/** The lock of a project with a package in a package, changed. */
const changed = (change) => {
  const value = JSON.parse(lock);
  return { ...old, 'package-lock.json': change(value) ?? value };
};

const cases = [
  ...unreadable,
  [
    'blocks that are no objects, and an addition',
    { 'package.json': project({ optionalDependencies: null, peerDependencies: '', devDependencies: {} }) },
    'install b',
  ],
  ['a version and a tag of one package', { 'package.json': loose }, 'install p@latest p@^1.0.0'],
  ['a tag and a version of one package', old, 'install p@^1.0.0 p@latest'],
  ['a lock whose version is a text', changed((value) => void (value.lockfileVersion = '3')), 'install'],
  [
    'a lock whose version is a text, and an addition',
    changed((value) => void (value.lockfileVersion = '2')),
    'install p@2',
  ],
  ['a lock that is a list', changed(() => '[]'), 'install'],
  [
    'a lock with a package in a package that it does not have',
    changed(({ packages }) => void (packages['node_modules/x/node_modules/b'] = { version: '1.0.0' })),
    'install',
  ],
  [
    'a lock with more than a bundle of the project has',
    {
      'package.json': project({ dependencies: { b: '1' }, bundleDependencies: ['b'] }),
      'package-lock.json': {
        name: 'project',
        version: '1.0.0',
        lockfileVersion: 3,
        requires: true,
        packages: {
          '': project({ dependencies: { b: '1' }, bundleDependencies: ['b'] }),
          'node_modules/b': { version: '1.0.0', inBundle: true },
          'node_modules/p': { version: '1.0.0' },
        },
      },
    },
    'install',
  ],
  ['a bundle', { 'package.json': project({ dependencies: { k: '1' } }) }, 'install'],
  ['a bundle of a development dependency, beside bundles of the project', bundles, 'install'],
  ['a lock with that bundle', await withLock(bundles), 'install'],
  ['a lock with that bundle, and an addition', await withLock(bundles), 'install p@2'],
  ['a lock of version 2 with that bundle', await withLock(bundles, '--lockfile-version=2'), 'install'],
  ['a lock of version 1 with that bundle', await withLock(bundles, '--lockfile-version=1'), 'install'],
  [
    'a lock that was of version 1 with that bundle',
    await withLock(await withLock(bundles, '--lockfile-version=1')),
    'install',
  ],
  ['a lock with that bundle, and an update', await withLock(bundles), 'update'],
  ['a bundle in a workspace, and one that is optional', nested, 'install'],
  ['a lock with bundles in a workspace', await withLock(nested), 'install'],
  ['folders of commands', commands, 'install'],
  ['folders of commands, and a change', commands, 'install p'],
  [
    'a folder of commands of what is installed',
    {
      'package.json': project({ dependencies: { a: '*' } }),
      'node_modules/a/package.json': installed('a', '1.0.0', { directories: { bin: 'bin' } }),
      'node_modules/a/bin/tool': '',
    },
    'install',
  ],
  ['a lock stays as it is', old, 'install'],
  ['a lock and an addition', old, 'install p@2'],
  ['a lock and a tag', old, 'install a@next'],
  ['a lock and the name of what is there', old, 'install b'],
  // The target of a link beside the package is the candidate, whatever the registry has.
  [
    'a link to a package, and the name of the package',
    {
      'package.json': linked,
      'package-lock.json': lockOfLinked({ version: '1.0.0', resolved: `${ORIGIN}/a/-/a-1.0.0.tgz` }),
    },
    'install a',
  ],
  [
    'a link to a package without a version, and the name of the package',
    { 'package.json': linked, 'package-lock.json': lockOfLinked({ resolved: `${ORIGIN}/a/-/a-1.0.0.tgz` }) },
    'install a',
  ],
  [
    'a link to a package, and a version that it does not have',
    { 'package.json': linked, 'package-lock.json': lockOfLinked({ version: '1.0.0' }) },
    'install a@2',
  ],
  ['a lock and a removal', old, 'uninstall c'],
  ['a lock and an update of all', old, 'update'],
  ['a lock and an update of one', old, 'update b'],
  ['a lock and an update that is saved', old, 'update a b --save'],
  ['an update of all that is saved', old, 'update --save'],
  ['a lock of version 1', oldest, 'install'],
  ['a lock of version 1 that stays one', oldest, 'install --lockfile-version=1'],
  ['a lock of version 1 and a removal', oldest, 'uninstall a'],
  ['a lock of version 2', both, 'install'],
  ['a lock of version 2 and an update of all', both, 'update'],
  ['a lock of version 2 and an addition', both, 'install -D p'],
  [
    'a lock of a version to come',
    { ...old, 'package-lock.json': lock.replace('"lockfileVersion": 3', '"lockfileVersion": 5') },
    'install',
  ],
  ['a lock with a conflict', { ...old, 'package-lock.json': conflict('') }, 'install'],
  [
    'a lock with a conflict and its base',
    { ...old, 'package-lock.json': conflict(`||||||| base\n${entry.replaceAll('1.5.0', '0.9.0')}\n`) },
    'install',
  ],
  [
    'a lock with paths for addresses',
    withAddresses(old, '${REGISTRY}/@s/a.tgz', './a.tgz', 'a.tar', '@s/a.tgz'),
    'install',
  ],
  ['a lock with folders for addresses', withAddresses(old, 'a/b/c', 'a/./b/..', 'a@b/c.tgz', 'a'), 'install'],
  ['a lock with shortcuts for addresses', withAddresses(old, 'a/b', 'gist:a', 'A.TGZ', '../a'), 'install'],
  ['a lock of version 2 with paths for addresses', withAddresses(both, 'a/b.tgz', 'a.tgz', './a', 'a@b'), 'install'],
  ['a lock that is no JSON', { ...old, 'package-lock.json': '{' }, 'install'],
  [
    'a lock with values of others',
    { ...old, 'package-lock.json': lock.replace('"requires": true', '"requires": true, "createdWith": "x"') },
    'install',
  ],
  ['a yarn.lock without addresses', { 'package.json': loose, 'yarn.lock': yarn }, 'install c@1 b'],
  ['a yarn.lock beside a lock', { ...old, 'yarn.lock': yarn }, 'install'],
  [
    'what is installed',
    {
      'package.json': loose,
      'node_modules/a/package.json': installed('a', '1.0.0', { dependencies: { b: '^1.0.0' } }),
      'node_modules/b/package.json': installed('b', '1.0.0'),
      'node_modules/a/node_modules/b/package.json': installed('b', '1.2.0'),
    },
    'install',
  ],
  [
    'what is installed and not needed',
    {
      'package.json': project({ dependencies: { b: '*' } }),
      'node_modules/a/package.json': installed('a', '1.0.0'),
      'node_modules/b/package.json': installed('b', '1.0.0'),
    },
    'install',
  ],
  ['an addition', { 'package.json': loose }, 'install p@1'],
  ['an addition that is optional', { 'package.json': loose }, 'install --save-optional p'],
  // The lock keeps the spec of an optional addition as it was typed, with its white space.
  ['an optional addition with white space', { 'package.json': loose }, 'install --save-optional p@\t1.0.0'],
  ['an addition with white space', { 'package.json': loose }, 'install p@\t1.x'],
  ['an addition with white space around its range', { 'package.json': loose }, 'install p@\t>=1.0.0\t<1.5.0\t'],
  ['an addition with nothing but white space', { 'package.json': loose }, 'install p@\t'],
  ['an addition by a tag with white space', { 'package.json': loose }, 'install p@\told'],
  ['an addition by another name', { 'package.json': loose }, 'install q@npm:p@1'],
  ['an addition in a bundle', { 'package.json': loose }, 'install -B p'],
  ['an addition to a workspace', workspaces, 'install p -w one'],
  ['a workspace added to another', workspaces, 'install one -w packages/two'],
  [
    'a project that is a workspace of itself',
    { ...workspaces, 'package.json': project({ workspaces: ['.', 'packages/*'] }) },
    'install',
  ],
  ['a removal from a workspace', workspaces, 'uninstall a -w one'],
  ['a removal of what is not there', { 'package.json': loose }, 'uninstall nothing'],
  ['a removal by a range', { 'package.json': loose }, 'uninstall a@1'],
  ['an update by a range', { 'package.json': loose }, 'update a@1'],
  [
    'duplicates',
    {
      'package.json': project({ dependencies: { a: '*', b: '*', c: '*' } }),
      'package-lock.json': await lockOf(project({ dependencies: { a: '2.0.0', b: '1.0.0', c: '1.0.0' } })),
    },
    'dedupe',
  ],
  [
    'duplicates in a project without a name',
    {
      'package.json': { workspaces: ['w'], dependencies: { a: '*', b: '*', c: '*' } },
      'w/package.json': { name: 'w', version: '1.0.0' },
      'package-lock.json': await lockOf(project({ dependencies: { a: '2.0.0', b: '1.0.0', c: '1.0.0' } })),
    },
    'dedupe',
  ],
  [
    'no duplicates, and an optional peer that is not met',
    { 'package.json': project({ dependencies: { b: '1', t: '*' } }) },
    'dedupe',
  ],
  ['no duplicates, and nothing to save', { 'package.json': loose }, 'dedupe'],
  ['an addition that is not saved', old, 'install --no-save p@2'],
  ['extensions', { 'package.json': extended }, 'install'],
  ['extensions after the lock', { 'package.json': extended, 'package-lock.json': lock }, 'install'],
  ['extensions that went', { 'package.json': loose, 'package-lock.json': await lockOf(extended) }, 'install'],
  [
    'an extension of a range that is none',
    { 'package.json': project({ ...loose, packageExtensions: { 'a@next': {} } }) },
    'install',
  ],
  [
    'an extension of what is declared',
    { 'package.json': project({ ...loose, packageExtensions: { a: { dependencies: { b: '1' } } } }) },
    'install',
  ],
  [
    'two extensions of one package',
    { 'package.json': project({ ...loose, packageExtensions: { a: {}, 'a@2': {} } }) },
    'install',
  ],
  [
    'an extension without a peer for its meta',
    {
      'package.json': project({
        ...loose,
        packageExtensions: { a: { peerDependenciesMeta: { p: { optional: true } } } },
      }),
    },
    'install',
  ],
  [
    'an override of what the project asks for, on its removal',
    { 'package.json': project({ dependencies: { a: '1', b: '1' }, overrides: { b: '2' } }) },
    'uninstall b',
  ],
  [
    'an override that refers to what only a dependent has',
    { 'package.json': project({ dependencies: { r: '1' }, overrides: { b: '$b' } }) },
    'install',
  ],
  [
    'an override that refers to what a dependent has, too',
    { 'package.json': project({ dependencies: { b: '^2.0.0', r: '1' }, overrides: { b: '$b' } }) },
    'install',
  ],
  [
    'an override that refers to a folder',
    {
      'package.json': project({ dependencies: { local: 'file:./local', r: '1' }, overrides: { s: '$local' } }),
      'local/package.json': { name: 's', version: '1.0.0' },
    },
    'install',
  ],
  [
    'a lock that does not say where registries have their packages',
    { 'package.json': project({ dependencies: { a: '1', b: 'npm:p@1' } }) },
    'install --omit-lockfile-registry-resolved',
  ],
  [
    'the same in a lock of version 2',
    { 'package.json': loose, 'package-lock.json': await lockOf(pinned, '--lockfile-version=2') },
    'install --omit-lockfile-registry-resolved',
  ],
  ['a yarn.lock, and duplicates', { 'package.json': loose, 'yarn.lock': yarn }, 'dedupe'],
  [
    'a yarn.lock, and no package-lock.json wanted',
    { 'package.json': loose, 'yarn.lock': yarn },
    'install --no-package-lock',
  ],
  [
    'patches',
    {
      'package.json': project({ ...loose, patchedDependencies: { a: 'a.patch', 'b@2': 'b.patch' } }),
      'a.patch': 'x\r\n',
      'b.patch': '',
    },
    'install',
  ],
  [
    'a patch for nothing',
    { 'package.json': project({ ...loose, patchedDependencies: { x: 'a.patch' } }), 'a.patch': '' },
    'install',
  ],
  [
    'a patch that is not there',
    { 'package.json': project({ ...loose, patchedDependencies: { a: 'a.patch' } }) },
    'install',
  ],
  [
    'a patch that goes with its package',
    { 'package.json': project({ ...loose, patchedDependencies: { b: 'b.patch' }, dependencies: {} }), 'b.patch': '' },
    'uninstall b',
  ],
];

const recorded = [];
for (const [title, files, command] of cases) {
  const before = Object.fromEntries(Object.entries(files).map(([path, contents]) => [path, text(contents)]));
  recorded.push({ title, files: before, command, ...(await run(files, command.split(' '))) });
}
server.close();
rmSync(scratch, { recursive: true, force: true });
process.stdout.write(
  `${JSON.stringify({ packuments, tarballs: { [`${ORIGIN}/k/-/k-1.0.0.tgz`]: listing }, cases: recorded }, null, 1)}\n`,
);
