// Measures the playground with one large recorded project: the time until it can be used after the
// resolution, the longest tasks of its main thread in each phase, the frames while the overview is
// panned, the time of an edit with cached packuments, and the memory of its JavaScript. `memory.js`
// measures the whole process.
//
// The time of a task is its processor time in Chromium's trace. The time on the clock, which
// includes the work of other programs, is in brackets.
//
//   npm run --workspace web build
//   node tests/bench/playground.js --corpus DIR [--project NAME] [--profile FILE] [--dist DIR]
// @ts-check

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chromium } from '@playwright/test';
import { preview } from 'vite';
import { chromiumPath } from '../chromium.js';
import { serveFast } from '../replay.js';
import { recorded } from './project.js';

const { values } = parseArgs({
  options: {
    corpus: { type: 'string' },
    project: { type: 'string', default: 'ant-design' },
    profile: { type: 'string' },
    dist: { type: 'string', default: 'dist' },
  },
});
const PHASE = 'phase ';
if (!values.corpus) throw new Error('--corpus names the recorded registry');
const { manifest, switches } = recorded(values.corpus, values.project);

const registry = await serveFast(values.corpus, '--tls');
const root = fileURLToPath(new URL('../../web/', import.meta.url));
const server = await preview({
  root,
  logLevel: 'error',
  build: { outDir: values.dist },
  preview: { host: '127.0.0.1', port: 0 },
});
const address = server.resolvedUrls?.local[0];
const browser = await chromium.launch({
  executablePath: chromiumPath(),
  args: ['--disable-gpu', '--disable-background-networking', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
});
const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ignoreHTTPSErrors: true });
const page = await context.newPage();
/** @typedef {{ name: string, ph: string, pid: number, tid: number, ts: number, dur?: number, tdur?: number }} Traced */
/** @type {Traced[]} */
const traced = [];
const tracer = await browser.newBrowserCDPSession();
tracer.on('Tracing.dataCollected', ({ value }) => {
  const events = /** @type {Traced[]} */ (/** @type {unknown} */ (value));
  traced.push(...events.filter(({ name }) => name.endsWith('RunTask') || name.startsWith(PHASE)));
});
await tracer.send('Tracing.start', {
  transferMode: 'ReportEvents',
  traceConfig: { includedCategories: ['toplevel', 'devtools.timeline', 'blink.user_timing'] },
});
const devtools = await context.newCDPSession(page);
if (values.profile) {
  await devtools.send('Profiler.enable');
  await devtools.send('Profiler.setSamplingInterval', { interval: 500 });
  await devtools.send('Profiler.start');
}

const done = () => page.locator('.sentence', { hasText: /packages.* in [\d.]+ s/ }).waitFor({ timeout: 300_000 });
/** @type {string[]} */
const phases = [];
/** Ends a phase, which began with the last call. */
const ended = async (/** @type {string} */ phase) => {
  const mark = `${PHASE}${phases.push(phase)}`;
  await page.evaluate(async (name) => {
    await new Promise((rest) => setTimeout(rest, 1_200));
    performance.mark(name);
  }, mark);
};
const report = (/** @type {string} */ what, /** @type {unknown} */ figure) =>
  console.log(`${what.padEnd(28)} ${Array.isArray(figure) ? figure.join(' ') : figure}`);
const heap = async () => {
  await devtools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devtools.send('Runtime.getHeapUsage');
  return `${(usedSize / 1e6).toFixed(0)} MB`;
};

await page.goto(`${address}#view=overview&registry=${encodeURIComponent(`${registry.origin}/`)}${switches}`);
await page.getByRole('textbox').first().fill(manifest);
await ended('');
await page.keyboard.press('ControlOrMeta+Enter');
await done();
// The first idle moment after the end, when the page would react to a click.
const ready = await page.evaluate(() => {
  const began = performance.now();
  return new Promise((rest) => requestAnimationFrame(() => setTimeout(() => rest(performance.now() - began))));
});
report('resolution', await page.locator('.sentence').innerText());
report('then ready after, ms', Math.round(/** @type {number} */ (ready)));
await ended('resolving');
report('heap', await heap());

const canvas = page.locator('.overview-canvas');
const box = /** @type {{ x: number, y: number, width: number, height: number }} */ (await canvas.boundingBox());
for (const zoomed of [0, 6]) {
  for (let step = 0; step < zoomed; step += 1) await page.getByRole('button', { name: 'Zoom in' }).click();
  await ended('');
  const frames = await canvas.evaluate(async (element) => {
    // The page itself moves the picture in each frame, because a driver would add pauses of its
    // own.
    const send = (/** @type {string} */ type, /** @type {number} */ x) =>
      element.dispatchEvent(
        new PointerEvent(type, { pointerId: 1, clientX: x, clientY: 500, button: 0, buttons: 1, bubbles: true }),
      );
    element.setPointerCapture = () => {};
    send('pointerdown', 700);
    const began = performance.now();
    let count = 0;
    while (performance.now() - began < 3_000) {
      send('pointermove', 700 + Math.round(200 * Math.sin(count / 20)));
      await new Promise((next) => requestAnimationFrame(next));
      count += 1;
    }
    send('pointerup', 700);
    return (count * 1000) / (performance.now() - began);
  });
  report(`frames a second, ${zoomed === 0 ? 'all of it' : 'zoomed in'}`, frames.toFixed(0));
  await ended('panning');
}
await page.mouse.move(box.x + 300, box.y + 200);
for (const view of ['Tree', 'Focus', 'Map', 'Table', 'Duplicates', 'Health', 'Overview']) {
  await page.getByRole('tab', { name: view }).click();
  await ended(view);
}
await page.getByRole('searchbox').pressSequentially('react', { delay: 60 });
await ended('searching');
await page.keyboard.press('Escape');

for (let time = 0; time < 4; time += 1) {
  await ended('');
  const began = Date.now();
  await page.getByText('--prefer-dedupe').click();
  await page.locator('.sentence', { hasText: 'Resolving the change' }).waitFor();
  await done();
  report('what if, ms', `${Date.now() - began} (${await page.locator('.sentence').innerText()})`);
  await ended('what if');
}
report('heap', await heap());
if (values.profile) {
  const { profile } = await devtools.send('Profiler.stop');
  writeFileSync(values.profile, JSON.stringify(profile));
}
const complete = new Promise((resolve) => tracer.once('Tracing.tracingComplete', resolve));
await tracer.send('Tracing.end');
await complete;
const marks = traced.filter(({ name }) => name.startsWith(PHASE)).sort((a, b) => a.ts - b.ts);
marks.forEach(({ pid, tid, ts }, index) => {
  const from = marks[index - 1]?.ts ?? 0;
  const tasks = traced.filter((task) => task.pid === pid && task.tid === tid && task.ts >= from && task.ts < ts);
  const longest = (/** @type {'dur' | 'tdur'} */ time) =>
    tasks
      .map((task) => Math.round((task[time] ?? 0) / 1000))
      .sort((a, b) => b - a)
      .slice(0, 4)
      .join(' ');
  if (phases[index]) report(`tasks, ${phases[index]}, ms`, `${longest('tdur')} (${longest('dur')})`);
});
await browser.close();
await server.close();
registry.stop();
