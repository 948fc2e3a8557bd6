// The published package resolves and installs wherever its README says that it runs: with Vite in development and built, in a
// page without a bundler, in Node, and in Deno (on x64 Linux, or `DENO_PATH`); pages run in Chromium (`CHROMIUM_PATH`) and
// Firefox (`FIREFOX_PATH`).
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

  test(`the package works in ${name}`, { skip, timeout: 4 * PATIENCE }, async (context) => {
    const browser = await launch(name, path ?? '');

    await context.test('in a page without a bundler', async () => {
      const url = await serveFolder(await project('plain'));
      assert.deepEqual(await outcome(browser, url, input), everywhere);
    });

    await context.test("with Vite's development server", async () => {
      assert.deepEqual(await outcome(browser, await develop('vite'), input), everywhere);
    });

    await context.test("with Vite's development server, without configuration", async () => {
      assert.deepEqual(await outcome(browser, await develop('vite-slim'), input), slim);
    });

    await context.test('in a build of Vite', async () => {
      assert.deepEqual(await outcome(browser, await built('vite'), input), everywhere);
    });

    await context.test('in a build of Vite, without configuration', async () => {
      assert.deepEqual(await outcome(browser, await built('vite-slim'), input), slim);
    });
  });
}

test('the package works in Node', { timeout: PATIENCE }, async () => {
  const root = await project('node');
  // This is asynchronous, so that output is read while the program runs.
  const { stdout } = await promisify(execFile)(process.execPath, ['main.js', JSON.stringify(input)], { cwd: root });
  assert.deepEqual(JSON.parse(stdout), slim);
});

const deno =
  process.env.DENO_PATH ?? fileURLToPath(new URL('../../node_modules/@deno/linux-x64-glibc/deno', import.meta.url));

test('the package works in Deno', {
  skip: !existsSync(deno) && 'DENO_PATH names none',
  timeout: PATIENCE,
}, async () => {
  const root = await project('deno');
  // Deno may only read the package and ask the registry, and so may a worker.
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
