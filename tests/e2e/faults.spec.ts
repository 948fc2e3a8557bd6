// Faults of networks and registries, made by `espalier-replay`: each resolution ends with npm's
// lock after another attempt, or with an error that names the package and the address. The same
// code runs in Node and in Chromium.

import { join } from 'node:path';
import { expect, test, type Page } from '@playwright/test';
import { golden, manifest } from './playground';
import { embedded, executable, root, serve } from '../replay.js';

test.describe.configure({ mode: 'parallel' });

const SAMPLE = 'tiny';
const DIST = join(root, 'pkg/dist');

test.beforeAll(() => {
  test.setTimeout(300_000);
  executable('espalier-replay');
});

interface Case {
  what: string;
  options: string[];
  /** Of the resolution. */
  input?: { retries?: number; timeout?: number };
  /** The error's code; without one, the result is npm's lock. */
  code?: string | { Node: string; Chromium: string };
  status?: number;
}

const READABLE = '--cors-on-errors';

const cases: Case[] = [
  { what: 'a registry that is busy once', options: ['--fault', '429,times=1,retry-after=1', READABLE] },
  // The second retry waits for five seconds, so only one package needs it.
  { what: 'a registry that fails twice', options: ['--fault', '503,times=2,name=ms'] },
  { what: 'a third of the answers fail', options: ['--fault', '500,rate=0.33,times=2', '--fault-seed', '7'] },
  { what: 'connections that are cut', options: ['--fault', 'reset,times=1'] },
  { what: 'answers that end early', options: ['--fault', 'truncate,times=2,name=ms'] },
  { what: 'chunks that do not end', options: ['--fault', 'unended,times=1'] },
  // Only one package stalls, because each attempt takes the whole timeout, and the timeout has to
  // be long enough for the others.
  { what: 'answers that stop', options: ['--fault', 'stall-body,times=1,name=ms'], input: { timeout: 3000 } },
  { what: 'silence', options: ['--fault', 'stall,times=1,name=ms'], input: { timeout: 3000 } },
  { what: 'a redirect to another origin', options: ['--fault', 'redirect'] },
  { what: 'abbreviated documents that do not say so', options: ['--habit', 'plain-types'] },
  { what: 'full documents only', options: ['--habit', 'full-only'] },
  {
    what: 'a registry that stays busy',
    options: ['--fault', '429', READABLE],
    input: { retries: 0 },
    code: 'E429',
    status: 429,
  },
  {
    what: 'a registry that stays broken',
    options: ['--fault', '500', READABLE],
    input: { retries: 1 },
    code: 'E500',
    status: 500,
  },
  {
    what: 'a failure without CORS headers',
    options: ['--fault', '500'],
    input: { retries: 0 },
    code: { Node: 'E500', Chromium: 'ENETUNREACH' },
  },
  { what: 'an address that is forbidden', options: ['--fault', '403', READABLE], code: 'E403' },
  { what: 'nothing but cut connections', options: ['--fault', 'reset'], input: { retries: 1 }, code: 'ENETUNREACH' },
  {
    what: 'nothing but silence',
    options: ['--fault', 'stall'],
    input: { retries: 0, timeout: 300 },
    code: 'ENETUNREACH',
  },
  { what: 'half of a document as if it were all', options: ['--fault', 'short-length'], code: 'EINVALIDRESPONSE' },
  { what: 'only chunks without an end', options: ['--fault', 'unended'], input: { retries: 0 }, code: 'ENETUNREACH' },
  { what: 'only halves of answers', options: ['--fault', 'truncate'], input: { retries: 0 }, code: 'ENETUNREACH' },
];

for (const environment of ['Node', 'Chromium'] as const) {
  test.describe(environment, () => {
    for (const { what, options, input, code, status } of cases) {
      test(what, async ({ page }) => {
        const { origin, stop } = await serve(embedded, '--also-serve', DIST, ...options);
        try {
          const answer = await attempt(environment, page, { manifest: manifest(SAMPLE), registry: origin, ...input });
          const expected = typeof code === 'object' ? code[environment] : code;
          if (expected === undefined) {
            expect(answer.error).toBeUndefined();
            expect(withoutOrigin(answer.lockfile, origin)).toBe(golden(SAMPLE));
          } else {
            expect(answer.error).toMatchObject({
              code: expected,
              package: expect.any(String),
              ...(status && { status }),
            });
            expect(answer.error?.url).toBe(`${origin}/${answer.error?.package}`);
            expect(answer.error?.message).toContain(answer.error?.package);
          }
        } finally {
          stop();
        }
      });
    }
  });
}

// A browser shows no status of a refusal without a CORS header, so it might be a dead network.
test('a version that was never published takes no second request', async ({ page }) => {
  const { origin, stop } = await serve(embedded, '--also-serve', DIST);
  try {
    const elsewhere = alias(origin);
    await page.goto(`${elsewhere}/-/stats`);
    const input = { manifest: '{ "optionalDependencies": { "ms": "99.0.0" } }', registry: origin };
    const statistics = await page.evaluate(
      async ({ module, input }) => (await (await import(module)).resolve(input).result).statistics,
      { module: `${elsewhere}/index.js`, input },
    );
    // The document of the version, and the packument.
    expect(statistics).toMatchObject({ requests: 2, retries: 0 });
  } finally {
    stop();
  }
});

// A resolution that is aborted after one of its first events leaves nothing behind that changes the
// next.
for (const environment of ['Node', 'Chromium'] as const) {
  test(`${environment}: a resolution after aborted ones is complete`, async ({ page }) => {
    const { origin, stop } = await serve(
      embedded,
      '--also-serve',
      DIST,
      '--delay',
      '2ms',
      '--fault',
      '500,rate=0.2,times=1',
    );
    try {
      const input = { manifest: manifest(SAMPLE), registry: origin };
      for (const events of [0, 1, 2, 3, 5, 8]) {
        expect(await attempt(environment, page, input, events)).toEqual({
          error: { code: 'NONE', message: 'AbortError' },
        });
      }
      expect(withoutOrigin((await attempt(environment, page, input)).lockfile, origin)).toBe(golden(SAMPLE));
    } finally {
      stop();
    }
  });
}

interface Input {
  manifest: string;
  registry: string;
}

interface Answer {
  lockfile?: string;
  error?: { code: string; message: string; package?: string; url?: string; status?: number };
}

/** A registry names its tarballs by the origin of the request, which a redirect changes. */
function withoutOrigin(lockfile: string | undefined, origin: string): string | undefined {
  return lockfile
    ?.replaceAll(`"resolved": "${origin}/`, '"resolved": "/')
    .replaceAll(`"resolved": "${alias(origin)}/`, '"resolved": "/');
}

/** The same server by another name, which is another origin. */
function alias(origin: string): string {
  return origin.replace('127.0.0.1', 'localhost');
}

async function attempt(environment: 'Node' | 'Chromium', page: Page, input: Input, events?: number): Promise<Answer> {
  if (environment === 'Node') return run({ module: join(DIST, 'node.js'), input, events });
  const elsewhere = alias(input.registry);
  await page.goto(`${elsewhere}/-/stats`);
  return page.evaluate(run, { module: `${elsewhere}/index.js`, input, events });
}

/** Runs in Node or in the page, and aborts after the given number of events. */
async function run({
  module,
  input,
  events,
}: {
  module: string;
  input: Input;
  events: number | undefined;
}): Promise<Answer> {
  const { resolve } = await import(module);
  const resolution = resolve(input);
  const told = (error: Error & { toJSON?: () => Answer['error'] }) =>
    error.toJSON?.() ?? { code: 'NONE', message: error.name };
  const answer = resolution.result.then(
    ({ lockfile }: { lockfile: string }) => ({ lockfile }),
    (error: Error) => ({ error: told(error) }),
  );
  if (events === 0) resolution.abort();
  let seen = 0;
  try {
    for await (const _ of resolution) if (++seen === events) resolution.abort();
  } catch {
    // `result` rejects with the same error.
  }
  return answer;
}
