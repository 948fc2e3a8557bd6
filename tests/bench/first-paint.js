// Measures the first paint of the built playground on a slow network: the throttling that
// Chromium's developer tools call "Fast 3G". The browser's own work counts too, so the machine
// should be idle.
//
//   npm run --workspace web build
//   node tests/bench/first-paint.js
// @ts-check

import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { chromium } from '@playwright/test';
import { chromiumPath } from '../chromium.js';

const FAST_3G = { offline: false, latency: 562.5, downloadThroughput: 180_000, uploadThroughput: 84_375 };
const ROUNDS = 5;
/** @type {Record<string, string>} */
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

const dist = fileURLToPath(new URL('../../web/dist/', import.meta.url));
// Static hosts send compressed files.
const server = createServer((request, response) => {
  const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname).slice(1) || 'index.html';
  const file = join(dist, path);
  if (!existsSync(file)) return void response.writeHead(404).end();
  const type = TYPES[extname(file)];
  if (!type) return void createReadStream(file).pipe(response);
  response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' }).end(gzipSync(readFileSync(file)));
});
await new Promise((listening) => server.listen(0, '127.0.0.1', () => listening(undefined)));
const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
const browser = await chromium.launch({
  executablePath: chromiumPath(),
  args: ['--disable-gpu', '--disable-background-networking', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
});
/** @type {Record<string, number[]>} */
const all = {};
for (let round = 0; round < ROUNDS; round += 1) {
  const page = await browser.newPage();
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Network.enable');
  await devtools.send('Network.emulateNetworkConditions', FAST_3G);
  await page.goto(`http://127.0.0.1:${port}/`);
  await page.getByRole('textbox').first().waitFor();
  const paints = await page.evaluate(() => [
    ...performance.getEntriesByType('paint').map(({ name, startTime }) => /** @type {const} */ ([name, startTime])),
    /** @type {const} */ (['field there', performance.now()]),
  ]);
  for (const [name, time] of paints) (all[name] ??= []).push(time);
  await page.close();
}
for (const [name, times] of Object.entries(all)) {
  const sorted = times.toSorted((a, b) => a - b);
  console.log(`${name.padEnd(24)} ${Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0)} ms`);
}
await browser.close();
server.close();
