// Runs a wasm32-wasip1 program in headless Chromium, as cargo's runner: `node runner.mjs
// program.wasm arguments…`
//
// Node's own WASI dies now and then while the process ends, after the tests have passed. A browser
// is also where the core runs for real. The program runs in a worker and sees the folders with test
// data, in memory and read-only.

import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import puppeteer from 'puppeteer-core';

const [, , program, ...rest] = process.argv;
const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../../../..');
/** The folders that the core's tests read. */
const DATA = ['crates/espalier-core/tests', 'tests/scenarios'];
const shim = dirname(fileURLToPath(import.meta.resolve('@bjorn3/browser_wasi_shim')));
/** A test binary that takes longer hangs: the slowest takes about a minute on a busy machine. */
const PATIENCE = 15 * 60_000;

const server = createServer((request, response) => {
  const found = answer(new URL(request.url ?? '/', 'http://localhost').pathname);
  response.writeHead(found ? 200 : 404, found ? { 'content-type': found.type } : {}).end(found?.body);
});
await new Promise((listening) => server.listen(0, '127.0.0.1', listening));

const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM_PATH,
  protocolTimeout: PATIENCE,
  args: ['--disable-gpu', '--disable-background-networking', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
});
try {
  const page = await browser.newPage();
  await page.exposeFunction('passOn', (line, isError) => (isError ? console.error(line) : console.log(line)));
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  process.exitCode = await page.evaluate(run, [program, ...rest]);
} finally {
  await browser.close();
  server.close();
}

/** Runs in the page: gives the worker its job, and passes on what it prints. */
function run(args) {
  const worker = new Worker('/worker.mjs', { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.onerror = ({ message }) => reject(new Error(message));
    // Lines arrive in order, so those of the program are printed before its exit code counts.
    let printed = Promise.resolve();
    worker.onmessage = ({ data: { line, isError, code } }) => {
      if (code === undefined) printed = printed.then(() => passOn(line, isError));
      else printed.then(() => resolve(code), reject);
    };
    worker.postMessage(args);
  });
}

function answer(path) {
  const javascript = (file) => ({ type: 'text/javascript', body: readFileSync(file) });
  if (path === '/') return { type: 'text/html', body: '<!doctype html><title>tests</title>' };
  if (path === '/worker.mjs') return javascript(join(here, 'runner-worker.mjs'));
  if (path === '/program.wasm') return { type: 'application/wasm', body: readFileSync(program) };
  if (path === '/files.json') return { type: 'application/json', body: JSON.stringify(files()) };
  if (path.startsWith('/shim/')) return javascript(join(shim, path.slice('/shim/'.length)));
  return undefined;
}

/** Absolute paths, as the tests were compiled with, and what is in the files. */
function files() {
  const paths = DATA.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  return Object.fromEntries(paths.map((path) => [path, readFileSync(path, 'utf8')]));
}
