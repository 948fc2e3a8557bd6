// Defects that people once saw. Others are tested with their subject: stale faults in
// views.spec.ts, links and registries in resolve.spec.ts, the Back button in views.spec.ts and
// search.spec.ts.

import { expect, test } from '@playwright/test';
import { card, dependOn, DONE, grid, manifest, openSample, openView, row, sentence, start, write } from './playground';

for (const [spec, words] of [
  ['not a range!!', '“not a range!!” is neither a range nor a tag.'],
  ['github:', /./],
  ['workspace:*', 'npm doesn’t know the protocol of workspace:*.'],
] as const) {
  test(`the error of "${spec}" has no blanks`, async ({ page }) => {
    await start(page);
    await dependOn(page, { express: spec });
    await expect(page.locator('.failure-code')).toBeVisible();
    await expect(sentence(page)).toHaveText(words);
    const text = (await page.locator('.failure').innerText()).replaceAll('\n', ' ');
    expect(text).not.toMatch(/“”|"":|``|undefined|\(\)/);
    // The page has no such option.
    expect(text).not.toMatch(/\ballow(Git|Remote)\b/);
  });
}

test('a dependency without a name is an error with line and column', async ({ page }) => {
  await start(page);
  await dependOn(page, { '': '^1.0.0' });
  await expect(page.locator('.fault')).toHaveText('Line 5, column 5: a dependency has to have a name.');
});

test('long lines of the editor scroll below the line numbers', async ({ page }) => {
  await openSample(page, 'express-api');
  const gutter = page.locator('.cm-gutters');
  await expect(gutter).toBeVisible();
  // Narrower than a line in any font.
  await page.locator('.cm-editor').evaluate((editor) => editor.style.setProperty('width', '120px'));
  await page.locator('.cm-scroller').evaluate((scroller) => scroller.scrollTo({ left: 200 }));
  expect(await page.locator('.cm-scroller').evaluate(({ scrollLeft }) => scrollLeft)).toBeGreaterThan(0);
  const { x, y, width } = (await gutter.boundingBox())!;
  const onTop = await page.evaluate(
    ([left, top]) => document.elementFromPoint(left!, top!)?.closest('.cm-gutters') !== null,
    [x + width / 2, y + 40],
  );
  expect(onTop).toBe(true);
  await expect(gutter).not.toHaveCSS('background-color', 'rgba(0, 0, 0, 0)');
});

test('during a resolution, the page makes no claim that it cannot know yet', async ({ page }) => {
  await page.route('**/registry/wrappy', () => {});
  await start(page);
  await write(page, manifest('tiny').replace('"name": "tiny"', '"name": "mine"'));
  await expect(grid(page).getByText('once', { exact: true })).toBeVisible();
  await expect(sentence(page)).toContainText('Resolving');
  await expect(card(page)).not.toContainText(/0 direct dependenc/);
  await grid(page).getByText('once', { exact: true }).click();
  await expect(card(page).locator('.card-name')).toHaveText('once');
  await expect(card(page)).not.toContainText('no license given');
});

test('a figure of the sentence is the number that its filter finds', async ({ page }) => {
  await openSample(page, 'express-api');
  const figures = page.locator('.sentence .figure');
  const all = await figures.allTextContents();
  expect(all.length).toBeGreaterThan(1);
  for (const [index, words] of all.entries()) {
    await figures.nth(index).click();
    const promised = /\(([\d,]+) copies\)/.exec(words)?.[1] ?? /^[\d,]+/.exec(words)?.[0];
    await expect(page.locator('.search-count')).toHaveText(`${promised} of 642`);
    await figures.nth(index).click();
  }
});

test('an optional package of another platform is no problem', async ({ page }) => {
  await openSample(page, 'vite-react-ts');
  await expect(sentence(page)).not.toContainText('unmet');
  await page.goto('./#sample=vite-react-ts&view=tree&q=is:problem');
  await expect(page.getByText('Nothing in this tree matches')).toBeVisible();
});

test('Escape clears the green wires', async ({ page }) => {
  await openSample(page, 'tiny', 'tree', '&at=node_modules/wrappy');
  await expect(grid(page).locator('.trained').first()).toBeVisible();
  await grid(page).focus();
  await page.keyboard.press('Escape');
  await expect(grid(page).locator('.trained')).toHaveCount(0);
});

test('Escape leaves the editor and other fields, so that the next keys are shortcuts', async ({ page }) => {
  await openSample(page, 'tiny', 'tree', '&at=node_modules/wrappy');
  const editor = page.getByRole('textbox', { name: 'package.json' });
  const before = await editor.textContent();
  await page.keyboard.press('e');
  await expect(editor).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(grid(page)).toBeFocused();
  await page.keyboard.press('w');
  await expect(page.getByRole('region', { name: 'Package' })).toBeFocused();
  await expect(editor).toHaveText(before!);
  // A view without a widget of its own has the focus itself.
  await openView(page, 'Health');
  await page.keyboard.press('/');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('tabpanel')).toBeFocused();
  await expect(page.locator('.card-location')).toHaveText('node_modules/wrappy');
});

test('the ranges of Why are whole', async ({ page }) => {
  for (const width of [1280, 768, 390]) {
    await page.setViewportSize({ width, height: 800 });
    await openSample(page, 'express-api', 'tree', '&at=node_modules/eslint');
    const why = page.getByRole('region', { name: 'Why it’s installed' });
    await expect(why).toContainText(
      'eslint-plugin-import 2.32.0 peer ^2 || ^3 || ^4 || ^5 || ^6 || ^7.2.0 || ^8 || ^9',
    );
    const cut = await why.locator('.why-step *').evaluateAll((all) => {
      const right = document.querySelector('.why')!.getBoundingClientRect().right;
      return all.filter((one) => {
        const isCut = getComputedStyle(one).overflow !== 'visible' && one.scrollWidth > one.clientWidth;
        return isCut || one.getBoundingClientRect().right > right + 1;
      }).length;
    });
    expect(cut).toBe(0);
  }
});

test('bars are higher than underlines', async ({ page }) => {
  await openSample(page, 'express-api');
  const bars = page.locator('.bars i');
  await expect(bars.first()).toBeVisible();
  for (const bar of await bars.all()) {
    const [own, line] = [(await bar.boundingBox())!, (await bar.locator('..').boundingBox())!];
    expect(own.height).toBeGreaterThan(line.height / 2);
  }
});

test.describe('at 1,024 pixels', () => {
  test.use({ viewport: { width: 1024, height: 768 } });

  test('the important columns are visible', async ({ page }) => {
    await openSample(page, 'tiny', 'tree');
    const heads = grid(page).getByRole('columnheader');
    await expect(heads).toHaveText([/Package/, /Version/, /Wanted/, /Only/, /Reaches/]);
    for (const head of await heads.all()) await expect(head).toBeInViewport();
    // Notes are beside the names.
    await openSample(page, 'express-api', 'tree', '&q=cookie-signature');
    await expect(row(page, 'cookie-signature').first().locator('.cell-name').getByText('2 copies')).toBeInViewport();
  });
});

test('the page has one primary button', async ({ page }) => {
  await page.goto('./');
  await expect(page.getByText('resolved here in')).toBeVisible();
  await expect(page.locator('.button.primary:visible')).toHaveCount(1);
  await openSample(page, 'tiny');
  await expect(sentence(page)).toContainText(DONE);
  await expect(page.locator('.button.primary:visible')).toHaveCount(1);
});
