// Measures the installation of a recorded project: with Espalier in a tab, with its native build,
// and with other installers from npm that run in a tab. Each run is cold: a fresh browser, a fresh
// store, no cache, no lock. Runs alternate, so that other work of the machine affects all of them
// alike. Pages report their own figures (pages/report.js).
//
//   node tests/bench/browser.js --corpus DIR [--project NAME] [--rounds N] [--delay DURATION] [--native FILE] [--only NAME]
// @ts-check

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import puppeteer from 'puppeteer-core';
import { chromiumPath } from '../chromium.js';
import { executable, serveFast } from '../replay.js';
import { highWater, runNative } from './native.js';
import { PageServer } from './pages.js';
import { table } from './table.js';

const { values } = parseArgs({
  options: {
    corpus: { type: 'string' },
    project: { type: 'string', default: 'vite-react-ts' },
    rounds: { type: 'string', default: '5' },
    delay: { type: 'string', default: '10ms' },
    native: { type: 'string' },
    only: { type: 'string', multiple: true },
  },
});
if (!values.corpus) throw new Error('--corpus names the recorded registry');
const project = join(values.corpus, 'projects', values.project);
/** The time after which an installer without a result has failed. */
const PATIENCE = 180_000;

/** @typedef {{ done: number, ready?: number, longest?: number, memory?: number, peak?: number, packages?: number, requests?: number, bytes?: number, code?: { raw: number, brotli: number } }} Figures */

const flagsFile = join(project, 'npm-args');
const flags = existsSync(flagsFile) ? readFileSync(flagsFile, 'utf8').split(/\s+/).filter(Boolean) : [];
const subjects = ['espalier', 'native', 'utoo', 'npm-in-browser'].filter(
  (name) => !values.only || values.only.includes(name),
);
const native = subjects.includes('native') ? (values.native ?? executable('espalier-cli', 'release')) : '';

// One installer requests ranges and sends headers that need a preflight. The others are not
// affected.
const options = ['--tls', '--delay', values.delay, '--ranges', '--preflight'];
const registry = await serveFast(values.corpus, ...options);
// The native build trusts no self-signed certificate, so it uses plain HTTP.
const plain = await serveFast(values.corpus, '--delay', values.delay);
const here = import.meta.dirname;
if (!existsSync(join(here, 'node_modules'))) npm('ci', '--no-audit', '--no-fund');
npm('exec', '--', 'vite', 'build', '--logLevel', 'error');
const pages = await PageServer.start(join(here, 'dist'), join(project, 'package.json'));

/** @type {Map<string, Figures[]>} */
const results = new Map(subjects.map((name) => [name, []]));
try {
  // The first round only warms the server.
  for (let round = 0; round <= Number(values.rounds); round++) {
    for (let turn = 0; turn < subjects.length; turn++) {
      const name = /** @type {string} */ (subjects[(round + turn) % subjects.length]);
      const figures =
        name === 'native'
          ? await counted(plain, () => runNative(native, project, flags, plain.origin))
          : await counted(registry, () => inTab(name));
      console.error(`round ${round}, ${name}: ${JSON.stringify(figures)}`);
      if (round > 0) results.get(name)?.push(figures);
    }
  }
} finally {
  registry.stop();
  plain.stop();
  pages.stop();
}
console.log(table(results));

/** @param {string[]} args */
function npm(...args) {
  execFileSync('npm', args, { cwd: here, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' });
}

/**
 * The requests to the registry during a run.
 * @param {{ origin: string }} server
 * @param {() => Promise<Figures>} run
 */
async function counted({ origin }, run) {
  const before = await counts(origin);
  const figures = await run();
  const after = await counts(origin);
  return { ...figures, requests: after.requests - before.requests, bytes: after.bytes - before.bytes };
}

/** @param {string} origin @returns {Promise<{ requests: number, bytes: number }>} */
async function counts(origin) {
  // curl can be told to accept the certificate, Node's `fetch` cannot.
  return JSON.parse(execFileSync('curl', ['--silent', '--insecure', `${origin}/-/stats`], { encoding: 'utf8' }));
}

/** @param {string} page @returns {Promise<Figures>} */
async function inTab(page) {
  const browser = await puppeteer.launch({
    executablePath: chromiumPath(),
    acceptInsecureCerts: true,
    args: [
      '--disable-gpu',
      '--disable-background-networking',
      '--ignore-certificate-errors',
      // Otherwise the browser reports memory only after some idle time.
      '--enable-blink-features=ForceEagerMeasureMemory',
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  });
  try {
    const tab = await browser.newPage();
    const query = new URLSearchParams({ manifest: '/manifest', registry: registry.origin });
    for (const flag of flags) query.append('flag', flag);
    const told = pages.figures();
    await tab.goto(`${pages.origin}/${page}.html?${query}`);
    const figures = await Promise.race([told, silence(page)]);
    return { ...figures, peak: await peakOf(browser), code: pages.weight() };
  } finally {
    await browser.close();
  }
}

/** @param {string} page @returns {Promise<never>} */
function silence(page) {
  return new Promise((_, fail) => {
    setTimeout(() => fail(new Error(`${page} said nothing for ${PATIENCE / 1000} s`)), PATIENCE).unref();
  });
}

/**
 * The peak memory of the tab's process, in bytes.
 * @param {import('puppeteer-core').Browser} browser
 */
async function peakOf(browser) {
  const session = await browser.target().createCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  const peaks = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => highWater(id));
  return Math.max(...peaks);
}
