// The overview under a pointer, under fingers, and in its colours.

import { expect, test, type Page } from '@playwright/test';
import { card, openSample } from './playground';

const canvas = (page: Page) => page.getByRole('img', { name: /Overview of/ });
const tip = (page: Page) => page.locator('.tip');
const fit = (page: Page) => page.getByRole('button', { name: 'Show everything' });

/** Finds a package on the canvas: the pointer moves until the tip names it. */
async function find(page: Page, name: string): Promise<{ x: number; y: number }> {
  const box = (await canvas(page).boundingBox())!;
  for (let y = box.y + 60; y < box.y + box.height; y += 30) {
    for (let x = box.x + 30; x < box.x + box.width; x += 30) {
      await page.mouse.move(x, y);
      const words = await tip(page).allTextContents();
      if (words.some((text) => text.startsWith(name))) return { x, y };
    }
  }
  throw new Error(`${name} is nowhere on the overview`);
}

test('the pointer names a package, a click selects it, the wheel zooms, and dragging pans', async ({ page }) => {
  await openSample(page, 'tiny', 'overview');
  const { x, y } = await find(page, 'once');
  await expect(tip(page)).toContainText('once 1.4.0');
  await page.mouse.click(x, y);
  await expect(card(page).locator('.card-location')).toHaveText('node_modules/once');

  await page.mouse.wheel(0, -300);
  await expect(fit(page)).toBeEnabled();
  await page.mouse.down();
  await page.mouse.move(x + 120, y + 40, { steps: 4 });
  await page.mouse.up();
  // The package moved with the pointer, and the selection stayed.
  await page.mouse.move(x + 122, y + 40);
  await expect(tip(page)).toContainText('once');
  await expect(card(page).locator('.card-location')).toHaveText('node_modules/once');
  await fit(page).click();
  await expect(fit(page)).toBeDisabled();
});

/** Counts the pictures that are drawn on a canvas of this class from now on. */
async function countDraws(page: Page, name: string): Promise<() => Promise<number>> {
  await page.evaluate((name) => {
    const counted = globalThis as unknown as { draws: number };
    counted.draws = 0;
    // A picture begins with the paper.
    const { fillRect } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillRect = function (...area) {
      if (this.canvas.className === name && area[2] >= this.canvas.clientWidth) counted.draws += 1;
      fillRect.apply(this, area);
    };
  }, name);
  return () => page.evaluate(() => (globalThis as unknown as { draws: number }).draws);
}

/** Whether anything is drawn on the canvas above the picture. */
const isHighlighted = (page: Page) =>
  page.locator('.overview-above').evaluate((above: HTMLCanvasElement) => {
    const { data } = above.getContext('2d')!.getImageData(0, 0, above.width, above.height);
    return data.some((value) => value !== 0);
  });

test('the pointer highlights a package without another drawing of the picture', async ({ page }) => {
  await openSample(page, 'tiny', 'overview');
  const draws = await countDraws(page, 'overview-canvas');
  const { x, y } = await find(page, 'once');
  await expect.poll(() => isHighlighted(page)).toBe(true);
  const before = await draws();
  await page.getByRole('searchbox', { name: 'Search' }).hover();
  await expect.poll(() => isHighlighted(page)).toBe(false);
  await expect(tip(page)).toBeHidden();
  await page.mouse.move(x, y);
  await expect.poll(() => isHighlighted(page)).toBe(true);
  expect(await draws()).toBe(before);
  // The count is not blind to drawings.
  await canvas(page).press('+');
  await expect.poll(draws).toBeGreaterThan(before);
});

test.describe('with fingers', () => {
  test.use({ hasTouch: true });

  test('a pinch zooms', async ({ page }) => {
    await openSample(page, 'tiny', 'overview');
    const { x, y, width, height } = (await canvas(page).boundingBox())!;
    const [middle, level] = [x + width / 2, y + height / 2];
    const devtools = await page.context().newCDPSession(page);
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', apart?: number) =>
      devtools.send('Input.dispatchTouchEvent', {
        type,
        touchPoints: apart
          ? [
              { x: middle - apart, y: level, id: 1 },
              { x: middle + apart, y: level, id: 2 },
            ]
          : [],
      });
    await touch('touchStart', 40);
    await touch('touchMove', 80);
    await touch('touchMove', 120);
    await touch('touchEnd');
    await expect(fit(page)).toBeEnabled();
  });
});

test('the legend of each colouring counts every package', async ({ page }) => {
  await openSample(page, 'express-api', 'overview');
  const choice = page.getByRole('combobox', { name: 'Colour' });
  const counts = page.locator('.legend-classes li:has(.dot) .soft');
  for (const colouring of ['Kind', 'Duplicates', 'Size', 'Depth', 'License', 'Age']) {
    await choice.selectOption(colouring);
    const sum = async () => (await counts.allTextContents()).reduce((all, text) => all + Number(text), 0);
    await expect.poll(sum, colouring).toBe(642);
    if (colouring !== 'Age') expect(await counts.count(), colouring).toBeGreaterThan(1);
  }
});
