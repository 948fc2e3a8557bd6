// From the first page to npm's lockfile.

import { readFileSync } from 'node:fs';
import { expect, test, type JSHandle, type Page } from '@playwright/test';
import { zip } from '../../web/tests/zip';
import { DONE, field, golden, grid, manifest, openSample, openView, row, sentence, start, write } from './playground';

/** The resolver's requests to the embedded registry. */
const PACKUMENTS = /\/registry\/[^/]+$/;

test('a key opens a sample, which starts from its snapshot', async ({ page }) => {
  const asked: string[] = [];
  page.on('request', (request) => {
    const path = /\/(snapshots|registry)\/.*/.exec(new URL(request.url()).pathname)?.[0];
    if (path) asked.push(path);
  });
  await page.goto('./#sample=overrides&view=tree');
  await expect(sentence(page)).toContainText(DONE);
  expect(asked).toEqual(['/snapshots/overrides']);
  await page.goto('./#view=tree');
  await expect(field(page)).toBeVisible();
  await page.keyboard.press('1');
  await expect(sentence(page)).toContainText(DONE);
  await expect(row(page, 'express').first()).toBeVisible();
});

test('the tree grows while a project resolves', async ({ page }) => {
  // Each answer is delayed, so that the test sees the tree before its end.
  await page.route(PACKUMENTS, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 40));
    await route.continue();
  });
  await start(page);
  await write(page, unlikeASample('express-api'));
  const rows = () => grid(page).getAttribute('aria-rowcount').then(Number);
  await expect.poll(rows).toBeGreaterThan(2);
  const early = await rows();
  await expect(sentence(page)).toContainText(DONE);
  expect(await rows()).toBeGreaterThan(early);
  await expect(row(page, 'express').first()).toBeVisible();
});

for (const sample of ['express-api', 'vite-react-ts']) {
  test(`the lockfile of ${sample} is npm's, to the byte`, async ({ page }) => {
    await openSample(page, sample);
    const download = page.waitForEvent('download');
    await page.getByText('Share', { exact: true }).click();
    await page.getByRole('button', { name: /^package-lock.json/ }).click();
    expect((await download).suggestedFilename()).toBe('package-lock.json');
    const lockfile = readFileSync(await (await download).path(), 'utf8');
    expect(lockfile).toBe(golden(sample));
  });
}

test('dropped files are resolved', async ({ page }) => {
  await start(page);
  const files = await transfer(page, { 'package.json': manifest('vite-react-ts') });
  await page.dispatchEvent('body', 'dragover', { dataTransfer: files });
  await expect(page.getByText('Drop a package.json, a package-lock.json, a folder or a zip')).toBeVisible();
  await page.dispatchEvent('body', 'drop', { dataTransfer: files });
  await expect(sentence(page)).toContainText(DONE);
  await expect(row(page, 'react-dom').first()).toBeVisible();
});

test('a zip is resolved by its package.json', async ({ page }) => {
  await page.goto('./#registry=embedded&view=tree');
  const buffer = Buffer.from(zip({ 'app/package.json': manifest('tiny'), 'app/index.js': '' }, [8, 0]));
  await page.locator('input[type=file]').setInputFiles({ name: 'app.zip', mimeType: 'application/zip', buffer });
  await expect(sentence(page)).toContainText('3 packages');
  await expect(row(page, 'once')).toBeVisible();
});

test('a pasted package.json is resolved at once', async ({ page }) => {
  await start(page);
  await field(page).focus();
  await page.evaluate((text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', text);
    document.activeElement!.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }),
    );
  }, manifest('tiny'));
  await expect(sentence(page)).toContainText('3 packages');
});

test('a dropped package-lock.json is shown, and a fresh resolution is compared with it', async ({ page }) => {
  await start(page);
  const older = golden('tiny').replace('"version": "2.1.3"', '"version": "2.1.2"');
  const files = await transfer(page, { 'package.json': manifest('tiny'), 'package-lock.json': older });
  await page.dispatchEvent('body', 'drop', { dataTransfer: files });
  await expect(row(page, 'ms').first()).toContainText('2.1.2');
  await page.getByText('Share', { exact: true }).click();
  await expect(page.getByText('The link contains no lockfile')).toBeVisible();
  await page.keyboard.press('Escape');

  // A lockfile leaves nothing to decide.
  const startsFromLock = page.getByRole('checkbox', { name: 'Start from your package-lock.json' });
  await openView(page, 'Replay');
  await page.getByRole('button', { name: 'Resolve without the lockfile' }).click();
  await expect(startsFromLock).not.toBeChecked();
  await expect(page.locator('.replay-sentence')).toBeVisible();
  await startsFromLock.check();
  await openView(page, 'Tree');
  await expect(row(page, 'ms').first()).toContainText('2.1.2');

  await startsFromLock.uncheck();
  await page.getByText('compared with your package-lock.json').click();
  await expect(page.locator('.differences tbody tr')).toHaveText([/ms\s*2\.1\.2\s*2\.1\.3/]);
  await page.getByRole('button', { name: 'ms', exact: true }).first().click();
  await expect(page.locator('.card-location')).toHaveText('node_modules/ms');
});

test('names are read as by npm install', async ({ page }) => {
  await start(page);
  await field(page).fill('npm i react@19 clsx');
  await page.keyboard.press('Enter');
  await expect(sentence(page)).toContainText('2 packages');
  await expect(row(page, 'react')).toContainText('19.');
  await page.getByRole('button', { name: 'Espalier' }).click();
  await field(page).fill('not a name!');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert')).toContainText('“name!” is not a package name.');
});

test('own text asks the live registry, and samples do not', async ({ page }) => {
  const asked: string[] = [];
  await page.route(/^https:/, (route) => {
    asked.push(new URL(route.request().url()).pathname);
    return route.abort();
  });
  await page.goto('./');
  await expect(page.getByText('resolved here in')).toBeVisible();
  expect(asked).toEqual([]);
  await write(page, '{ "name": "mine", "dependencies": { "ms": "^2.1.0" } }');
  await expect(sentence(page)).toContainText('The registry gave no answer for ms.');
  expect(asked).toContain('/ms');
  await expect(page.getByRole('radio', { name: 'npm, live' })).toBeChecked();
});

test('a damaged link and an unknown sample are reported', async ({ page }) => {
  await page.goto('./#manifest=broken!');
  await expect(page.getByRole('alert')).toContainText('This link is damaged');
  await page.goto('./#sample=nothing-like-it');
  await expect(page.getByRole('alert')).toContainText('no sample called “nothing-like-it”');
});

test('an own package.json is part of the address and survives a reload', async ({ page }) => {
  await start(page);
  await write(page, '{ "name": "mine", "dependencies": { "ms": "^2.1.0" } }');
  await expect(sentence(page)).toContainText(/1 package.* in/);
  await expect(page).toHaveURL(/manifest=/);
  await page.reload();
  await expect(sentence(page)).toContainText(/1 package.* in/);
  await expect(row(page, 'mine')).toBeVisible();
});

test('an edit stops the current run and starts another', async ({ page }) => {
  await page.route(PACKUMENTS, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 150));
    await route.continue();
  });
  await start(page);
  await write(page, unlikeASample('express-api'));
  await expect(sentence(page)).toContainText('Resolving');
  await write(page, '{ "name": "mine", "dependencies": { "react": "^19.1.0" } }');
  await expect(sentence(page)).toContainText(/1 package.* in/);
  await expect(row(page, 'react')).toBeVisible();
});

test('Escape stops a run', async ({ page }) => {
  await page.route(PACKUMENTS, () => {
    // Never answered.
  });
  await start(page);
  await write(page, unlikeASample('express-api'));
  await expect(sentence(page)).toContainText('Resolving');
  await page.keyboard.press('Escape');
  await expect(sentence(page)).toContainText('Stopped after');
  await expect(page.getByRole('button', { name: 'Resolve' })).toBeEnabled();
});

/** A sample's manifest with another name, so that no snapshot fits. */
function unlikeASample(sample: string): string {
  return manifest(sample).replace(`"name": "${sample}"`, '"name": "mine"');
}

/** The data of files that are dropped on a page. */
function transfer(page: Page, files: Record<string, string>): Promise<JSHandle<DataTransfer>> {
  return page.evaluateHandle((contents) => {
    const data = new DataTransfer();
    for (const [name, text] of Object.entries(contents))
      data.items.add(new File([text], name, { type: 'application/json' }));
    return data;
  }, files);
}
