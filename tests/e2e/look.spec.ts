// Themes, narrow screens, and an accessibility check of each state.

import AxeBuilder from '@axe-core/playwright';
import { expect, test, type Page } from '@playwright/test';
import { dependOn, field, grid, openSample, row, sentence, start } from './playground';

const paper = (page: Page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

test('the theme follows the system until somebody chooses one, and the choice persists', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.goto('./');
  const dark = await paper(page);
  await page.emulateMedia({ colorScheme: 'light' });
  const light = await paper(page);
  expect(light).not.toBe(dark);

  const button = page.getByRole('button', { name: /^Theme/ });
  await button.click();
  await button.click();
  await expect(button).toHaveText('Theme: dark');
  expect(await paper(page)).toBe(dark);
  await page.reload();
  expect(await paper(page)).toBe(dark);
});

test('one dialog lists all keys', async ({ page }) => {
  await page.goto('./');
  await page.keyboard.press('?');
  await expect(page.getByRole('dialog', { name: 'Keys' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog', { name: 'Keys' })).toBeHidden();
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true });

  test('the regions are stacked, and nothing is wider than the screen', async ({ page }) => {
    await openSample(page, 'express-api');
    await expect(grid(page)).toBeInViewport();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);

    await row(page, 'express').first().locator('.name').tap();
    await expect(page.getByRole('region', { name: 'Package' })).toBeInViewport({ ratio: 0.9 });
    await page.getByRole('navigation', { name: 'Regions' }).getByRole('button', { name: 'Manifest' }).tap();
    await expect(page.getByRole('region', { name: 'Manifest' })).toBeInViewport({ ratio: 0.9 });
  });
});

const states: Record<string, (page: Page) => Promise<void>> = {
  'start page': async (page) => {
    await page.goto('./');
    await expect(field(page)).toBeVisible();
    await expect(page.getByText('resolved here in')).toBeVisible();
  },
  ...Object.fromEntries(
    ['overview', 'tree', 'focus', 'map', 'table', 'duplicates', 'health', 'replay'].map((view) => [
      view,
      (page: Page) => openSample(page, 'express-api', view, '&at=node_modules/express'),
    ]),
  ),
  filtered: async (page) => {
    await openSample(page, 'express-api');
    await page.keyboard.press('d');
    await expect(page).toHaveURL(/is:duplicated/);
  },
  'nothing found, and a selection that is gone': (page) =>
    openSample(page, 'express-api', 'focus', '&at=node_modules/gone&q=gone'),
  failed: async (page) => {
    await start(page);
    await dependOn(page, { express: '^99.0.0' });
    await expect(sentence(page)).toContainText('No version of express');
  },
  keys: async (page) => {
    await page.goto('./');
    await page.keyboard.press('?');
    await expect(page.getByRole('dialog')).toBeVisible();
  },
};

/** The rules of axe that look at colours. */
const COLOURS = ['color-contrast', 'link-in-text-block'];

/** What axe finds wrong with the page, by all its rules or by some. */
async function violations(page: Page, rules?: string[]): Promise<string[]> {
  const axe = new AxeBuilder({ page }).options({
    // Describing what passes would take longer than the check.
    resultTypes: ['violations'],
    ...(rules && { runOnly: { type: 'rule', values: rules } }),
  });
  const found = await axe.analyze();
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' | ')}`);
}

for (const [state, reach] of Object.entries(states)) {
  test(`the state "${state}" is accessible, light and dark`, async ({ page }) => {
    test.setTimeout(180_000);
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await reach(page);
    // Another theme changes colours and nothing else, so the second check asks for those alone.
    expect(await violations(page), 'light').toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await violations(page, COLOURS), 'dark').toEqual([]);
  });
}
