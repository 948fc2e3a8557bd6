// Measures the memory of the playground's page with one large recorded project: after the
// resolution, and after four what-ifs.
//
// The figures are the renderer's share of physical memory according to Linux, including Chromium's
// own 60 MB: first with uncollected garbage, then after
// `performance.measureUserAgentSpecificMemory()`, which collects it. The result of that function,
// which excludes wasm's memory, is in brackets.
//
// No driver listens to the network, because DevTools would keep every body: 130 MB for ant-design.
//
//   npm run --workspace web build
//   node tests/bench/memory.js --corpus DIR [--project NAME] [--dist DIR]
// @ts-check

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { launch } from 'puppeteer-core';
import { preview } from 'vite';
import { chromiumPath } from '../chromium.js';
import { serveFast } from '../replay.js';
import { recorded } from './project.js';

const { values } = parseArgs({
  options: {
    corpus: { type: 'string' },
    project: { type: 'string', default: 'ant-design' },
    dist: { type: 'string', default: 'dist' },
  },
});
if (!values.corpus) throw new Error('--corpus names the recorded registry');
const { manifest, switches } = recorded(values.corpus, values.project);

const registry = await serveFast(values.corpus, '--tls');
const server = await preview({
  root: fileURLToPath(new URL('../../web/', import.meta.url)),
  logLevel: 'error',
  build: { outDir: values.dist },
  preview: {
    host: '127.0.0.1',
    port: 0,
    // Only isolated pages have this function.
    headers: { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' },
  },
});
const browser = await launch({
  executablePath: chromiumPath(),
  networkEnabled: false,
  defaultViewport: { width: 1440, height: 900 },
  args: [
    '--disable-gpu',
    '--ignore-certificate-errors',
    '--disable-background-networking',
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ],
});
const page = await browser.newPage();
const devtools = await browser.target().createCDPSession();

const renderer = async () => {
  const { processInfo } = await devtools.send('SystemInfo.getProcessInfo');
  const sizes = processInfo.flatMap(({ type, id }) => {
    const file = `/proc/${id}/smaps_rollup`;
    if (type !== 'renderer' || !existsSync(file)) return [];
    return [Number(/^Pss: +(\d+)/m.exec(readFileSync(file, 'utf8'))?.[1] ?? 0) / 1000];
  });
  return `${Math.max(0, ...sizes).toFixed(0)} MB`;
};
const report = async (/** @type {string} */ what) => {
  const before = await renderer();
  const bytes = await page.evaluate(async () => {
    const measuring = /** @type {{ measureUserAgentSpecificMemory(): Promise<{ bytes: number }> }} */ (
      /** @type {unknown} */ (performance)
    );
    return (await measuring.measureUserAgentSpecificMemory()).bytes;
  });
  const said = await page.$eval('.sentence', (element) => element.textContent).catch(() => '');
  console.log(`${what.padEnd(20)} ${before}, ${await renderer()} (${(bytes / 1e6).toFixed(0)} MB)   ${said}`);
};
const ended = () =>
  page.waitForFunction(() => /packages.* in [\d.]+ s/.test(document.querySelector('.sentence')?.textContent ?? ''), {
    timeout: 300_000,
  });

const address = `${server.resolvedUrls?.local[0]}#view=overview&registry=${encodeURIComponent(`${registry.origin}/`)}`;
await page.goto(`${address}${switches}`);
await page.waitForSelector('textarea');
await report('at first');
await page.$eval(
  'textarea',
  (field, text) => {
    field.value = text;
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    field.focus();
  },
  manifest,
);
await page.keyboard.down('Control');
await page.keyboard.press('Enter');
await page.keyboard.up('Control');
await ended();
await report('resolved');
for (let time = 1; time <= 4; time += 1) {
  const began = Date.now();
  await page.evaluate(() => {
    const labels = [...document.querySelectorAll('label')];
    labels.find((label) => label.textContent?.includes('--prefer-dedupe'))?.click();
  });
  await page.waitForFunction(() => document.querySelector('.sentence')?.textContent?.includes('Resolving the change'));
  await ended();
  const took = Date.now() - began;
  await report(`what-if ${time}, ${took} ms`);
}
await browser.close();
await server.close();
registry.stop();
