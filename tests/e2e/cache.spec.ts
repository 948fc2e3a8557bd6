// The cache and the private file system, in a real browser: what is there after a reload, in another tab, without a network, and after
// something was damaged.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type Page } from '@playwright/test';
import { embedded, root, serve } from '../replay.js';

let registry: Awaited<ReturnType<typeof serve>>;
const manifest = readFileSync(join(embedded, 'projects/sandbox/package.json'), 'utf8');

test.beforeAll(async () => {
  test.setTimeout(300_000);
  registry = await serve(embedded, '--also-serve', join(root, 'pkg/dist'));
});

test.afterAll(() => registry.stop());

interface Options {
  cache?: { name: string; maxBytes?: number };
  offline?: boolean;
  inFolder?: boolean;
  inWorker?: boolean;
}

interface Outcome {
  paths: string[];
  requests: number;
  cached: number;
  kept: number;
}

/** Installs in a page of the registry's origin. */
async function installed(page: Page, options: Options): Promise<Outcome> {
  await page.goto(`${registry.origin}/-/stats`);
  return page.evaluate(
    async ({ origin, manifest, options }) => {
      const { install } = await import(`${origin}/index.js`);
      const { createWorkerClient } = await import(`${origin}/worker.js`);
      const { inFolder, inWorker, ...rest } = options;
      const folder = inFolder
        ? await (await navigator.storage.getDirectory()).getDirectoryHandle('project', { create: true })
        : undefined;
      const input = { manifest, registry: `${origin}/`, ...rest, ...(folder ? { to: folder } : {}) };
      const client = inWorker ? createWorkerClient() : undefined;
      const result = await (client ? client.install(input) : install(input)).result;
      client?.terminate();
      const walked = async (handle: FileSystemDirectoryHandle, path: string): Promise<string[]> => {
        const below = [];
        for await (const [name, entry] of handle as unknown as AsyncIterable<[string, FileSystemHandle]>) {
          const inside = path + name;
          below.push(entry.kind === 'file' ? [inside] : await walked(entry as FileSystemDirectoryHandle, `${inside}/`));
        }
        return below.flat();
      };
      const { requests } = result.statistics;
      const { cached, kept } = result.installStatistics;
      const paths: string[] = folder ? await walked(folder, '') : [...result.files.keys()];
      return { paths: paths.sort(), requests, cached, kept };
    },
    { origin: registry.origin, manifest, options },
  );
}

test('a reload and another tab fetch nothing again, with and without a network', async ({ page, context }) => {
  const cache = { name: 'shared' };
  const first = await installed(page, { cache });
  expect(first.paths).toContain('node_modules/react/index.js');
  expect(first.cached).toBe(0);
  const again = await installed(page, { cache });
  expect([again.requests, again.paths]).toEqual([0, first.paths]);
  const other = await installed(await context.newPage(), { cache, inWorker: true });
  expect([other.requests, other.paths]).toEqual([0, first.paths]);
  const offline = await installed(page, { cache, offline: true });
  expect(offline.paths).toEqual(first.paths);
});

test('a cache that is too small keeps what it can', async ({ page }) => {
  const cache = { name: 'small', maxBytes: 60_000 };
  const first = await installed(page, { cache });
  const bytes = await page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve) => {
      const opening = indexedDB.open('small');
      opening.onsuccess = () => resolve(opening.result);
    });
    return new Promise<number>((resolve) => {
      const all = database.transaction('contents').objectStore('contents').getAll();
      all.onsuccess = () =>
        resolve((all.result as { bytes: Uint8Array }[]).reduce((sum, { bytes }) => sum + bytes.byteLength, 0));
    });
  });
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThanOrEqual(60_000);
  expect((await installed(page, { cache })).paths).toEqual(first.paths);
});

test('damaged entries are healed', async ({ page }) => {
  const cache = { name: 'damaged' };
  const first = await installed(page, { cache });
  await page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve) => {
      const opening = indexedDB.open('damaged');
      opening.onsuccess = () => resolve(opening.result);
    });
    const transaction = database.transaction('contents', 'readwrite');
    const store = transaction.objectStore('contents');
    const keys = await new Promise<IDBValidKey[]>((resolve) => {
      const asked = store.getAllKeys();
      asked.onsuccess = () => resolve(asked.result);
    });
    for (const key of keys) {
      const asked = store.get(key);
      asked.onsuccess = () => {
        const entry = asked.result as { bytes: Uint8Array };
        store.put({ ...entry, bytes: entry.bytes.map(() => 7) }, key);
      };
    }
    await new Promise((resolve) => (transaction.oncomplete = resolve));
    database.close();
  });
  const healed = await installed(page, { cache });
  expect(healed.paths).toEqual(first.paths);
  expect(healed.requests).toBeGreaterThan(0);
  expect((await installed(page, { cache })).requests).toBe(0);
});

test('thousands of entries are a few records, what is superseded gives up its room, and what is old goes first', async ({
  page,
}) => {
  await page.goto(`${registry.origin}/-/stats`);
  const seen = await page.evaluate(async (origin) => {
    const { openCache } = await import(`${origin}/index.js`);
    const cache = openCache({ name: 'packs', maxBytes: 4_000_000 });
    const entry = (byte: number) => ({ bytes: new Uint8Array(1000).fill(byte), contentType: 'text/plain' });
    const write = async (from: number, to: number, byte: number) => {
      for (let at = from; at < to; at++) await cache.set(`document:${at}`, entry(byte));
      await cache.flush();
    };
    const read = async (at: number) => (await cache.get(`document:${at}`))?.bytes[999];
    const records = async () => {
      const database = await new Promise<IDBDatabase>((resolve) => {
        const opening = indexedDB.open('packs');
        opening.onsuccess = () => resolve(opening.result);
      });
      const asked = database.transaction('contents').objectStore('contents').getAll();
      await new Promise((resolve) => (asked.onsuccess = resolve));
      database.close();
      const sizes = (asked.result as { bytes: Uint8Array }[]).map(({ bytes }) => bytes.byteLength);
      return { count: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
    };
    await write(0, 900, 1);
    const first = { ...(await records()), values: [await read(0), await read(899)] };
    // More than half of the pack is written anew.
    await write(0, 600, 2);
    const second = { ...(await records()), values: [await read(0), await read(599), await read(600), await read(899)] };
    await cache.delete('document:0');
    const deleted = await read(0);
    await write(1000, 4500, 3);
    const last = { ...(await records()), values: [await read(899), await read(4499)] };
    return { first, second, deleted, last };
  }, registry.origin);
  expect(seen.first).toEqual({ count: 1, bytes: 900_000, values: [1, 1] });
  expect(seen.second).toEqual({ count: 2, bytes: 900_000, values: [2, 2, 1, 1] });
  expect(seen.deleted).toBeUndefined();
  expect(seen.last.bytes).toBeLessThanOrEqual(4_000_000);
  expect(seen.last.values).toEqual([undefined, 3]);
});

test('where there is no IndexedDB, it goes on without', async ({ page }) => {
  await page.addInitScript(() =>
    Object.defineProperty(IDBFactory.prototype, 'open', {
      value: () => {
        throw new DOMException('private', 'SecurityError');
      },
    }),
  );
  expect((await installed(page, { cache: { name: 'private' } })).paths).toContain('node_modules/react/index.js');
});

test('a folder of the private file system, by the page and by the worker', async ({ page }) => {
  const first = await installed(page, { inFolder: true });
  expect(first.paths).toContain('node_modules/react/index.js');
  expect(first.paths).toContain('node_modules/.package-lock.json');
  const again = await installed(page, { inFolder: true, inWorker: true });
  expect(again.paths).toEqual(first.paths);
  expect(again.kept).toBeGreaterThan(0);
});

test('memory is returned, however often something is resolved and installed in one page', async ({ page }) => {
  test.setTimeout(180_000);
  await page.goto(`${registry.origin}/-/stats`);
  const sizes = await page.evaluate(
    async ({ origin, manifest }) => {
      const { install } = await import(`${origin}/index.js`);
      const { memorySize } = await import(`${origin}/glue.js`);
      const sizes: number[] = [];
      for (let round = 0; round < 10; round++) {
        // One request at a time: how many bodies arrive together would else decide how much memory is needed at most.
        await install({ manifest, registry: `${origin}/`, concurrency: 1 }).result;
        sizes.push(memorySize());
      }
      return sizes;
    },
    { origin: registry.origin, manifest },
  );
  // What the first rounds took is enough for all others.
  expect(sizes.slice(3)).toEqual(sizes.slice(3).map(() => sizes[2]));
});

test('where the quota is spent, it goes on without a cache, and keeps what fits later', async ({ page, context }) => {
  await page.goto(`${registry.origin}/-/stats`);
  const devtools = await context.newCDPSession(page);
  // Chromium's own refusal: every write to IndexedDB fails with a QuotaExceededError.
  await devtools.send('Storage.overrideQuotaForOrigin', { origin: registry.origin, quotaSize: 1 });
  const cache = { name: 'spent' };
  const first = await installed(page, { cache });
  expect(first.paths).toContain('node_modules/react/index.js');
  expect((await installed(page, { cache })).cached).toBe(0);
  expect((await installed(page, { cache, inWorker: true })).paths).toEqual(first.paths);
  await devtools.send('Storage.overrideQuotaForOrigin', { origin: registry.origin });
  await installed(page, { cache });
  expect((await installed(page, { cache })).requests).toBe(0);
});

test('a folder that is full is an error that says so, and nothing is taken for installed', async ({
  page,
  context,
}) => {
  await page.goto(`${registry.origin}/-/stats`);
  const devtools = await context.newCDPSession(page);
  await devtools.send('Storage.overrideQuotaForOrigin', { origin: registry.origin, quotaSize: 100_000 });
  await expect(installed(page, { inFolder: true })).rejects.toThrow(/quota/i);
  await devtools.send('Storage.overrideQuotaForOrigin', { origin: registry.origin });
  const again = await installed(page, { inFolder: true });
  expect([again.kept, again.paths.includes('node_modules/react/index.js')]).toEqual([0, true]);
});

for (const inWorker of [false, true]) {
  test(`a tree is mounted in ${inWorker ? 'the worker' : 'the page'}: what is read is fetched, and nothing else`, async ({
    page,
  }) => {
    await page.goto(`${registry.origin}/-/stats`);
    const { text, isSame, names, kind, fetched, missing, again } = await page.evaluate(
      async ({ origin, manifest, inWorker }) => {
        const { mount, install } = await import(`${origin}/index.js`);
        const { createWorkerClient } = await import(`${origin}/worker.js`);
        const client = inWorker ? createWorkerClient() : undefined;
        const tarballs = async () =>
          ((await (await fetch(`${origin}/-/stats`)).json()) as { tarballs: number }).tarballs;
        const input = { manifest, registry: `${origin}/` };
        const { tree } = await (client ? client.mount(input) : mount(input)).result;
        const before = await tarballs();
        const names: string[] = await tree.readdir('node_modules');
        const bytes: Uint8Array = await tree.readFile('node_modules/react/index.js');
        const stat = await tree.lstat('node_modules/react/package.json');
        const fetched = (await tarballs()) - before;
        const { files } = await install(input).result;
        const same = files.get('node_modules/react/index.js').bytes;
        const missing = await tree.readFile('node_modules/react/none').catch(({ code }: { code: string }) => code);
        tree.release();
        const again: Uint8Array = await tree.readFile('node_modules/react/index.js');
        client?.terminate();
        const equal = (a: Uint8Array, b: Uint8Array) => a.length === b.length && a.every((byte, at) => byte === b[at]);
        return {
          text: new TextDecoder().decode(bytes),
          isSame: equal(bytes, same),
          names,
          kind: stat.type,
          fetched,
          missing,
          again: equal(again, same),
        };
      },
      { origin: registry.origin, manifest, inWorker },
    );
    expect(text).toContain("require('./cjs/react.production.js')");
    expect([isSame, kind, fetched, missing, again]).toEqual([true, 'file', 1, 'ENOENT', true]);
    expect(names).toEqual(expect.arrayContaining(['.package-lock.json', 'clsx', 'react', 'react-dom', 'scheduler']));
  });
}
