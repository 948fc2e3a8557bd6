// Compares Espalier with npm on the fixtures of npm's own tests:
//
//   node fixtures.mjs <folder of npm> <fixtures> <espalier> [--only FIXTURE]... [--run NAME]...
//
// `fixtures` is the folder workspaces/arborist/test/fixtures of npm's repository. It also has the
// documents and tarballs of the packages (`registry-mocks/content`), which this script serves on
// loopback. Both programs get their own copy of a fixture. Runs that write only the lock are
// compared by the lock and package.json. Whole installations are compared by every file.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string', multiple: true }, run: { type: 'string', multiple: true } },
});
const [npmFolder, fixtures, espalier] = positionals.map((path) => resolve(path));
if (!espalier) throw new Error('usage: fixtures.mjs <folder of npm> <fixtures> <espalier>');

const lockOnly = (...words) => ({ words: [...words, '--package-lock-only'] });
const runs = {
  lock: lockOnly('install'),
  'lock, fresh': { ...lockOnly('install'), isFresh: true },
  'lock, legacy peers': lockOnly('install', '--legacy-peer-deps'),
  'lock, strict peers': lockOnly('install', '--strict-peer-deps'),
  'lock, forced': lockOnly('install', '--force'),
  'lock, nested': lockOnly('install', '--install-strategy=nested'),
  'lock, shallow': lockOnly('install', '--install-strategy=shallow'),
  'lock, deduplicated': lockOnly('install', '--prefer-dedupe'),
  'lock, packed links': lockOnly('install', '--install-links'),
  'lock of version 1': lockOnly('install', '--lockfile-version=1'),
  'lock of version 2': lockOnly('install', '--lockfile-version=2'),
  add: lockOnly('install', 'abbrev', 'once@1.3.0'),
  'add for development': lockOnly('install', '-D', 'abbrev@1.1.0', 'wrappy'),
  remove: lockOnly('uninstall', 'abbrev', 'once', 'tap'),
  update: lockOnly('update'),
  'update and save': lockOnly('update', '--save'),
  dedupe: lockOnly('dedupe'),
  ci: { words: ['ci'], isWhole: true },
  'ci without dev': { words: ['ci', '--omit=dev'], isWhole: true },
  'install, fresh': { words: ['install'], isWhole: true, isFresh: true },
};

/** The runs in which a fixture differs for a reason. In all others it has to be the same. */
const known = {
  // npm crashes on a link to a folder with bundles.
  'conflict-bundle-file-dep': (run) => !run.isWhole,
  // npm crashes on a link in an old lock.
  'link-dep-nested': ({ words }) => words.includes('abbrev'),
  // npm saves an alias of a package named null.
  'optional-dep-enotarget': ({ words }) => words.includes('--save'),
  // npm leaves the empty folder of a scope.
  'optional-dep-tgz-missing': (run) => run.isWhole,
  'optional-metadep-tgz-missing': (run) => run.isWhole,
  // npm finds the tarball of another package in its cache, by the integrity.
  'audit-missing-packument': (run) => run.isWhole,
  'testing-bundledeps-sw': (run) => run.isWhole,
  // A script for Windows in .bin stays.
  'old-package-lock-with-bins': (run) => run.isWhole,
};

const scratch = mkdtempSync(join(tmpdir(), 'fixtures-'));
const server = createServer(answer);
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));
const registry = `http://127.0.0.1:${server.address().port}`;
const names = readdirSync(fixtures).filter((name) => existsSync(join(fixtures, name, 'package.json')));
let unexplained = 0;
try {
  for (const [name, run] of Object.entries(runs)) {
    if (values.run && !values.run.includes(name)) continue;
    const counts = { same: 0, 'both fail': 0, known: 0, different: 0 };
    for (const fixture of names) {
      if (values.only && !values.only.includes(fixture)) continue;
      const verdict = await compare(fixture, run);
      const kind = verdict in counts ? verdict : known[fixture]?.(run) ? 'known' : 'different';
      counts[kind]++;
      if (kind === 'different') console.log(`${name}: ${fixture}: ${verdict}`);
    }
    unexplained += counts.different;
    console.log(
      `${name}: ${Object.entries(counts)
        .map(([kind, count]) => `${count} ${kind}`)
        .join(', ')}`,
    );
  }
} finally {
  server.close();
  rmSync(scratch, { recursive: true });
}
process.exitCode = unexplained > 0 ? 1 : 0;

/** Runs both programs. Returns what they have in common, or the first differences. */
async function compare(fixture, run) {
  const [npm, own] = await Promise.all([
    ended(fixture, run, 'npm', process.execPath, ['--no-warnings', join(npmFolder, 'bin/npm-cli.js')]),
    ended(fixture, run, 'espalier', espalier, []),
  ]);
  if (npm.code !== 0 && own.code !== 0) return 'both fail';
  if (npm.code !== own.code) return npm.code === 0 ? `only npm succeeds: ${own.told}` : `only npm fails: ${npm.told}`;
  const paths = [...new Set([...npm.files.keys(), ...own.files.keys()])].sort();
  const differing = paths.filter((path) => npm.files.get(path) !== own.files.get(path));
  return differing.length === 0 ? 'same' : differing.slice(0, 5).join(', ');
}

async function ended(fixture, { words, isFresh, isWhole }, program, command, first) {
  const home = join(scratch, program);
  rmSync(join(home, 'around'), { recursive: true, force: true });
  const folder = join(home, 'around', fixture);
  mkdirSync(folder, { recursive: true });
  cpSync(join(fixtures, fixture), folder, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  for (const old of isFresh ? ['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'node_modules'] : []) {
    rmSync(join(folder, old), { recursive: true, force: true });
  }
  const allowed = ['git', 'remote', 'file', 'directory'].map((kind) => `--allow-${kind}=all`);
  const settings = {
    registry: `${registry}/`,
    cache: join(home, 'cache'),
    audit: false,
    fund: false,
    fetch_retries: 0,
  };
  const env = Object.fromEntries(Object.entries(settings).map(([key, value]) => [`npm_config_${key}`, String(value)]));
  const child = spawn(command, [...first, ...words, '--ignore-scripts', ...allowed], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: join(home, 'xdg'), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 120_000,
  });
  let told = '';
  child.stderr.on('data', (text) => (told += text));
  const code = await new Promise((done) => child.on('close', done));
  const files = new Map();
  if (isWhole) list(folder, '', files);
  else for (const name of ['package-lock.json', 'npm-shrinkwrap.json', 'package.json']) note(folder, name, files);
  return { code, files, told: told.trim().split('\n').slice(-3).join(' ') };
}

/** Everything below a folder: the digests of files, the targets of links, and empty folders. */
function list(folder, above, files) {
  const entries = readdirSync(join(folder, above), { withFileTypes: true });
  if (entries.length === 0) files.set(`${above}/`, 'empty');
  for (const entry of entries) {
    const path = above ? `${above}/${entry.name}` : entry.name;
    if (entry.isDirectory()) list(folder, path, files);
    else if (entry.isSymbolicLink()) files.set(path, readlinkSync(join(folder, path)));
    else note(folder, path, files);
  }
}

function note(folder, path, files) {
  if (!existsSync(join(folder, path))) return;
  files.set(
    path,
    createHash('sha256')
      .update(readFileSync(join(folder, path)))
      .digest('hex'),
  );
}

/** Answers as the registry that the fixtures were recorded from. */
function answer(request, response) {
  const path = decodeURIComponent(request.url.split('?')[0]).replace(/^\/@?/, '');
  const content = (name) => {
    const file = join(fixtures, 'registry-mocks/content', name);
    return existsSync(file) ? readFileSync(file) : undefined;
  };
  const document = (name) =>
    content(name)
      ?.toString()
      .replace(/https?:\/\/registry\.\w+\.org\//g, `${registry}/`);
  const send = (type, body) => response.writeHead(200, { 'content-type': type }).end(body);
  const tarball = path.endsWith('.tgz') ? content(path) : undefined;
  if (tarball) return send('application/octet-stream', tarball);
  const isAbbreviated = request.headers.accept?.includes('install-v1');
  const abbreviated = isAbbreviated && document(`${path}.min.json`);
  if (abbreviated) return send('application/vnd.npm.install-v1+json', abbreviated);
  const whole = document(`${path}.json`) ?? document(`${path}.min.json`);
  if (whole) return send('application/json', whole);
  const cut = path.lastIndexOf('/');
  const packument = JSON.parse(document(`${path.slice(0, Math.max(cut, 0))}.json`) ?? '{}');
  const manifest = packument.versions?.[path.slice(cut + 1)];
  if (manifest) return send('application/json', JSON.stringify(manifest));
  response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
}
