// Keyboard navigation in the tree.

import { expect, test, type Page } from '@playwright/test';
import { activeRow, grid, openSample, row } from './playground';

test.beforeEach(async ({ page }) => {
  await openSample(page, 'express-api');
  await page.keyboard.press('t');
  await expect(grid(page)).toBeFocused();
});

const activeName = (page: Page) => activeRow(page).locator('.name').textContent();

test('arrow keys move, open and close', async ({ page }) => {
  await expect(activeRow(page)).toHaveAttribute('aria-level', '1');
  await page.keyboard.press('ArrowDown');
  await expect(activeRow(page)).toHaveAttribute('aria-level', '2');
  await expect(activeRow(page)).toHaveAttribute('aria-expanded', 'true');

  await page.keyboard.press('ArrowLeft');
  await expect(activeRow(page)).toHaveAttribute('aria-expanded', 'false');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect(activeRow(page)).toHaveAttribute('aria-level', '3');
  await expect(activeRow(page)).toHaveAttribute('aria-posinset', '1');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await expect(activeRow(page)).toHaveAttribute('aria-level', '1');
});

test('Home and End go to the ends and scroll there', async ({ page }) => {
  await page.keyboard.press('End');
  const count = Number(await grid(page).getAttribute('aria-rowcount'));
  await expect(activeRow(page)).toHaveAttribute('aria-rowindex', String(count));
  await expect(activeRow(page)).toBeInViewport({ ratio: 1 });
  await page.keyboard.press('Home');
  await expect(activeRow(page)).toHaveAttribute('aria-rowindex', '2');
  await expect(activeRow(page)).toBeInViewport({ ratio: 1 });
});

test('typing a name selects it', async ({ page }) => {
  await page.keyboard.type('jsonw');
  expect(await activeName(page)).toBe('jsonwebtoken');
  await expect(page.getByRole('region', { name: 'Package' })).toContainText('node_modules/jsonwebtoken');
});

test('the active row exists, even if it is scrolled out of view', async ({ page }) => {
  await page.keyboard.press('ArrowDown');
  await grid(page).evaluate((element) => element.scrollTo(0, element.scrollHeight));
  const id = await grid(page).getAttribute('aria-activedescendant');
  await expect(page.locator(`#${id}`)).toBeAttached();
});

test('only visible rows are drawn', async ({ page }) => {
  await page.getByRole('button', { name: 'Open all' }).click();
  await expect.poll(async () => Number(await grid(page).getAttribute('aria-rowcount'))).toBeGreaterThan(900);
  expect(await grid(page).getByRole('row').count()).toBeLessThan(60);
});

test('Enter on a deduped row jumps to the package, and Escape returns', async ({ page }) => {
  await page.getByRole('button', { name: 'Open all' }).click();
  await grid(page).press('End');
  const deduped = grid(page).getByRole('row').filter({ hasText: 'deduped' }).last();
  await deduped.locator('.name').click();
  const from = await activeRow(page).getAttribute('aria-rowindex');
  const name = await activeName(page);
  await grid(page).focus();
  await page.keyboard.press('Enter');
  await expect(activeRow(page)).not.toHaveAttribute('aria-rowindex', from!);
  expect(await activeName(page)).toBe(name);
  await expect(activeRow(page)).not.toContainText('deduped');
  await expect(activeRow(page)).toBeInViewport({ ratio: 1 });

  await page.keyboard.press('Escape');
  expect(await activeName(page)).toBe(name);
  await expect(activeRow(page)).toContainText('deduped');
});

test('the card explains the selected package and lists its copies', async ({ page }) => {
  await row(page, 'express').first().click();
  await page.keyboard.press('w');
  const card = page.getByRole('region', { name: 'Package' });
  await expect(card).toBeFocused();
  await expect(card.getByRole('region', { name: 'Why it’s installed' })).toContainText('express-api');

  await page.keyboard.press('d');
  const copy = grid(page).getByRole('row').filter({ hasText: 'copies' }).first();
  await copy.locator('.name').click();
  await card.getByRole('region', { name: 'Copies' }).getByRole('button').last().click();
  await expect(activeRow(page)).toContainText('copies');
  await expect(card.locator('[aria-current=true]')).toBeVisible();
});

test('a column sorts rows in both directions, and restores npm’s order', async ({ page }) => {
  const first = grid(page).locator('[aria-level="2"] .name').first();
  const head = grid(page).getByRole('columnheader', { name: 'Only' });
  const sort = head.getByRole('button', { name: 'Only' });
  await expect(first).toHaveText('bcrypt');
  await sort.click();
  await expect(head).toHaveAttribute('aria-sort', 'descending');
  await expect(first).toHaveText('jest');
  await sort.click();
  await expect(head).toHaveAttribute('aria-sort', 'ascending');
  await expect(first).not.toHaveText('jest');
  await sort.click();
  await expect(head).toHaveAttribute('aria-sort', 'none');
  await expect(first).toHaveText('bcrypt');
});

test('at 1,280 pixels, the names of four levels are whole', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await openSample(page, 'express-api');
  await page.getByRole('button', { name: 'Open all' }).click();
  const cut = await grid(page).evaluate(async (element) => {
    const names = new Set<string>();
    for (let top = 0; top < element.scrollHeight; top += element.clientHeight) {
      element.scrollTop = top;
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
      for (const name of element.querySelectorAll('[role=row][aria-level] .name')) {
        const level = Number(name.closest('[role=row]')!.getAttribute('aria-level'));
        if (level <= 4 && name.scrollWidth > name.clientWidth) names.add(name.textContent);
      }
    }
    return [...names];
  });
  expect(cut).toEqual([]);
});
