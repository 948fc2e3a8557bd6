// Faults of networks and registries while packages are fetched, in Node and in Chromium: `install`
// and `mount` end with the right files after another attempt, or with an error that names the
// package and the address. An installation that was stopped continues with the packages that it
// had.

import { join } from 'node:path';
import { expect, test, type Page } from '@playwright/test';
import { manifest } from './playground';
import { embedded, executable, root, serve } from '../replay.js';

test.describe.configure({ mode: 'parallel' });

const SAMPLE = 'sandbox';
/** The packages of that project. */
const PACKAGES = ['clsx', 'react', 'react-dom', 'scheduler'];
const DIST = join(root, 'pkg/dist');

test.beforeAll(() => {
  test.setTimeout(300_000);
  executable('espalier-replay');
});

interface Case {
  what: string;
  options: string[];
  input?: { retries?: number; timeout?: number };
  /** The error's code; without one, the installation is complete. */
  code?: string | { Node: string; Chromium: string };
}

const READABLE = '--cors-on-errors';
const ONE = 'of=tarballs,name=react';

const cases: Case[] = [
  { what: 'a registry that is busy once', options: ['--fault', '429,of=tarballs,times=1,retry-after=1', READABLE] },
  { what: 'a registry that fails twice', options: ['--fault', '503,of=tarballs,times=2'] },
  { what: 'connections that are cut', options: ['--fault', 'reset,of=tarballs,times=1'] },
  { what: 'tarballs that end early', options: ['--fault', 'truncate,of=tarballs,times=2'] },
  { what: 'tarballs that stop', options: ['--fault', 'stall-body,of=tarballs,times=1'], input: { timeout: 1000 } },
  { what: 'silence', options: ['--fault', 'stall,of=tarballs,times=1'], input: { timeout: 1000 } },
  { what: 'a length that lies, once', options: ['--fault', 'short-length,of=tarballs,times=1'] },
  { what: 'a bit that is turned over, once', options: ['--fault', 'corrupt,of=tarballs,times=1'] },
  { what: 'a redirect to another origin', options: ['--fault', 'redirect,of=tarballs'] },
  {
    what: 'several faults at random',
    options: ['--fault', '500,rate=0.3,times=1', '--fault', 'truncate,rate=0.4,times=1', '--fault-seed', '5'],
  },
  {
    what: 'a registry that stays busy',
    options: ['--fault', `429,${ONE}`, READABLE],
    input: { retries: 0 },
    code: 'E429',
  },
  { what: 'a tarball that is not there', options: ['--fault', `404,${ONE}`, READABLE], code: 'E404' },
  { what: 'a tarball that is forbidden', options: ['--fault', `403,${ONE}`, READABLE], code: 'E403' },
  {
    what: 'a failure without CORS headers',
    options: ['--fault', `500,${ONE}`],
    input: { retries: 0 },
    code: { Node: 'E500', Chromium: 'ENETUNREACH' },
  },
  {
    what: 'nothing but cut connections',
    options: ['--fault', `reset,${ONE}`],
    input: { retries: 1 },
    code: 'ENETUNREACH',
  },
  {
    what: 'nothing but silence',
    options: ['--fault', `stall,${ONE}`],
    // Without retries, every other answer has to arrive in time, even on a busy machine.
    input: { retries: 0, timeout: 3000 },
    code: 'ENETUNREACH',
  },
  {
    what: 'only half of a tarball',
    options: ['--fault', `truncate,${ONE}`],
    input: { retries: 0 },
    code: 'ENETUNREACH',
  },
  {
    what: 'half of a tarball as if it were all',
    options: ['--fault', `short-length,${ONE}`],
    input: { retries: 1 },
    code: 'EINTEGRITY',
  },
  {
    what: 'a tarball with another bit',
    options: ['--fault', `corrupt,${ONE}`],
    input: { retries: 1 },
    code: 'EINTEGRITY',
  },
  {
    what: 'a document with hashes of something else',
    options: ['--fault', 'wrong-hash,name=react'],
    input: { retries: 0 },
    code: 'EINTEGRITY',
  },
];

type Environment = 'Node' | 'Chromium';

for (const environment of ['Node', 'Chromium'] as const) {
  test.describe(environment, () => {
    for (const { what, options, input, code } of cases) {
      test(what, async ({ page }) => {
        const whole = await digests();
        const { origin, stop } = await serve(embedded, '--also-serve', DIST, ...options);
        try {
          const given = { manifest: manifest(SAMPLE), registry: origin, ...input };
          const expected = typeof code === 'object' ? code[environment] : code;
          for (const way of ['install', 'mount'] as const) {
            const { error, files } = await attempt(environment, page, { way, input: given });
            if (expected === undefined) {
              expect(error).toBeUndefined();
              expect(files).toEqual(whole);
            } else {
              expect(error).toMatchObject({ code: expected, package: 'react', location: 'node_modules/react' });
              expect(error?.url).toMatch(/\/react\/-\/react-[\d.]+\.tgz$/);
              expect(error?.message).toContain('react');
              expect(error?.chain).toMatchObject([{ location: '', spec: '^19.1.0' }]);
            }
          }
        } finally {
          stop();
        }
      });
    }

    test('an installation that was stopped continues with its cache', async ({ page }) => {
      const whole = await digests();
      const { origin, stop } = await serve(embedded, '--also-serve', DIST, '--delay', '2ms');
      const tarballs = async () => ((await (await fetch(`${origin}/-/stats`)).json()) as { tarballs: number }).tarballs;
      try {
        const input = { manifest: manifest(SAMPLE), registry: origin, concurrency: 1 };
        for (const unpacked of [0, 1, 2, 3]) {
          const cache = { name: `stopped after ${unpacked}` };
          const stopped = await attempt(environment, page, { way: 'install', input: { ...input, cache }, unpacked });
          expect(stopped.error).toEqual({ code: 'NONE', message: 'AbortError' });
          const before = await tarballs();
          const resumed = await attempt(environment, page, { way: 'install', input: { ...input, cache } }, true);
          expect(resumed.files).toEqual(whole);
          // The cache kept every unpacked package and every document.
          expect((await tarballs()) - before).toBeLessThanOrEqual(PACKAGES.length - unpacked);
          expect(resumed.documents).toBe(0);
        }
      } finally {
        stop();
      }
    });
  });
}

interface Input {
  manifest: string;
  registry: string;
  cache?: { name: string };
}

interface Job {
  way: 'install' | 'mount';
  input: Input;
  /** It is stopped when so many packages are in place. */
  unpacked?: number;
}

interface Answer {
  /** Path and hash of each file. */
  files?: string[];
  /** How many were asked for. */
  documents?: number;
  error?: { code: string; message: string; package?: string; url?: string; chain?: unknown[] };
}

let known: Promise<string[]> | undefined;

/** What there is when nothing goes wrong. */
function digests(): Promise<string[]> {
  known ??= (async () => {
    const { origin, stop } = await serve(embedded);
    const { files } = await run({
      module: join(DIST, 'node.js'),
      job: { way: 'install', input: { manifest: manifest(SAMPLE), registry: origin } },
    });
    stop();
    return files!;
  })();
  return known;
}

/**
 * Each attempt has a fresh page, unless `inSamePage`. A page that is closed loses what its cache
 * has not written yet.
 */
async function attempt(environment: Environment, page: Page, job: Job, inSamePage = false): Promise<Answer> {
  if (environment === 'Node') return run({ module: join(DIST, 'node.js'), job });
  // The same server by another name, which is another origin.
  const elsewhere = job.input.registry.replace('127.0.0.1', 'localhost');
  if (!inSamePage) await page.goto(`${elsewhere}/-/stats`);
  return page.evaluate(run, { module: `${elsewhere}/index.js`, job });
}

/** Runs in Node or in the page. */
async function run({ module, job }: { module: string; job: Job }): Promise<Answer> {
  const espalier = await import(module);
  const hash = async (path: string, bytes: Uint8Array<ArrayBuffer>) => {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    return `${path} ${[...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  };
  const told = (error: Error & { toJSON?: () => Answer['error'] }) => ({
    error: error.toJSON?.() ?? { code: 'NONE', message: error.name },
  });
  try {
    if (job.way === 'mount') {
      const { tree } = await espalier.mount(job.input).result;
      const below = async (folder: string): Promise<string[]> => {
        const names: string[] = await tree.readdir(folder);
        const found = names.map(async (name) => {
          const path = `${folder}/${name}`;
          const { type } = await tree.lstat(path);
          if (type === 'folder') return below(path);
          // The `resolved` of the hidden lockfile depend on the origin.
          return type === 'link' || name === '.package-lock.json' ? [] : [await hash(path, await tree.readFile(path))];
        });
        return (await Promise.all(found)).flat();
      };
      return { files: (await below('node_modules')).sort() };
    }
    const installation = espalier.install(job.input);
    const result = installation.result.catch(() => undefined);
    let left = job.unpacked ?? Infinity;
    for await (const event of installation) {
      if (event.type === 'planned' && left === 0) installation.abort();
      if (event.type === 'unpacked' && --left === 0) installation.abort();
    }
    const { files, statistics } = await result;
    const entries = [...files.values()].filter(
      (entry) => entry.type === 'file' && !entry.path.endsWith('.package-lock.json'),
    );
    const hashes = await Promise.all(entries.map(({ path, bytes }) => hash(path, bytes)));
    return { files: hashes.sort(), documents: statistics.requests };
  } catch (error) {
    return told(error as Error);
  }
}
