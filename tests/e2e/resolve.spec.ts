// From the first page to npm's lockfile.

import { readFileSync } from 'node:fs';
import { expect, test, type JSHandle, type Page } from '@playwright/test';
import { golden, grid, manifest, openSample, row, sentence, write } from './playground';

/** What the resolver asks of the embedded registry. */
const PACKUMENTS = /\/registry\/[^/]+$/;

test('a sample is one key away, and its packages arrive while it resolves', async ({ page }) => {
  // Held back a little, so that the way to the end can be seen.
  await page.route(PACKUMENTS, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 40));
    await route.continue();
  });
  await page.goto('./');
  await expect(sentence(page)).toContainText('begin with one of these');

  await page.keyboard.press('1');
  await expect(sentence(page)).toContainText('Resolving');
  const rows = () => grid(page).getAttribute('aria-rowcount').then(Number);
  await expect.poll(rows).toBeGreaterThan(2);
  const early = await rows();
  await expect(sentence(page)).toContainText(/packages in [\d.]+ s/);
  expect(await rows()).toBeGreaterThan(early);
  await expect(row(page, 'express').first()).toBeVisible();
});

for (const sample of ['express-api', 'vite-react-ts']) {
  test(`the lockfile of ${sample} is npm's, to the byte`, async ({ page }) => {
    await openSample(page, sample);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download package-lock.json' }).click();
    expect((await download).suggestedFilename()).toBe('package-lock.json');
    const lockfile = readFileSync(await (await download).path(), 'utf8');
    expect(lockfile).toBe(golden(sample));
  });
}

test('a dropped package.json is resolved', async ({ page }) => {
  await page.goto('./');
  const files = await transfer(page, { 'package.json': manifest('vite-react-ts') });
  await page.dispatchEvent('body', 'dragover', { dataTransfer: files });
  await expect(page.getByText('Drop a package.json, a package-lock.json, or both')).toBeVisible();
  await page.dispatchEvent('body', 'drop', { dataTransfer: files });
  await expect(sentence(page)).toContainText(/packages in [\d.]+ s/);
  await expect(row(page, 'react-dom').first()).toBeVisible();
});

test('a dropped package-lock.json is compared with', async ({ page }) => {
  await page.goto('./');
  const drop = async (lock: string) => {
    const files = await transfer(page, { 'package.json': manifest('tiny'), 'package-lock.json': lock });
    await page.dispatchEvent('body', 'drop', { dataTransfer: files });
  };
  await drop(golden('tiny'));
  await expect(page.getByText('Identical to your package-lock.json, to the byte.')).toBeVisible();

  await drop(golden('tiny').replace('"version": "2.1.3"', '"version": "2.0.0"'));
  await page.getByText('1 package differs from your package-lock.json.').click();
  await expect(page.getByText('2.0.0 → 2.1.3')).toBeVisible();
  await page.getByRole('button', { name: 'ms', exact: true }).first().click();
  await expect(page.locator('.card-location')).toHaveText('node_modules/ms');
});

test('a package.json of one’s own is in the address, and comes back', async ({ page }) => {
  await page.goto('./');
  await write(page, '{ "name": "mine", "dependencies": { "ms": "^2.1.0" } }');
  await expect(sentence(page)).toContainText('1 package in');
  await expect(page).toHaveURL(/manifest=/);
  await page.reload();
  await expect(sentence(page)).toContainText('1 package in');
  await expect(row(page, 'mine')).toBeVisible();
});

test('editing stops the run under way and starts the next', async ({ page }) => {
  await page.route(PACKUMENTS, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 150));
    await route.continue();
  });
  await page.goto('./#sample=express-api');
  await expect(sentence(page)).toContainText('Resolving');
  await write(page, '{ "name": "small", "dependencies": { "react": "^19.1.0" } }');
  await expect(sentence(page)).toContainText('1 package in');
  await expect(row(page, 'small')).toBeVisible();
});

test('a run can be stopped with Escape', async ({ page }) => {
  await page.route(PACKUMENTS, () => {
    // Never answered.
  });
  await page.goto('./#sample=express-api');
  await expect(sentence(page)).toContainText('Resolving');
  await page.keyboard.press('Escape');
  await expect(sentence(page)).toContainText('Stopped after');
  await expect(page.getByRole('button', { name: 'Resolve' })).toBeEnabled();
});

/** Files as they are when they are dropped on a page. */
function transfer(page: Page, files: Record<string, string>): Promise<JSHandle<DataTransfer>> {
  return page.evaluateHandle((contents) => {
    const data = new DataTransfer();
    for (const [name, text] of Object.entries(contents)) data.items.add(new File([text], name, { type: 'application/json' }));
    return data;
  }, files);
}
