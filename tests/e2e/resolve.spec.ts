// From the first page to npm's lockfile.

import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
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
    expect(withoutOrigin(lockfile)).toBe(golden(sample));
  });
}

test('a dropped package.json is resolved', async ({ page }) => {
  await page.goto('./');
  const transfer = await page.evaluateHandle((text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], 'package.json', { type: 'application/json' }));
    return data;
  }, manifest('vite-react-ts'));
  await page.dispatchEvent('body', 'dragover', { dataTransfer: transfer });
  await expect(page.getByText('Drop a package.json, a package-lock.json, or both')).toBeVisible();
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
  await expect(sentence(page)).toContainText(/packages in [\d.]+ s/);
  await expect(row(page, 'react-dom').first()).toBeVisible();
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

/** The lock names the registry that was asked, which here is the page's own server. */
function withoutOrigin(lockfile: string): string {
  return lockfile.replace(/("resolved": ")https?:\/\/[^/"]+(?:\/registry)?/g, '$1');
}
