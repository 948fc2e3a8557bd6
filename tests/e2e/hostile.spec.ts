// Linked and pasted text comes from strangers: the page shows it as text and never runs it.

import { expect, test } from '@playwright/test';
import { card, DONE, openSample, sentence, start, write } from './playground';

const MARKUP = '<img src=x onerror="document.title=\'taken\'">';

test('markup in a package.json is shown as text', async ({ page }) => {
  await start(page);
  await write(page, JSON.stringify({ name: MARKUP, version: MARKUP, dependencies: { ms: '^2.1.0' } }));
  await expect(sentence(page)).toContainText(DONE);
  await expect(card(page)).toContainText('<img src=x');
  await expect(page.locator('img')).toHaveCount(0);
  await write(page, JSON.stringify({ name: 'app', dependencies: { ms: MARKUP } }));
  await expect(page.locator('.failure')).toContainText('<img src=x');
  await expect(page.locator('img')).toHaveCount(0);
  expect(await page.title()).not.toBe('taken');
});

test('the page’s policy blocks foreign scripts', async ({ page }) => {
  const refused: string[] = [];
  page.on('console', (message) => /Content Security Policy/.test(message.text()) && refused.push(message.text()));
  await openSample(page, 'tiny', 'tree');
  expect(refused).toEqual([]);
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'document.title = "taken"';
    document.body.append(script);
  });
  expect(await page.title()).not.toBe('taken');
  await expect.poll(() => refused.length).toBeGreaterThan(0);
});
