// Makes the pictures of the README from the built playground, so that they stay true: `npm run
// --workspace web build`, then `node web/pictures.js`. They show a sample of the embedded registry;
// no network is needed.
// @ts-check

import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { preview } from 'vite';

const root = fileURLToPath(new URL('.', import.meta.url));
const folder = fileURLToPath(new URL('../docs/pictures/', import.meta.url));

/** @type {readonly { name: string, hash: string, scheme: 'light' | 'dark', press?: string }[]} */
const pictures = [
  { name: 'overview', hash: '#sample=express-api&at=node_modules/semver', scheme: 'light' },
  { name: 'map', hash: '#sample=express-api&view=map&at=node_modules/eslint', scheme: 'dark' },
  { name: 'duplicates', hash: '#sample=express-api&view=duplicates', scheme: 'light', press: 'Try what would help' },
];

const server = await preview({ root, logLevel: 'warn', preview: { host: '127.0.0.1', port: 0 } });
const address = server.resolvedUrls?.local[0];
const executablePath = process.env.CHROMIUM_PATH;
const browser = await chromium.launch({
  ...(executablePath ? { executablePath } : {}),
  args: ['--disable-gpu', '--disable-background-networking', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
});
mkdirSync(folder, { recursive: true });
for (const { name, hash, scheme, press } of pictures) {
  const page = await browser.newPage({ viewport: { width: 1360, height: 820 }, colorScheme: scheme });
  // The manifest is closed: the tree is what is shown.
  await page.addInitScript(() => localStorage.setItem('panes', '{"closed":{"left":true}}'));
  await page.goto(`${address}${hash}`);
  await page.locator('.sentence', { hasText: /packages.* in [\d.]+ s/ }).waitFor();
  if (press) {
    await page.getByRole('button', { name: press }).first().click();
    await page.getByText('Trying…').last().waitFor({ state: 'detached' });
  }
  // Names are drawn when the picture has come to rest.
  await page.waitForTimeout(1_500);
  await page.screenshot({ path: `${folder}${name}.png` });
  await page.close();
}
await browser.close();
await server.close();
