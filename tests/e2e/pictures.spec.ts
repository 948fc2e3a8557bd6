// Compares every view, light and dark, with the measurements in `pictures.json`. `PICTURES=write`
// writes that file; look at the views first.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test, type Page } from '@playwright/test';
import { areAlike, pictureOf, type Picture } from './pictures';
import { field, openSample, openView } from './playground';

const FILE = fileURLToPath(new URL('pictures.json', import.meta.url));
const known: Record<string, Picture> = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
const isWriting = process.env.PICTURES === 'write';

const VIEWS = ['Overview', 'Focus', 'Tree', 'Map', 'Table', 'Duplicates', 'Health', 'Replay'];

test.use({ viewport: { width: 1280, height: 800 } });

const isKnown = async (page: Page, name: string) => areAlike(await pictureOf(page), known[name]);

async function compare(page: Page, view: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    const name = `${view}, ${colorScheme}`;
    if (isWriting) {
      await page.waitForTimeout(1_500);
      known[name] = await pictureOf(page);
    } else await expect.poll(() => isKnown(page, name), name).toBe(true);
  }
}

test('every view looks as recorded', async ({ page }) => {
  await page.goto('./');
  await expect(field(page)).toBeVisible();
  await expect(page.getByText('resolved here in')).toBeVisible();
  await compare(page, 'Landing');
  await openSample(page, 'express-api', 'overview', '&at=node_modules/express');
  for (const view of VIEWS) {
    await openView(page, view);
    await compare(page, view);
  }
  if (isWriting) writeFileSync(FILE, `${JSON.stringify(known, null, 2)}\n`);
});

test('an empty view, an empty card and a wrong theme are noticed', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await openSample(page, 'express-api', 'overview', '&at=node_modules/express');
  await expect.poll(() => isKnown(page, 'Overview, light')).toBe(true);
  expect(await isKnown(page, 'Overview, dark')).toBe(false);
  for (const content of ['#view > * { visibility: hidden }', '.package > * { visibility: hidden }']) {
    const style = await page.addStyleTag({ content });
    expect(await isKnown(page, 'Overview, light'), content).toBe(false);
    await style.evaluate((element) => element.parentNode!.removeChild(element));
    await expect.poll(() => isKnown(page, 'Overview, light')).toBe(true);
  }
});
