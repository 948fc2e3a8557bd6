// Every view, light and dark, beside the picture of it that is kept in `pictures.json`. `PICTURES=write` writes that file anew; look at
// the views first.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test, type Page } from '@playwright/test';
import { field, openSample, openView } from './playground';
import { likeness, packed, pictureOf, unpacked } from './pictures';

/** Other fonts on the same page stay well within these, a view that stays empty doesn't (see the last test). */
const MOST_APART = 10;
const LEAST_AGREEMENT = 0.8;

const FILE = fileURLToPath(new URL('pictures.json', import.meta.url));
const known: Record<string, string> = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};

const VIEWS = ['Overview', 'Focus', 'Tree', 'Map', 'Table', 'Duplicates', 'Health', 'Replay'];

test.use({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });

const isAlike = async (page: Page, name: string) => {
  const { apart, agreement } = likeness(await pictureOf(page), unpacked(known[name] ?? ''));
  return apart <= MOST_APART && agreement >= LEAST_AGREEMENT;
};

async function compare(page: Page, name: string): Promise<void> {
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    if (process.env.PICTURES === 'write') {
      await page.waitForTimeout(1_500);
      known[`${name}, ${scheme}`] = packed(await pictureOf(page));
    } else await expect.poll(() => isAlike(page, `${name}, ${scheme}`), `${name}, ${scheme}`).toBe(true);
  }
}

test('every view looks as it did', async ({ page }) => {
  await page.goto('./');
  await expect(field(page)).toBeVisible();
  await expect(page.getByText('resolved here in')).toBeVisible();
  await compare(page, 'Landing');
  await openSample(page, 'express-api', 'overview', '&at=node_modules/express');
  for (const view of VIEWS) {
    await openView(page, view);
    await compare(page, view);
  }
  if (process.env.PICTURES === 'write') writeFileSync(FILE, `${JSON.stringify(known, null, 2)}\n`);
});

test('a view that stays empty is noticed, and so is one of the other theme', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await openSample(page, 'express-api', 'overview', '&at=node_modules/express');
  await expect.poll(() => isAlike(page, 'Overview, light')).toBe(true);
  expect(await isAlike(page, 'Overview, dark')).toBe(false);
  await page.addStyleTag({ content: '#view > * { visibility: hidden }' });
  expect(await isAlike(page, 'Overview, light')).toBe(false);
});
