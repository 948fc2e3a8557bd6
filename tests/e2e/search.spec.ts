// Search and filters.

import { expect, test } from '@playwright/test';
import { activeRow, DONE, grid, openSample, openView, row, sentence } from './playground';

test.beforeEach(({ page }) => openSample(page, 'express-api'));

test('a search shows matches and the rows that lead to them', async ({ page }) => {
  await page.keyboard.press('/');
  await page.keyboard.type('cookie-sig');
  await expect(row(page, 'cookie-signature').first()).toBeVisible();
  await expect(row(page, 'express')).toHaveCount(1);
  await expect(row(page, 'jest')).toHaveCount(0);
  // The results list each name once, with its versions.
  const found = page.getByRole('list', { name: 'Found' }).getByRole('button');
  await expect(found).toHaveText(['cookie-signature 1.0.7, 1.2.2 ×2']);

  // Enter leaves the field, so that the next keys are not typed into it. From the field, it goes to
  // the next result.
  await page.keyboard.press('Enter');
  await expect(activeRow(page)).toContainText('cookie-signature');
  await expect(grid(page)).toBeFocused();
  const first = await activeRow(page).getAttribute('aria-rowindex');
  await page.keyboard.press('w');
  await expect(page.getByRole('region', { name: 'Package' })).toBeFocused();
  await expect(page.getByRole('searchbox', { name: 'Search' })).toHaveValue('cookie-sig');
  await page.keyboard.press('/');
  await page.keyboard.press('Enter');
  await expect(activeRow(page)).toContainText('cookie-signature');
  await expect(activeRow(page)).not.toHaveAttribute('aria-rowindex', first!);
  await page.keyboard.press('Escape');
  await expect(row(page, 'bcrypt')).toHaveCount(1);
  await expect(page).not.toHaveURL(/q=/);
});

test('on a phone, a name that is cut off keeps its match', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 800 });
  await openSample(page, 'express-api', 'tree', '&q=targets');
  const found = row(page, '@babel/helper-compilation-targets').first().locator('mark');
  await expect(found).toHaveText('targets');
  const isWhole = (mark: HTMLElement) => {
    const cell = mark.closest('.cell-name')!.getBoundingClientRect();
    return mark.scrollWidth <= mark.clientWidth && mark.getBoundingClientRect().right <= cell.right;
  };
  expect(await found.evaluate(isWhole)).toBe(true);
});

test('a figure of the sentence toggles its filter', async ({ page }) => {
  const figure = sentence(page).getByRole('button', { name: /duplicated/ });
  await figure.click();
  await expect(figure).toHaveAttribute('aria-pressed', 'true');
  await expect(page).toHaveURL(/q=is:duplicated/);
  await expect(grid(page).getByRole('row').filter({ hasText: 'copies' }).first()).toBeVisible();
  await figure.click();
  await expect(figure).toHaveAttribute('aria-pressed', 'false');
});

test('a button toggles a filter', async ({ page }) => {
  const filters = page.getByRole('group', { name: 'Filters' });
  await filters.getByRole('button', { name: 'Install scripts' }).click();
  await expect(page.locator('.search-count')).toHaveText('2 of 642');
  await expect(filters.getByRole('button', { name: 'Install scripts' })).toHaveAttribute('aria-pressed', 'true');
  await filters.getByRole('button', { name: 'Install scripts' }).click();
  await expect(page.locator('.search-count')).toHaveCount(0);
});

test('a search without results offers to show everything', async ({ page }) => {
  await page.getByRole('searchbox', { name: 'Search' }).fill('no-such-package');
  await expect(page.getByText('Nothing in this tree matches no-such-package.')).toBeVisible();
  // The button goes, so the tree has the keys.
  await page.getByRole('button', { name: 'Show everything' }).press('Enter');
  await expect(grid(page)).toBeFocused();
});

test('views of all packages say that a search found nothing', async ({ page }) => {
  await page.getByRole('searchbox', { name: 'Search' }).fill('no-such-package');
  for (const view of ['Focus', 'Overview', 'Map', 'Health', 'Replay']) {
    await openView(page, view);
    await expect(page.locator('.nothing-found')).toContainText('Nothing in this tree matches no-such-package.');
  }
  await page.getByRole('button', { name: 'Show everything' }).click();
  await expect(page.locator('.nothing-found')).toHaveCount(0);
  await expect(page.getByRole('searchbox', { name: 'Search' })).toHaveValue('');
});

test('the address restores the selection and the search', async ({ page }) => {
  await page.getByRole('searchbox', { name: 'Search' }).fill('cookie');
  await row(page, 'cookie-signature').first().locator('.name').click();
  const location = await page.locator('.card-location').textContent();
  await page.reload();
  await expect(sentence(page)).toContainText(DONE);
  await expect(page.getByRole('searchbox', { name: 'Search' })).toHaveValue('cookie');
  await expect(page.locator('.card-location')).toHaveText(location!);
  await expect(activeRow(page)).toContainText('cookie-signature');
});

test('Back returns to the previous sample', async ({ page }) => {
  await page.getByRole('combobox', { name: 'Sample' }).selectOption('vite-react-ts');
  await page.keyboard.press('t');
  await expect(row(page, 'vite-react-ts')).toBeVisible();
  await expect(sentence(page)).toContainText(DONE);
  await page.goBack();
  await expect(row(page, 'express-api')).toBeVisible();
  await expect(sentence(page)).toContainText(DONE);
});
