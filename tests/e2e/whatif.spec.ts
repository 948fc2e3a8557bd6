// Edits that the page offers, and where they are seen.

import { expect, test, type Page } from '@playwright/test';
import { card, dependOn, DONE, grid, openSample, openView, row, sentence, start } from './playground';

const editor = (page: Page) => page.getByRole('textbox', { name: 'package.json' });
const summary = (page: Page) => page.locator('.changes summary');

/** What an edit did, as it stands before names. */
const signs = (page: Page) => page.locator('#view .sign');

test('a package is pinned, updated and overridden from its card', async ({ page }) => {
  await openSample(page, 'overrides', 'tree');
  await row(page, 'react').first().click();
  const version = (await card(page).locator('.card-facts .mono').first().textContent())!.trim();
  await card(page).getByRole('button', { name: 'Pin' }).click();
  await expect(editor(page)).toContainText(`"react": "${version}"`);
  await expect(sentence(page)).toContainText(DONE);
  await expect(card(page).getByRole('button', { name: 'Pin' })).toHaveCount(0);
  await card(page).getByRole('button', { name: 'Update' }).click();
  await expect(editor(page)).toContainText('"react": "latest"');
});

test('what an edit changed is marked beside names', async ({ page }) => {
  await openSample(page, 'tiny', 'table', '&at=node_modules/once');
  await card(page).getByRole('button', { name: 'Remove' }).click();
  await expect(summary(page)).toHaveText(/\+0 −2 ~0/);
  await openView(page, 'Tree');
  await expect(signs(page)).toHaveText(['−2 ']);
  await openView(page, 'Focus');
  await expect(signs(page)).toHaveText(['−2 ']);

  await page.getByRole('button', { name: 'Undo the last change' }).click();
  await expect(summary(page)).toHaveText(/\+2 −0 ~0/);
  await openView(page, 'Table');
  await expect(signs(page)).toHaveText(['+ ', '+ ']);
});

test('what an edit changed is marked on what is drawn', async ({ page }) => {
  await page.addInitScript(() => {
    const texts = new Set<string>();
    const { fillText } = CanvasRenderingContext2D.prototype;
    Object.assign(CanvasRenderingContext2D.prototype, {
      fillText(this: CanvasRenderingContext2D, text: string, x: number, y: number) {
        texts.add(text);
        fillText.call(this, text, x, y);
      },
    });
    Object.assign(globalThis, { texts });
  });
  await openSample(page, 'tiny', 'overview', '&at=node_modules/once');
  const drawn = () => page.evaluate(() => [...(globalThis as unknown as { texts: Set<string> }).texts]);
  expect(await drawn()).not.toContain('−2');
  await card(page).getByRole('button', { name: 'Remove' }).click();
  await expect(summary(page)).toHaveText(/\+0 −2 ~0/);
  await expect.poll(drawn).toContain('−2');
  await page.getByRole('button', { name: 'Undo the last change' }).click();
  await expect(summary(page)).toHaveText(/\+2 −0 ~0/);
  await openView(page, 'Map');
  await expect.poll(drawn).toContain('+ once');
});

test('the slider takes the whole tree back in time', async ({ page }) => {
  await openSample(page, 'tiny', 'tree');
  await page.getByText('What if…').click();
  const slider = page.getByRole('slider', { name: 'Resolve as of a day in the past' });
  await slider.press('ArrowLeft');
  await expect(page).toHaveURL(/before=\d{4}-\d\d-\d\d/);
  await expect(sentence(page)).toContainText(DONE);
  await slider.press('End');
  await expect(page).not.toHaveURL(/before=/);
  await expect(grid(page)).toBeVisible();
});

test('peers are left out and come back with a flag', async ({ page }) => {
  await start(page);
  await dependOn(page, { '@testing-library/react': '^16.0.0' });
  await expect(sentence(page)).toContainText(DONE);
  await expect(row(page, 'react-dom').first()).toBeVisible();
  await page.getByText('What if…').click();
  await page.getByRole('checkbox', { name: '--legacy-peer-deps' }).check();
  await expect(page).toHaveURL(/legacy-peer-deps/);
  await expect(summary(page)).toHaveText(/\+0 −[1-9]/);
  await page.getByRole('checkbox', { name: '--legacy-peer-deps' }).uncheck();
  await expect(summary(page)).toHaveText(/\+[1-9]\d* −0/);
});
