// Two projects side by side: each is resolved, and the page names and marks the differences.

import { expect, test } from '@playwright/test';
import { card, DONE, grid, openSample, openView, sentence, write } from './playground';

test('two manifests resolve side by side, are part of the link, and can be swapped', async ({ page }) => {
  await openSample(page, 'tiny', 'tree');
  await page.getByRole('button', { name: 'Side by side' }).click();
  const b = page.getByRole('region', { name: 'B', exact: true });
  await expect(b).toContainText('3 packages');
  await expect(b).toContainText('the same as A, so far');
  await expect(page.getByText('The same packages as in B.')).toBeVisible();

  // The editor is B's now; the views stay A's.
  await write(page, '{ "name": "tiny", "version": "1.0.0", "dependencies": { "ms": "^2.1.0" } }');
  await expect(b).toContainText('1 package,');
  await expect(b).toContainText('package.json');
  await expect(sentence(page)).toContainText('3 packages,');
  await expect(page.locator('.changes summary')).toHaveText(/\+2 added, compared with B/);
  await expect(grid(page).locator('.sign')).toHaveText(['+ ', '+ ']);

  // A change of A is compared too.
  await page.getByRole('button', { name: 'A, in the views' }).click();
  await page.getByRole('treegrid').getByText('once', { exact: true }).click();
  await card(page).getByRole('button', { name: 'Remove' }).click();
  await expect(page.getByText('The same packages as in B.')).toBeVisible();
  await page.getByRole('button', { name: 'Undo the last change' }).click();
  await expect(page.locator('.changes summary')).toHaveText(/\+2 added, compared with B/);

  await expect(page).toHaveURL(/beside=/);
  await page.reload();
  await expect(b).toContainText('1 package,');
  await expect(page.locator('.changes summary')).toHaveText(/\+2 added, compared with B/);

  await b.getByRole('button', { name: 'Swap' }).click();
  await expect(sentence(page)).toContainText('1 package,');
  await expect(b).toContainText('3 packages,');
  await expect(page.locator('.changes summary')).toHaveText(/−2 removed, compared with B/);
  await page.getByRole('button', { name: 'Close B' }).click();
  await expect(b).toBeHidden();
  await expect(page).not.toHaveURL(/beside=/);
});

test('Back undoes a selection, a view and a change of project, and restores B', async ({ page }) => {
  await openSample(page, 'tiny', 'tree');
  await page.getByRole('button', { name: 'Side by side' }).click();
  const b = page.getByRole('region', { name: 'B', exact: true });
  await write(page, '{ "name": "tiny", "version": "1.0.0", "dependencies": { "ms": "^2.1.0" } }');
  const changes = page.locator('.changes summary');
  await expect(changes).toHaveText(/\+2 added, compared with B/);
  await expect(page).toHaveURL(/beside=/);

  await grid(page).getByText('once', { exact: true }).click();
  await expect(page).toHaveURL(/at=node_modules\/once/);
  await openView(page, 'Table');
  await page.goBack();
  await expect(card(page).locator('.card-name')).toHaveText('once');
  await expect(grid(page).locator('.sign')).toHaveText(['+ ', '+ ']);
  await page.goBack();
  await expect(card(page).locator('.card-name')).toHaveText('tiny');
  await expect(changes).toHaveText(/\+2 added, compared with B/);

  await page.getByRole('button', { name: 'A, in the views' }).click();
  await page.getByRole('combobox', { name: 'Sample' }).selectOption('overrides');
  await expect(sentence(page)).toContainText(DONE);
  await expect(b).toBeHidden();
  await page.goBack();
  await expect(b).toContainText('1 package,');
  await expect(changes).toHaveText(/\+2 added, compared with B/);
});

test('B shows its own error and its own differences', async ({ page }) => {
  await openSample(page, 'tiny', 'tree');
  await page.keyboard.press('c');
  const b = page.getByRole('region', { name: 'B', exact: true });
  await expect(b).toContainText('3 packages');
  await page.getByText('What if…').click();
  await page.getByLabel('--force').check();
  await expect(b).toContainText('--force');
  await write(page, '{ "name": "tiny", "dependencies": { "ms": "^99.0.0" } }');
  await expect(b).toContainText('No version of ms');
  await expect(sentence(page)).toContainText(DONE);
});

test('publish dates are looked up on demand, and filter every view', async ({ page }) => {
  await page.clock.setFixedTime('2030-01-01');
  await openSample(page, 'tiny', 'health');
  const more = page.getByRole('region', { name: 'More from the registry' });
  // The embedded registry has no documents of single versions.
  await expect(more.getByRole('button')).toHaveText([/Look up publish dates/]);
  await more.getByRole('button').click();
  const old = page.getByRole('region', { name: 'Older than 4 years' });
  await expect(old).toContainText('ms');
  await old.getByRole('button', { name: 'Filter by this' }).click();
  await expect(page).toHaveURL(/q=is:old/);
  await openView(page, 'Table');
  await expect(page.getByRole('grid').getByRole('row').filter({ hasText: 'wrappy' })).toBeVisible();
});
