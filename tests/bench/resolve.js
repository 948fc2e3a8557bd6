// Measures resolutions of recorded projects in a browser tab, and the lower limit: a bare `fetch`
// of the same documents in the same browser.
//
// Each round has a fresh browser without a cache, over HTTP/2. In a worker of its own, as in the
// playground, it runs
//   cold        a resolution; `tree` is the moment at which every package had its place;
//   kept        the same, and what came is kept in IndexedDB;
//   bare        `fetch` of all documents that the resolution gets, in its order, as many at once;
//   packuments  the same without the documents of versions: what the tree needs;
//   chain       the same, but each packument only after one that names its package, as a resolver
//               has to: the lower limit of `tree`;
//   warm        the resolution again in the same browser, after a reload, with what the cache has kept;
//   snapshot    a resolution that begins with what `espalier snapshot` wrote, its download included.
// Subjects alternate, so that other work of the machine affects all of them alike. Every lock is
// compared with npm's.
//
//   node tests/bench/resolve.js --corpus DIR [--project NAME]... [--rounds N] [--delay DURATION] [--only SUBJECT]... [--dist DIR]
//     [--trace FILE [--trace-seconds N]]
//
// The trace is of the first run of the first subject.
// @ts-check

import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { executable, root, serveFast } from '../replay.js';
import { Tab } from './tab.js';

const { values } = parseArgs({
  options: {
    corpus: { type: 'string' },
    project: { type: 'string', multiple: true, default: ['vite-react-ts', 'alotta-files', 'ant-design'] },
    rounds: { type: 'string', default: '3' },
    delay: { type: 'string', default: '0ms' },
    only: { type: 'string', multiple: true },
    dist: { type: 'string', default: join(root, 'pkg/dist') },
    trace: { type: 'string' },
    'trace-seconds': { type: 'string', default: '30' },
  },
});
if (!values.corpus) throw new Error('--corpus names the recorded registry');
const { corpus } = values;
const subjects = ['cold', 'kept', 'bare', 'packuments', 'chain', 'warm', 'snapshot'].filter(
  (name) => !values.only || values.only.includes(name),
);

const scratch = mkdtempSync(join(tmpdir(), 'espalier-resolve-'));
const certificate = join(scratch, 'certificate.pem');
const registry = await serveFast(corpus, '--tls', '--certificate', certificate, '--delay', values.delay);
try {
  console.log(
    '| project | subject | seconds (median, least–most) | of bare | CPU seconds: page, rest | of bare | requests |',
  );
  console.log('| --- | --- | ---: | ---: | ---: | ---: | ---: |');
  for (const project of values.project) await compare(project);
} finally {
  registry.stop();
  rmSync(scratch, { recursive: true });
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
  const lock = JSON.parse(expected);
  /** @type {Map<string, Figures[]>} */
  const figures = new Map(subjects.map((name) => [name, []]));
  const record = () => inTab((tab) => tab.run({ type: 'record', ...input }), undefined);
  // While the server compresses its answers, a resolution learns later in which form packuments are
  // cheaper, and requests more documents. So only the second recording counts.
  await record();
  const { documents } = await record();
  if (subjects.includes('snapshot')) writeSnapshot(folder, input);
  for (let round = 0; round < Number(values.rounds); round++) {
    const order = round % 2 === 0 ? subjects : subjects.toReversed();
    for (const subject of order) {
      const told = await run(subject, input, documents, lock, round === 0 && subject === subjects[0]);
      const lockfile = told.lockfile?.replaceAll(`"resolved": "${registry.origin}/`, '"resolved": "/');
      if (lockfile !== undefined && lockfile !== expected)
        throw new Error(`${subject}: the lock of ${project} isn't npm's`);
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
    const count = median(of(subject, ({ requests }) => requests));
    const cells = [project, subject, spread, ratio.toFixed(2), parts, cpuRatio.toFixed(2), count];
    console.log(`| ${cells.join(' | ')} |`);
  }
  for (const subject of ['cold', 'kept']) {
    if (!subjects.includes(subject)) continue;
    const startup = median(of(subject, (one) => one.startup ?? Number.NaN));
    console.log(
      `${project}, ${subject}: the worker was ready after ${startup.toFixed(3)} s, which the times leave out`,
    );
    const trees = median(of(subject, ({ tree }) => tree ?? Number.NaN));
    const ofPackuments = trees / median(of('packuments', (one) => one.seconds));
    const ofChain = trees / median(of('chain', (one) => one.seconds));
    console.log(
      `${project}, ${subject}: the tree is there after ${trees.toFixed(2)} s, ${ofPackuments.toFixed(2)} of packuments, ${ofChain.toFixed(2)} of chain`,
    );
  }
  if (subjects.includes('snapshot')) {
    console.log(`${project}: the snapshot is ${(statSync(join(scratch, 'snapshot')).size / 1e6).toFixed(1)} MB`);
  }
}

/** @typedef {{ seconds: number, tree?: number, startup?: number, page: number, rest: number, lockfile?: string, requests: number }} Figures */
/** @typedef {{ origin: string, manifest: string, flags: Record<string, boolean> }} Input */
/** @typedef {{ url: string, accept: string, after?: number[] }} Document */
/** @typedef {Record<'dependencies' | 'devDependencies' | 'optionalDependencies' | 'peerDependencies', Record<string, string> | undefined>} Dependencies */
/** @typedef {{ packages: Record<string, Dependencies & { name?: string, version?: string }> }} Lock */

/** The flags of npm that these projects need, as fields of the input. @param {string} file */
function flags(file) {
  const given = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return { legacyPeerDeps: given.includes('--legacy-peer-deps'), force: given.includes('--force') };
}

/**
 * The documents that the tree needs: the packuments, and the documents of versions whose packuments
 * nobody needs, because dependents name them exactly. If a range and an exact spec name the same
 * package, only the packument counts here.
 * @param {Document[]} documents
 */
function packuments(documents) {
  const names = new Set(documents.filter(({ url }) => !versionIn(url)).map(({ url }) => nameIn(url)));
  return documents.filter(({ url }) => !versionIn(url) || !names.has(nameIn(url)));
}

/** The name of the package of a document. @param {string} url */
function nameIn(url) {
  return decodeURIComponent(new URL(url).pathname.split('/')[1] ?? '');
}

/** The version that a document is about, unless it is a packument. @param {string} url */
function versionIn(url) {
  return new URL(url).pathname.split('/')[2];
}

/**
 * The documents that the tree needs, each after those that name its package according to npm's
 * lock. A package that nothing in the lock names may be fetched at once.
 * @param {Document[]} documents @param {Lock} lock
 * @returns {Document[]}
 */
function chain(documents, { packages }) {
  const places = new Map(
    documents.map(({ url }, index) => [decodeURIComponent(new URL(url).pathname.slice(1)), index]),
  );
  /** @param {string} name @param {string | undefined} version */
  const placeOf = (name, version) => places.get(`${name}/${version}`) ?? places.get(name);
  const after = documents.map(() => new Set());
  const isNamedAtOnce = new Set();
  for (const [location, entry] of Object.entries(packages)) {
    const { dependencies, devDependencies, optionalDependencies, peerDependencies } = entry;
    const isProject = !location.includes('node_modules/');
    const ownName = entry.name ?? location.slice(location.lastIndexOf('node_modules/') + 13);
    const own = isProject ? undefined : placeOf(ownName, entry.version);
    const named = { ...dependencies, ...optionalDependencies, ...peerDependencies, ...(isProject && devDependencies) };
    for (const [name, spec] of Object.entries(named)) {
      const [, alias, aliased] = /^npm:(@?[^@]+)@?(.*)/.exec(spec) ?? [];
      const place = placeOf(alias ?? name, aliased ?? spec);
      if (place === undefined || place === own) continue;
      if (own === undefined) isNamedAtOnce.add(place);
      else after[place]?.add(own);
    }
  }
  return documents.map((one, place) => ({ ...one, after: isNamedAtOnce.has(place) ? [] : [...(after[place] ?? [])] }));
}

/** @param {string} folder @param {Input} input */
function writeSnapshot(folder, { origin, flags }) {
  writeFileSync(join(scratch, 'package.json'), readFileSync(join(folder, 'package.json')));
  const args = ['snapshot', `--registry=${origin}/`, `--cafile=${certificate}`, '--out', join(scratch, 'snapshot')];
  const more = ['-C', scratch, '--cache', join(scratch, 'cache')];
  if (flags.legacyPeerDeps) more.push('--legacy-peer-deps');
  if (flags.force) more.push('--force');
  execFileSync(executable('espalier-cli'), [...args, ...more], { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** @param {string} subject @param {Input} input @param {Document[]} documents @param {Lock} lock @param {boolean} isFirst @returns {Promise<Figures>} */
async function run(subject, input, documents, lock, isFirst) {
  const resolve = { type: 'resolve', ...input };
  const works = {
    cold: { ...resolve, cache: false },
    kept: { ...resolve, cache: true },
    bare: { type: 'fetch', documents },
    packuments: { type: 'fetch', documents: packuments(documents) },
    chain: { type: 'fetch', documents: chain(packuments(documents), lock) },
    warm: { ...resolve, cache: true },
    snapshot: { ...resolve, cache: false, snapshot: '/scratch/snapshot' },
  };
  const work = works[/** @type {keyof typeof works} */ (subject)];
  const trace = isFirst && values.trace ? { file: values.trace, seconds: Number(values['trace-seconds']) } : undefined;
  return inTab(async (tab) => {
    if (subject === 'warm') {
      await tab.run(work);
      await tab.run({ type: 'reload' });
    }
    const before = tab.cpu();
    const told = await tab.run(work);
    const after = tab.cpu();
    const requests = 'documents' in work ? work.documents.length : told.requests;
    return { ...told, requests, page: after.page - before.page, rest: after.rest - before.rest };
  }, trace);
}

/**
 * A fresh browser.
 * @template T
 * @param {(tab: Tab) => Promise<T>} use
 * @param {import('./tab.js').Trace | undefined} trace
 */
async function inTab(use, trace) {
  const folders = { pages: join(import.meta.dirname, 'pages'), espalier: values.dist, scratch };
  const tab = await Tab.open('pages/resolve.html', folders, trace);
  try {
    return await use(tab);
  } finally {
    await tab.close();
  }
}

/** @param {number[]} numbers */
function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
