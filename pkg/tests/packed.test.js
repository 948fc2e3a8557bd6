// The published package: packed, and installed in a project outside of this repository.
// @ts-check

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startRegistry } from './registry.js';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'espalier-packed-'));
after(() => rm(folder, { recursive: true }));

/** @param {string[]} args */
const npm = (...args) =>
  execFileSync('npm', args, { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32', timeout: 60_000 });

/** @type {{ filename: string, files: { path: string }[] }[]} */
const [packed] = JSON.parse(npm('pack', PACKAGE, '--json', '--loglevel=error'));

assert.ok(packed);

test('the package contains its exports and no development files', () => {
  const paths = packed.files.map(({ path }) => path);
  const entries = ['index.js', 'node.js', 'slim.js', 'worker.js', 'worker-entry.js', 'espalier.wasm'];
  const promised = ['index.d.ts', 'slim.d.ts', 'worker.d.ts', 'README.md', ...entries.map((entry) => `dist/${entry}`)];
  assert.deepEqual(
    promised.filter((path) => !paths.includes(path)),
    [],
  );
  assert.deepEqual(
    paths.filter((path) => /stamp|tests|src|tsconfig/.test(path)),
    [],
  );
});

test('the installed package runs', async () => {
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  npm('install', '--offline', '--no-audit', '--no-fund', `./${packed.filename}`);
  const { url } = await startRegistry({ a: { '1.0.0': {} } });
  await writeFile(
    join(folder, 'main.js'),
    `import { resolve } from 'espalier';
     const { lockfile } = await resolve({ manifest: { dependencies: { a: '*' } }, registry: ${JSON.stringify(url)} }).result;
     console.log(Object.keys(JSON.parse(lockfile).packages).join(' '));`,
  );
  // This is asynchronous, because the registry is in this process.
  const { stdout } = await promisify(execFile)(process.execPath, ['main.js'], { cwd: folder, timeout: 60_000 });
  assert.equal(stdout, ' node_modules/a\n');
});
