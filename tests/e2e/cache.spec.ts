// The cache and the private file system in a real browser: after a reload, in another tab, without
// a network, and after damage.

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

test('after a reload, in another tab and offline, the cache answers every request', async ({ page, context }) => {
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

test('a cache that is too small stays within its limit', async ({ page }) => {
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

test('damaged entries are fetched again and replaced', async ({ page }) => {
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

test('entries share records, replaced entries free their space, and the oldest are evicted first', async ({ page }) => {
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

test('without IndexedDB, an installation works', async ({ page }) => {
  await page.addInitScript(() =>
    Object.defineProperty(IDBFactory.prototype, 'open', {
      value: () => {
        throw new DOMException('private', 'SecurityError');
      },
    }),
  );
  expect((await installed(page, { cache: { name: 'private' } })).paths).toContain('node_modules/react/index.js');
});

test('the page and the worker install into a folder of the private file system', async ({ page }) => {
  const first = await installed(page, { inFolder: true });
  expect(first.paths).toContain('node_modules/react/index.js');
  expect(first.paths).toContain('node_modules/.package-lock.json');
  const again = await installed(page, { inFolder: true, inWorker: true });
  expect(again.paths).toEqual(first.paths);
  expect(again.kept).toBeGreaterThan(0);
});

test('repeated installations in one page need no more memory', async ({ page }) => {
  test.setTimeout(180_000);
  await page.goto(`${registry.origin}/-/stats`);
  const sizes = await page.evaluate(
    async ({ origin, manifest }) => {
      const { install } = await import(`${origin}/index.js`);
      const { memorySize } = await import(`${origin}/glue.js`);
      const sizes: number[] = [];
      for (let round = 0; round < 10; round++) {
        // One request at a time; otherwise the peak would depend on how many bodies arrive
        // together.
        await install({ manifest, registry: `${origin}/`, concurrency: 1 }).result;
        sizes.push(memorySize());
      }
      return sizes;
    },
    { origin: registry.origin, manifest },
  );
  // The memory of the first rounds is enough for all others.
  expect(sizes.slice(3)).toEqual(sizes.slice(3).map(() => sizes[2]));
});

test('with an exhausted quota, an installation works, and the cache is used again when there is space', async ({
  page,
  context,
}) => {
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

test('a full folder is a typed error, and the installation does not count as complete', async ({ page, context }) => {
  await page.goto(`${registry.origin}/-/stats`);
  const devtools = await context.newCDPSession(page);
  await devtools.send('Storage.overrideQuotaForOrigin', { origin: registry.origin, quotaSize: 100_000 });
  await expect(installed(page, { inFolder: true })).rejects.toThrow(/quota/i);
  await devtools.send('Storage.overrideQuotaForOrigin', { origin: registry.origin });
  const again = await installed(page, { inFolder: true });
  expect([again.kept, again.paths.includes('node_modules/react/index.js')]).toEqual([0, true]);
});

for (const inWorker of [false, true]) {
  test(`a tree mounted in ${inWorker ? 'the worker' : 'the page'} fetches only packages that are read`, async ({
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
