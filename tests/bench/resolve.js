// Resolving recorded projects in a browser tab, beside the floor: the bare `fetch` of the same documents in the same browser.
//
// Each round is a fresh browser with nothing kept, over h2. In a worker of its own, as in the playground, runs
//   cold        a resolution; `tree` is the moment at which every package had its place;
//   bare        `fetch` of all documents that the resolution asks for, in its order, as many at once;
//   packuments  the same without the documents of versions: what the tree needs;
//   warm        the resolution again in the same browser, after a reload, with what the cache has kept.
// Subjects alternate, so that whatever else the machine does meets all alike. Every lock is compared with npm's.
//
//   node tests/bench/resolve.js --corpus DIR [--project NAME]... [--rounds N] [--delay DURATION] [--only SUBJECT]... [--profile FILE]
// @ts-check

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright';
import { root, serve } from '../replay.js';

const { values } = parseArgs({
  options: {
    corpus: { type: 'string' },
    project: { type: 'string', multiple: true, default: ['vite-react-ts', 'alotta-files', 'ant-design'] },
    rounds: { type: 'string', default: '3' },
    delay: { type: 'string', default: '0ms' },
    only: { type: 'string', multiple: true },
    profile: { type: 'string' },
  },
});
if (!values.corpus) throw new Error('--corpus names the recorded registry');
const { corpus } = values;
const subjects = ['cold', 'bare', 'packuments', 'warm'].filter((name) => !values.only || values.only.includes(name));

const executablePath = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const args = ['--disable-gpu', '--disable-background-networking', '--ignore-certificate-errors'];
if (process.getuid?.() === 0) args.push('--no-sandbox');

const registry = await serve(corpus, '--tls', '--delay', values.delay, '--also-serve', join(root, 'pkg/dist'));
try {
  console.log(
    '| project | subject | seconds (median, least–most) | of bare | CPU seconds: page, rest | of bare | requests |',
  );
  console.log('| --- | --- | ---: | ---: | ---: | ---: | ---: |');
  for (const project of values.project) await compare(project);
} finally {
  registry.stop();
}

/** @param {string} project */
async function compare(project) {
  const folder = join(corpus, 'projects', project);
  const input = {
    origin: registry.origin,
    manifest: readFileSync(join(folder, 'package.json'), 'utf8'),
    flags: flags(join(folder, 'npm-args')),
  };
  const expected = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  /** @type {Map<string, Figures[]>} */
  const figures = new Map(subjects.map((name) => [name, []]));
  const documents = await documentsOf(input);
  const asked = { cold: documents.length, bare: documents.length, packuments: packuments(documents).length, warm: 0 };
  for (let round = 0; round < Number(values.rounds); round++) {
    const order = round % 2 === 0 ? subjects : subjects.toReversed();
    for (const subject of order) {
      const told = await run(subject, input, documents);
      const isRight = told.lockfile === undefined || told.lockfile === expected;
      if (!isRight) throw new Error(`${subject}: the lock of ${project} isn't npm's`);
      if (subject === 'warm') asked.warm = told.requests ?? 0;
      figures.get(subject)?.push(told);
    }
  }
  const of = (/** @type {string} */ subject, /** @type {(one: Figures) => number} */ which) =>
    (figures.get(subject) ?? []).map(which);
  const cpu = (/** @type {Figures} */ { page, rest }) => page + rest;
  for (const subject of subjects) {
    const seconds = of(subject, (one) => one.seconds);
    const spread = `${median(seconds).toFixed(2)} (${Math.min(...seconds).toFixed(2)}–${Math.max(...seconds).toFixed(2)})`;
    const ratio = median(seconds) / median(of('bare', (one) => one.seconds));
    const parts = `${median(of(subject, ({ page }) => page)).toFixed(1)}, ${median(of(subject, ({ rest }) => rest)).toFixed(1)}`;
    const cpuRatio = median(of(subject, cpu)) / median(of('bare', cpu));
    const count = asked[/** @type {keyof typeof asked} */ (subject)];
    const cells = [project, subject, spread, ratio.toFixed(2), parts, cpuRatio.toFixed(2), count];
    console.log(`| ${cells.join(' | ')} |`);
  }
  const trees = of('cold', ({ tree }) => tree ?? Number.NaN);
  const ofPackuments = median(trees) / median(of('packuments', (one) => one.seconds));
  console.log(
    `${project}: the tree is there after ${median(trees).toFixed(2)} s, ${ofPackuments.toFixed(2)} of packuments`,
  );
}

/** @typedef {{ seconds: number, tree?: number, page: number, rest: number, lockfile?: string, requests?: number }} Figures */
/** @typedef {{ origin: string, manifest: string, flags: Record<string, boolean> }} Input */
/** @typedef {{ url: string, accept: string }} Document */

/** The flags of npm that these projects need, as fields of the input. @param {string} file */
function flags(file) {
  const given = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return { legacyPeerDeps: given.includes('--legacy-peer-deps'), force: given.includes('--force') };
}

/** @param {Document[]} documents */
function packuments(documents) {
  return documents.filter(({ accept }) => accept.includes('install-v1'));
}

/** What a resolution asks for, in its order. @param {Input} input @returns {Promise<Document[]>} */
async function documentsOf(input) {
  return inBrowser(input, (page) =>
    page.evaluate(async ({ origin, manifest, flags }) => {
      const { resolve } = await import(`${origin}/index.js`);
      /** @type {Document[]} */
      const seen = [];
      const recording = (/** @type {string} */ url, /** @type {any} */ init) => {
        seen.push({ url, accept: init.headers.accept ?? '*/*' });
        return fetch(url, init);
      };
      await resolve({ manifest, ...flags, registry: `${origin}/`, fetch: recording }).result;
      return seen;
    }, input),
  );
}

/** @param {string} subject @param {Input} input @param {Document[]} documents @returns {Promise<Figures>} */
async function run(subject, input, documents) {
  return inBrowser(input, async (page) => {
    if (subject === 'cold') return resolved(page, input, false);
    if (subject === 'warm') {
      await resolved(page, input, true);
      await page.reload();
      return resolved(page, input, true);
    }
    return fetched(page, subject === 'bare' ? documents : packuments(documents));
  });
}

/** @param {import('playwright').Page} page @param {Input} input @param {boolean} cache */
async function resolved(page, input, cache) {
  const profiled = values.profile ? await profiler(page) : undefined;
  const told = await counted(page, () =>
    page.evaluate(
      async ({ origin, manifest, flags, cache }) => {
        const { createWorkerClient } = await import(`${origin}/worker.js`);
        const client = createWorkerClient();
        await client.resolve({ manifest: '{}', registry: `${origin}/` }).result;
        const start = performance.now();
        const resolution = client.resolve({ manifest, ...flags, cache, registry: `${origin}/` });
        let tree = 0;
        for await (const batch of resolution.batches()) {
          if (batch.some((/** @type {{ type: string }} */ { type }) => type === 'settled'))
            tree = (performance.now() - start) / 1000;
        }
        const { lockfile, statistics } = await resolution.result;
        const seconds = (performance.now() - start) / 1000;
        client.terminate();
        return {
          seconds,
          tree,
          lockfile: lockfile.replaceAll(`"resolved": "${origin}/`, '"resolved": "/'),
          requests: statistics.requests,
        };
      },
      { ...input, cache },
    ),
  );
  await profiled?.();
  return told;
}

/** `fetch` and nothing else, in a worker. @param {import('playwright').Page} page @param {Document[]} documents */
async function fetched(page, documents) {
  return counted(page, () =>
    page.evaluate(async (documents) => {
      const work = async () => {
        const { data } = await new Promise((told) => addEventListener('message', told, { once: true }));
        const start = performance.now();
        let next = 0;
        const fetchSome = async () => {
          while (next < data.length) {
            const { url, accept } = data[next++];
            await (await fetch(url, { headers: { accept } })).arrayBuffer();
          }
        };
        await Promise.all(Array.from({ length: 128 }, fetchSome));
        postMessage((performance.now() - start) / 1000);
      };
      const worker = new Worker(URL.createObjectURL(new Blob([`(${work})()`], { type: 'text/javascript' })));
      worker.postMessage(documents);
      const seconds = await new Promise((told) => worker.addEventListener('message', ({ data }) => told(data)));
      worker.terminate();
      return { seconds };
    }, documents),
  );
}

/**
 * What the browser's processes compute meanwhile: the page's, and the others, of which the one for the network has most to do.
 * @template T
 * @param {import('playwright').Page} page
 * @param {() => Promise<T>} run
 */
async function counted(page, run) {
  const browser = /** @type {import('playwright').Browser} */ (page.context().browser());
  const session = await browser.newBrowserCDPSession();
  const sums = async () => {
    const { processInfo } = await session.send('SystemInfo.getProcessInfo');
    const sum = (/** @type {boolean} */ ofPages) =>
      processInfo
        .filter(({ type }) => (type === 'renderer') === ofPages)
        .reduce((all, { cpuTime }) => all + cpuTime, 0);
    return { page: sum(true), rest: sum(false) };
  };
  const before = await sums();
  const told = await run();
  const after = await sums();
  return { ...told, page: after.page - before.page, rest: after.rest - before.rest };
}

/**
 * A fresh browser on a page of the registry's origin.
 * @template T
 * @param {Input} input
 * @param {(page: import('playwright').Page) => Promise<T>} use
 */
async function inBrowser({ origin }, use) {
  const browser = await chromium.launch({ executablePath, args });
  try {
    const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage();
    page.setDefaultTimeout(180_000);
    await page.goto(`${origin}/-/stats`);
    return await use(page);
  } finally {
    await browser.close();
  }
}

/** Records what the page's worker does; the returned function writes it. @param {import('playwright').Page} page */
async function profiler(page) {
  const browser = /** @type {import('playwright').Browser} */ (page.context().browser());
  const session = await browser.newBrowserCDPSession();
  const categories = [
    'disabled-by-default-v8.cpu_profiler',
    'v8',
    'v8.wasm',
    'blink.user_timing',
    'loading',
    'toplevel',
    'devtools.timeline',
  ];
  /** @type {object[]} */
  const events = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
  await session.send('Tracing.start', {
    traceConfig: { includedCategories: categories },
    transferMode: 'ReportEvents',
  });
  return async () => {
    const complete = new Promise((told) => session.once('Tracing.tracingComplete', told));
    await session.send('Tracing.end');
    await complete;
    writeFileSync(/** @type {string} */ (values.profile), JSON.stringify({ traceEvents: events }));
  };
}

/** @param {number[]} numbers */
function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
