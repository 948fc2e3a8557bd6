// The package as it is published resolves and installs in the places its README says it runs: Vite's development server, what Vite builds, a
// page without a bundler, Node, Deno (on x64 Linux, or `DENO_PATH`); in Chromium (`CHROMIUM_PATH`) and in Firefox (`FIREFOX_PATH`).
// @ts-check

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build, createServer } from 'vite';
import { launch, outcome, serveFolder } from './browsers.js';
import { project } from './project.js';
import { filesOf, golden, manifest, registry } from './registry.js';

const SAMPLE = 'sandbox';
const PATIENCE = 120_000;

const origin = await registry();
const input = { manifest: manifest(SAMPLE), registry: origin };
const lockfile = golden(SAMPLE, origin);
const installed = filesOf(SAMPLE);
const everywhere = { here: lockfile, worker: lockfile, installed, installedByWorker: installed };
const slim = { here: lockfile, installed };

/** @type {['chrome' | 'firefox', string | undefined][]} */
const browsers = [
  ['chrome', process.env.CHROMIUM_PATH],
  ['firefox', process.env.FIREFOX_PATH],
];

for (const [name, path] of browsers) {
  const skip = path ? false : `no variable names the executable of ${name}`;

  test(`in ${name}`, { skip, timeout: 4 * PATIENCE }, async (context) => {
    const browser = await launch(name, path ?? '');

    await context.test('a page without a bundler', async () => {
      const url = await serveFolder(await project('plain'));
      assert.deepEqual(await outcome(browser, url, input), everywhere);
    });

    await context.test("Vite's development server", async () => {
      assert.deepEqual(await outcome(browser, await develop('vite'), input), everywhere);
    });

    await context.test("Vite's development server, without configuration", async () => {
      assert.deepEqual(await outcome(browser, await develop('vite-slim'), input), slim);
    });

    await context.test('what Vite builds', async () => {
      assert.deepEqual(await outcome(browser, await built('vite'), input), everywhere);
    });

    await context.test('what Vite builds, without configuration', async () => {
      assert.deepEqual(await outcome(browser, await built('vite-slim'), input), slim);
    });
  });
}

test('in Node', { timeout: PATIENCE }, async () => {
  const root = await project('node');
  // Asynchronously: output is read while it runs.
  const { stdout } = await promisify(execFile)(process.execPath, ['main.js', JSON.stringify(input)], { cwd: root });
  assert.deepEqual(JSON.parse(stdout), slim);
});

const deno =
  process.env.DENO_PATH ?? fileURLToPath(new URL('../../node_modules/@deno/linux-x64-glibc/deno', import.meta.url));

test('in Deno', { skip: !existsSync(deno) && 'DENO_PATH names none', timeout: PATIENCE }, async () => {
  const root = await project('deno');
  // Nothing is allowed but to read the package and to ask the registry; a worker has as little.
  const permissions = ['--no-prompt', '--no-remote', `--allow-read=${root}`, `--allow-net=${new URL(origin).host}`];
  const { stdout } = await promisify(execFile)(deno, ['run', ...permissions, 'main.js', JSON.stringify(input)], {
    cwd: root,
  });
  assert.deepEqual(JSON.parse(stdout), everywhere);
});

/** @param {string} app */
async function develop(app) {
  const server = await createServer({
    root: await project(app),
    logLevel: 'error',
    server: { host: '127.0.0.1', port: 0 },
  });
  after(() => server.close());
  await server.listen();
  return server.resolvedUrls?.local[0] ?? assert.fail('Vite says no address');
}

/** @param {string} app */
async function built(app) {
  const root = await project(app);
  await build({ root, base: './', logLevel: 'error' });
  return serveFolder(join(root, 'dist'));
}
