// The page of a failed resolution: the cause, the dependents and the remedies.

import { expect, test, type Page } from '@playwright/test';
import { card, DONE, dependOn, grid, openSample, row, sentence, start, write } from './playground';

const region = (page: Page) => page.getByRole('region', { name: 'Tree' });

test('a text that is no package.json from the start is refused with its first error', async ({ page }) => {
  await start(page);
  await write(page, '{ "name": "app", "dependencies": { "once": "^1" }');
  await expect(sentence(page)).toContainText('This is not a package.json yet. Line 2, column 1: a closing brace is');
  await write(page, '{ "name": "app" }');
  await expect(sentence(page)).toContainText('The project has no dependencies.');
});

test('invalid JSON is reported by line and column, and the last tree stays', async ({ page }) => {
  await openSample(page, 'vite-react-ts');
  await write(page, '{\n  "name": "app"\n  "version": "1.0.0"\n}');
  await expect(page.getByText('Line 3, column 3: a comma is missing here.')).toBeVisible();
  await expect(sentence(page)).toContainText('This is not a package.json yet.');
  await expect(page.getByRole('button', { name: 'Resolve' })).toBeDisabled();
  await expect(grid(page)).toBeVisible();
});

test('the error of a missing version names the dependent and offers the nearest version', async ({ page }) => {
  await start(page);
  await dependOn(page, { express: '^99.0.0' });
  await expect(sentence(page)).toHaveText('No version of express satisfies ^99.0.0.');
  await expect(region(page)).toContainText('app 1.0.0 asks for express@^99.0.0');
  await page
    .getByRole('button', { name: /^Ask for express@/ })
    .first()
    .click();
  await expect(sentence(page)).toContainText(DONE);
  await expect(row(page, 'express').first()).toBeVisible();
});

test('the error of a missing package names the registry and offers another', async ({ page }) => {
  await start(page);
  await dependOn(page, { 'no-such-package-here': '^1.0.0' });
  await expect(sentence(page)).toHaveText('This registry has no package no-such-package-here.');
  await expect(region(page)).toContainText('The embedded registry only holds what the samples need.');
  await expect(region(page)).toContainText('Check the spelling of the name.');
  await expect(page.getByRole('button', { name: 'Ask npm’s registry' })).toBeVisible();
  await expect(card(page)).toContainText('The resolution failed, so there are no packages to select.');
});

test('the error of a missing package says how to reach a private one', async ({ page }) => {
  await page.route('http://registry.test/**', (route) => {
    const headers = { 'access-control-allow-origin': '*' };
    return route.fulfill({ status: 404, contentType: 'application/json', body: '{}', headers });
  });
  await page.goto('./#view=tree&registry=http://registry.test/');
  await dependOn(page, { '@corp/tools': '^1.0.0' });
  await expect(sentence(page)).toHaveText('This registry has no package @corp/tools.');
  await expect(region(page)).toContainText('A private package needs its registry, and often a token.');
  await expect(region(page)).toContainText('@corp:registry=https://…');
});

test('a peer conflict shows both chains, and a flag resolves it', async ({ page }) => {
  await page.goto('./#sample=peer-conflict&view=tree');
  await expect(sentence(page)).toContainText('react can’t be ^17.0.2 and');
  await expect(region(page)).toContainText('Present version');
  await expect(region(page)).toContainText('Conflicting request');
  await expect(sentence(page).locator('.mono').nth(1)).toHaveText('^17.0.2');
  await expect(region(page)).toContainText('Each of these changes was tried and resolves the conflict.');
  await page.getByRole('button', { name: 'Resolve with --legacy-peer-deps' }).click();
  await expect(sentence(page)).toContainText(DONE);
  await expect(page).toHaveURL(/legacy-peer-deps/);
  await expect(page.getByRole('checkbox', { name: '--legacy-peer-deps' })).toBeChecked();
});

test('the error of an unreachable registry offers the embedded one', async ({ page }) => {
  await page.route('http://registry.test/**', (route) => route.abort());
  await page.goto('./#sample=vite-react-ts&view=tree&registry=http://registry.test/');
  await expect(sentence(page)).toContainText('The registry gave no answer for');
  await expect(region(page)).toContainText('CORS');
  await expect(page.getByRole('radio', { name: 'Other' })).toBeChecked();
  await page.getByRole('button', { name: 'Use the embedded registry' }).click();
  await expect(sentence(page)).toContainText(DONE);
  await expect(page.getByRole('radio', { name: 'Embedded' })).toBeChecked();
});
