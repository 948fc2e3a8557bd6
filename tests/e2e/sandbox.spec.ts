// The sandbox in examples/, as a person uses it, with the embedded registry: it installs React into
// the tab, bundles the installed files, and runs the app in isolation.

import { join } from 'node:path';
import { expect, test as base, type BrowserContext, type FrameLocator, type Page } from '@playwright/test';
import { embedded, executable, root, serve } from '../replay.js';
import { build, preview, type PreviewServer } from 'vite';
import { heavyCalls, watchHeavyCalls } from './idle-thread';

type Counts = { requests: number; tarballs: number; errors: number };

/** The sandbox on its own server, with its own registry, which a test can stop. */
class Sandbox {
  readonly address: string;
  readonly registry: Awaited<ReturnType<typeof serve>>;

  constructor(address: string, registry: Awaited<ReturnType<typeof serve>>) {
    this.address = address;
    this.registry = registry;
  }

  get url(): string {
    return `${this.address}?registry=${encodeURIComponent(this.registry.origin)}`;
  }

  async counts(): Promise<Counts> {
    return (await fetch(`${this.registry.origin}/-/stats`)).json() as Promise<Counts>;
  }
}

const test = base.extend<{ sandbox: Sandbox }, { server: PreviewServer }>({
  server: [
    async ({}, use) => {
      executable('espalier-replay');
      const folder = join(root, 'examples/sandbox');
      await build({ root: folder, logLevel: 'error' });
      const server = await preview({ root: folder, logLevel: 'error', preview: { host: '127.0.0.1', port: 0 } });
      await use(server);
      await server.close();
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  sandbox: async ({ server }, use) => {
    const registry = await serve(embedded);
    await use(new Sandbox(server.resolvedUrls!.local[0]!, registry));
    registry.stop();
  },
});

const sentence = (page: Page) => page.getByRole('status');
const app = (page: Page): FrameLocator => page.frameLocator('iframe[title=Preview]');
const counter = (page: Page) => app(page).getByRole('button');

/** Opens the sandbox, and waits for its app. */
async function open(context: BrowserContext, sandbox: Sandbox): Promise<Page> {
  const page = await context.newPage();
  await page.goto(sandbox.url);
  await expect(counter(page)).toBeVisible();
  return page;
}

async function write(page: Page, file: string, text: string): Promise<void> {
  await page.getByRole('button', { name: file }).click();
  await page.getByRole('textbox', { name: file }).click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(text);
}

test('React is installed, bundled and run', async ({ context, sandbox }) => {
  const page = await open(context, sandbox);
  await expect(sentence(page)).toContainText(/^4 packages in [\d.]+ s: 4 fetched\. \d+ modules bundled/);
  await counter(page).click();
  await counter(page).click();
  await expect(counter(page)).toHaveText('Count: 2');
  await expect(page.getByRole('region', { name: 'Console' })).toBeHidden();
  expect(await sandbox.counts()).toMatchObject({ tarballs: 4, errors: 0 });
});

test('an added dependency is the only one that is fetched', async ({ context, sandbox }) => {
  const page = await open(context, sandbox);
  const before = await sandbox.counts();
  await page.getByRole('textbox', { name: 'Add a dependency' }).fill('nanoid@^3.3.0');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(sentence(page)).toContainText(/^5 packages in [\d.]+ s: 1 fetched, 4 kept\./);
  expect((await sandbox.counts()).tarballs).toBe(before.tarballs + 1);

  await write(
    page,
    'App.jsx',
    `import { nanoid } from 'nanoid';
     export default () => <p>{nanoid().length} characters</p>;`,
  );
  await expect(app(page).getByText('21 characters')).toBeVisible();

  await page.getByRole('button', { name: 'Remove nanoid' }).click();
  await expect(page.getByText('nanoid leads nowhere. Is nanoid among the dependencies?')).toBeVisible();
  expect((await sandbox.counts()).tarballs).toBe(before.tarballs + 1);
});

test('an edit of package.json changes the installation', async ({ context, sandbox }) => {
  const page = await open(context, sandbox);
  await write(page, 'package.json', '{ "dependencies": { "react": "^19.0.0", "react-dom": "^19.0.0" } }');
  await expect(page.getByText('clsx leads nowhere. Is clsx among the dependencies?')).toBeVisible();
  await write(page, 'package.json', '{ "dependencies": { "no-such-package": "1" } }');
  await expect(sentence(page)).toContainText('no-such-package');
  await write(page, 'package.json', '{ "dependencies": ');
  await expect(sentence(page)).toHaveText('package.json can’t be read as it is.');
});

test('a reload and a second tab work without the registry', async ({ context, sandbox }) => {
  const page = await open(context, sandbox);
  const before = await sandbox.counts();
  const second = await open(context, sandbox);
  await expect(sentence(second)).toContainText(/^4 packages in [\d.]+ s: 4 from the cache\./);
  expect((await sandbox.counts()).tarballs).toBe(before.tarballs);
  await second.close();

  sandbox.registry.stop();
  await page.bringToFront();
  await page.reload();
  await expect(sentence(page)).toContainText(/^4 packages in [\d.]+ s: 4 from the cache\./);
  // Each run has a new preview document, and the clicked one may be replaced.
  await expect(async () => {
    await counter(page).click();
    await expect(counter(page)).toHaveText(/^Count: [1-9]/, { timeout: 2_000 });
  }).toPass();
});

test('installed code cannot reach the page, its storage or the network', async ({ context, sandbox }) => {
  const page = await open(context, sandbox);
  await write(
    page,
    'App.jsx',
    `import { useEffect, useState } from 'react';
     const attempts = {
       parent: () => parent.document.title,
       storage: () => localStorage.length,
       database: () => new Promise((done, fail) => {
         const request = indexedDB.open('espalier');
         request.onsuccess = () => done('open');
         request.onerror = () => fail(request.error);
       }),
       files: () => navigator.storage.getDirectory(),
       network: () => fetch(${JSON.stringify(sandbox.registry.origin)} + '/react'),
       wasm: () => WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])),
     };
     export default function App() {
       const [ends, setEnds] = useState([]);
       useEffect(() => {
         Promise.all(Object.entries(attempts).map(async ([name, attempt]) => {
           try { await attempt(); return name + ': reached'; } catch { return name + ': refused'; }
         })).then(setEnds);
       }, []);
       return <ul>{ends.map((end) => <li key={end}>{end}</li>)}</ul>;
     }`,
  );
  const refused = ['parent', 'storage', 'database', 'files', 'network'].map((name) => `${name}: refused`);
  await expect(app(page).getByRole('listitem')).toHaveText([...refused, 'wasm: reached']);
});

test('the preview runs nothing outside of the sandbox', async ({ page, sandbox }) => {
  await page.goto(`${sandbox.address}preview.html`);
  await page.evaluate(() => window.postMessage({ type: 'run', script: 'document.title = "ran"', style: '' }));
  await expect(page.getByText('The preview only runs inside the sandbox.')).toBeVisible();
  await expect(page).toHaveTitle('Preview');
});

test('the main thread leaves heavy work to workers', async ({ page, sandbox }) => {
  await watchHeavyCalls(page);
  await page.goto(sandbox.url);
  await expect(counter(page)).toBeVisible();
  await page.getByRole('textbox', { name: 'Add a dependency' }).fill('nanoid@^3.3.0');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await expect(sentence(page)).toContainText(/1 fetched, 4 kept\. \d+ modules bundled/);
  expect(await heavyCalls(page)).toEqual([]);
});
