// Browsers and static files for them: opens pages and returns their outcomes.
// @ts-check

import { createServer } from 'node:http';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { after } from 'node:test';
import puppeteer from 'puppeteer-core';

/** The timeout of each step in a browser. */
const PATIENCE = 60_000;
/** The type of wasm is absent on purpose, because many servers do not know it. */
const TYPES = { '.html': 'text/html', '.js': 'text/javascript' };

/**
 * Starts a browser that ends with the test file.
 * @param {'chrome' | 'firefox'} browser
 * @param {string} executablePath
 */
export async function launch(browser, executablePath) {
  // Firefox refuses a home folder of another user, and no browser may find a profile.
  const home = await mkdtemp(join(tmpdir(), `espalier-${browser}-`));
  // The browser's sandbox does not start as root, which runs tests in a container.
  const root = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const launched = await puppeteer.launch({
    browser,
    executablePath,
    args: browser === 'chrome' ? ['--disable-gpu', '--disable-background-networking', ...root] : [],
    env: { ...process.env, HOME: home },
    timeout: PATIENCE,
    protocolTimeout: PATIENCE,
  });
  after(async () => {
    await launched.close();
    await rm(home, { recursive: true, force: true });
  });
  return launched;
}

/**
 * Opens a page and returns the value of its promise `outcome`.
 * @param {import('puppeteer-core').Browser} browser
 * @param {string} url
 * @param {object} input
 * @returns {Promise<Record<string, unknown>>}
 */
export async function outcome(browser, url, input) {
  const page = await browser.newPage();
  /** @type {string[]} */
  const problems = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  try {
    await page.goto(`${url}?input=${encodeURIComponent(JSON.stringify(input))}`, { timeout: PATIENCE });
    await page.waitForFunction('globalThis.outcome', { timeout: PATIENCE });
    return /** @type {Record<string, unknown>} */ (await page.evaluate('globalThis.outcome'));
  } catch (error) {
    throw new Error([String(error), ...problems].join('\n'), { cause: error });
  } finally {
    await page.close();
  }
}

/** Serves a folder until the test file ends, and returns the address. @param {string} folder */
export async function serveFolder(folder) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const file = join(folder, normalize(pathname.endsWith('/') ? `${pathname}index.html` : pathname));
    const body = await readFile(file).catch(() => undefined);
    const type = TYPES[/** @type {'.js'} */ (extname(file))] ?? 'application/octet-stream';
    response.writeHead(body ? 200 : 404, { 'content-type': type }).end(body);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return `http://127.0.0.1:${port}/`;
}
