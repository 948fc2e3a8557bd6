// The wasm build writes npm's bytes for every recorded project: those of the embedded registry, and
// those of the folder that ESPALIER_CORPUS names. The page has no bundler, and talks to a recorded
// registry on loopback, over HTTP/1.1 and HTTP/2. A large corpus is resolved over HTTP/2 only,
// which is far quicker, unless ESPALIER_PROTOCOLS is `all`.

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { expect, test } from '@playwright/test';
import { embedded, root, serve } from '../replay.js';

const corpora = [embedded, ...(process.env.ESPALIER_CORPUS ? [process.env.ESPALIER_CORPUS] : [])];

const protocols = { 'http/1.1': [], h2: ['--tls'] };

// The certificate is the server's own.
test.use({ ignoreHTTPSErrors: true });

const ways = (corpus: string) =>
  Object.entries(protocols).filter(
    ([name]) => name === 'h2' || corpus === embedded || process.env.ESPALIER_PROTOCOLS === 'all',
  );

for (const [corpus, [protocol, options]] of corpora.flatMap((corpus) =>
  ways(corpus).map((way) => [corpus, way] as const),
)) {
  test.describe(`in ${relative(root, corpus).split(sep).join('/')} over ${protocol}`, () => {
    let registry: Awaited<ReturnType<typeof serve>>;

    test.beforeAll(async () => {
      test.setTimeout(300_000);
      registry = await serve(corpus, '--also-serve', join(root, 'pkg/dist'), ...options);
    });

    test.afterAll(() => registry.stop());

    for (const project of readdirSync(join(corpus, 'projects')).sort()) {
      test(`${project} has the result of npm`, async ({ page }) => {
        test.setTimeout(180_000);
        const { origin } = registry;
        const folder = join(corpus, 'projects', project);
        // Any document of the registry's origin can be the page.
        await page.goto(`${origin}/-/stats`);
        const { answer, spoken, replayed } = await page.evaluate(resolveInPage, { origin, input: input(folder) });
        expect(spoken).toEqual([protocol]);
        // The replayed decisions result in the tree of the lock. Bundled packages have no
        // decisions.
        expect(replayed).toEqual(installed(answer));
        const lockfile = join(folder, 'package-lock.json');
        if (existsSync(lockfile)) {
          const withoutOrigin = answer.replaceAll(`"resolved": "${origin}/`, '"resolved": "/');
          expect(withoutOrigin === readFileSync(lockfile, 'utf8'), answer.slice(0, 400)).toBe(true);
        } else {
          expect(answer).toBe('ERESOLVE');
        }
      });
    }
  });
}

/** The locations and versions of a lock's entries in `node_modules`. */
function installed(lockfile: string): string[] {
  if (!lockfile.startsWith('{')) return [];
  const { packages } = JSON.parse(lockfile) as {
    packages: Record<string, { version?: string; link?: true; inBundle?: true }>;
  };
  const entries = Object.entries(packages).filter(
    ([location, { inBundle }]) => location.includes('node_modules/') && !inBundle,
  );
  return entries.map(([location, { version, link }]) => (link ? location : `${location} ${version}`)).sort();
}

interface Input {
  manifest: string;
  files: Record<string, string>;
  legacyPeerDeps: boolean;
  strictPeerDeps: boolean;
  force: boolean;
  preferDedupe: boolean;
}

function input(folder: string): Input {
  const flags = join(folder, 'npm-args');
  const given = existsSync(flags) ? readFileSync(flags, 'utf8').split(/\s+/) : [];
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => path.split(sep).join('/'));
  const manifests = paths.filter((path) => path.endsWith('/package.json'));
  return {
    manifest: readFileSync(join(folder, 'package.json'), 'utf8'),
    files: Object.fromEntries(manifests.map((path) => [path, readFileSync(join(folder, path), 'utf8')])),
    legacyPeerDeps: given.includes('--legacy-peer-deps'),
    strictPeerDeps: given.includes('--strict-peer-deps'),
    force: given.includes('--force'),
    preferDedupe: given.includes('--prefer-dedupe'),
  };
}

/**
 * Runs in the page: the lockfile, or the code of the error, the protocols that were spoken, and
 * what the events make of the tree.
 */
async function resolveInPage({
  origin,
  input,
}: {
  origin: string;
  input: Input;
}): Promise<{ answer: string; spoken: string[]; replayed: string[] }> {
  const { init, resolve } = await import(`${origin}/index.js`);
  await init();
  const resolution = resolve({ ...input, registry: `${origin}/` });
  const answer: string = await resolution.result.then(
    ({ lockfile }: { lockfile: string }) => lockfile,
    ({ code }: { code: string }) => code,
  );
  const requests = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
  // A request that was called off, as the search for remedies calls some off, spoke nothing.
  const spoken = requests.map(({ nextHopProtocol }) => nextHopProtocol).filter((protocol) => protocol !== '');
  const tree = new Map<string, string>();
  if (answer.startsWith('{')) {
    for await (const event of resolution) {
      if (event.type === 'placed') tree.set(event.location, event.version);
      if (event.type === 'removed') tree.delete(event.location);
    }
  }
  const { packages = {} } = answer.startsWith('{') ? JSON.parse(answer) : {};
  // An optional package that can't be had has no version, and no entry.
  const entered = [...tree].filter(([location, version]) => version !== '' || location in packages);
  const replayed = entered.map(([location, version]) =>
    packages[location]?.link ? location : `${location} ${version}`,
  );
  return { answer, spoken: [...new Set(spoken)], replayed: replayed.sort() };
}
