// The panes beside the tree: they collapse and are resized, and the middle uses the remaining
// space.

import { expect, test, type Page } from '@playwright/test';
import { card, openSample, openView } from './playground';

const region = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const width = async (page: Page, name: string) => (await region(page, name).boundingBox())!.width;

test('a pane collapses to a rail, stays collapsed after a reload, and opens again', async ({ page }) => {
  await openSample(page, 'tiny', 'tree');
  const before = await width(page, 'Tree');
  await page.getByRole('button', { name: 'Close the manifest' }).click();
  await expect(page.getByRole('textbox', { name: 'package.json' })).toBeHidden();
  await page.reload();
  await expect.poll(() => width(page, 'Tree')).toBeGreaterThan(before + 200);
  await region(page, 'Manifest').getByRole('button', { name: 'package.json' }).click();
  await expect(page.getByRole('textbox', { name: 'package.json' })).toBeVisible();
  expect(await width(page, 'Tree')).toBe(before);
});

test('keys and the pointer move the edge of a pane', async ({ page }) => {
  await openSample(page, 'tiny', 'tree');
  const before = await width(page, 'Package');
  const edge = page.getByRole('separator', { name: 'Width of the package' });
  await edge.focus();
  await page.keyboard.press('ArrowLeft');
  expect(await width(page, 'Package')).toBe(before + 24);
  const { x, y, height } = (await edge.boundingBox())!;
  await page.mouse.move(x + 4, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x - 96, y + height / 2, { steps: 4 });
  await page.mouse.up();
  expect(await width(page, 'Package')).toBe(before + 124);
});

test('Focus uses the space of a closed pane, and ranges do not overlap packages', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await openSample(page, 'express-api', 'focus', '&at=node_modules/express');
  const box = page.locator('.focus-node', { hasText: 'body-parser' });
  const range = page.locator('.focus-range', { hasText: '~1.20.5' });
  const apart = async () => {
    const [left, right] = [(await range.boundingBox())!, (await box.boundingBox())!];
    return right.x - left.x - left.width;
  };
  const before = (await box.boundingBox())!.width;
  expect(await apart()).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Close the manifest' }).click();
  await expect.poll(async () => (await box.boundingBox())!.width).toBeGreaterThan(before);
  expect(await apart()).toBeGreaterThan(0);
});

test('below 1,200 pixels, the manifest starts as a rail', async ({ page }) => {
  await page.setViewportSize({ width: 1100, height: 800 });
  await openSample(page, 'tiny', 'tree');
  await expect(page.getByRole('button', { name: 'Close the manifest' })).toBeHidden();
  await region(page, 'Manifest').getByRole('button', { name: 'package.json' }).click();
  await expect(page.getByRole('textbox', { name: 'package.json' })).toBeVisible();
});

test('a rotated tablet shows the tree first, and then the last region', async ({ page }) => {
  await page.setViewportSize({ width: 1024, height: 768 });
  await openSample(page, 'tiny', 'tree');
  await page.setViewportSize({ width: 768, height: 1024 });
  await expect(region(page, 'Tree')).toBeInViewport({ ratio: 0.9 });
  await page.getByRole('navigation', { name: 'Regions' }).getByRole('button', { name: 'Package' }).click();
  await expect(card(page)).toBeInViewport({ ratio: 0.9 });
  await page.setViewportSize({ width: 1024, height: 768 });
  await expect(region(page, 'Tree')).toBeInViewport({ ratio: 0.9 });
  await page.setViewportSize({ width: 768, height: 1024 });
  await expect(card(page)).toBeInViewport({ ratio: 0.9 });
});

test('at 1,280 pixels, the sentence and the filters take three lines', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await openSample(page, 'express-api', 'overview');
  await openView(page, 'Overview');
  const top = async (locator: ReturnType<Page['locator']>) => Math.round((await locator.boundingBox())!.y);
  const chips = page.getByRole('group', { name: 'Filters' }).getByRole('button');
  expect(await top(chips.first())).toBe(await top(chips.last()));
  expect((await page.locator('.sentence').boundingBox())!.height).toBeLessThanOrEqual(64);
});

test('at 1,280 pixels, the names in Focus are whole', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await openSample(page, 'express-api', 'focus', '&at=node_modules/debug');
  const names = page.locator('.focus-name');
  await expect(names.filter({ hasText: '@humanwhocodes/config-array' })).toBeVisible();
  const cut = await names.evaluateAll((all) =>
    all.filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.textContent),
  );
  expect(cut).toEqual([]);
});
