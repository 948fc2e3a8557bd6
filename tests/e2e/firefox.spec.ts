// The main path in a second engine: type names, look at the tree, remove a dependency, undo.
// Playwright does not build Firefox for every system, so this drives the system's own over
// WebDriver BiDi, like tests/packed.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, test } from '@playwright/test';
import puppeteer, { type Page } from 'puppeteer-core';

const PATIENCE = 60_000;
const executablePath = process.env.FIREFOX_PATH ?? onPath('firefox-esr') ?? onPath('firefox');

test('typed names become a tree, an edit changes it, and undo restores it', async ({ baseURL }) => {
  test.skip(!executablePath, 'there is no Firefox on this machine');
  test.setTimeout(180_000);
  // Firefox refuses a home folder that belongs to another user.
  const home = mkdtempSync(join(tmpdir(), 'espalier-firefox-'));
  const browser = await puppeteer.launch({
    browser: 'firefox',
    executablePath: executablePath!,
    env: { ...process.env, HOME: home },
    timeout: PATIENCE,
    protocolTimeout: PATIENCE,
  });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(PATIENCE);
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    await page.setViewport({ width: 1440, height: 900 });
    await page.goto(`${baseURL}#registry=embedded&view=tree`);
    await page.locator('.ask textarea').fill('once ms');
    await page.locator('.ask-button').click();
    await text(page, '.sentence', /^3 packages.* in [\d.]+ s/);
    await text(page, '[role=treegrid]', /wrappy/);

    await page.goto(`${await page.evaluate(() => location.href)}&at=node_modules/once`);
    await text(page, '.card-location', /^node_modules\/once$/);
    await page.locator('::-p-aria(Remove)').click();
    await text(page, '.changes summary', /−2 removed,/);
    await page.locator('::-p-aria(Undo the last change)').click();
    await text(page, '.changes summary', /\+2 added,/);
    for (const [tab, shown] of [
      ['overview', '.overview-canvas'],
      ['map', '.map-canvas'],
      ['focus', '.focus-node.here'],
      ['table', '[role=grid]'],
    ] as const) {
      await page.locator(`#tab-${tab}`).click();
      await page.waitForSelector(shown, { timeout: PATIENCE });
    }
    expect(problems).toEqual([]);
  } finally {
    await browser.close();
    // Processes of Firefox may end a little later.
    rmSync(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 });
  }
});

/** Waits until the text of the first element that matches a selector matches `words`. */
async function text(page: Page, selector: string, words: RegExp): Promise<void> {
  await page.waitForFunction(
    (selector, source) => new RegExp(source).test(document.querySelector(selector)?.textContent?.trim() ?? ''),
    { timeout: PATIENCE },
    selector,
    words.source,
  );
}

function onPath(name: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}
