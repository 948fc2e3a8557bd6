// The edits that the page offers, and their marks.

import { expect, test, type Page } from '@playwright/test';
import { card, dependOn, DONE, grid, openSample, openView, row, sentence, start, write } from './playground';

const editor = (page: Page) => page.getByRole('textbox', { name: 'package.json' });
const summary = (page: Page) => page.locator('.changes summary');

/** The marks of an edit, in front of names. */
const signs = (page: Page) => page.locator('#view .sign');

test('the card pins and updates a package', async ({ page }) => {
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

test('the card overrides an indirect dependency', async ({ page }) => {
  await openSample(page, 'tiny', 'tree', '&at=node_modules/wrappy');
  await expect(row(page, 'wrappy')).not.toContainText('overridden');
  await card(page).getByRole('button', { name: 'Override' }).click();
  await expect(editor(page)).toContainText(/"overrides": \{\s*"wrappy": "1\.0\.2"/);
  await expect(row(page, 'wrappy')).toContainText('overridden');
});

test('only packages of the public registry link to npm', async ({ page }) => {
  await openSample(page, 'tiny', 'tree', '&at=node_modules/once');
  const link = card(page).getByRole('link', { name: 'Open on npm' });
  await expect(card(page).getByRole('button', { name: 'Override' })).toBeVisible();
  await expect(link).toHaveCount(0);

  let registry = '';
  await page.route(/^https:/, (route) => {
    registry = new URL(route.request().url()).origin;
    const tarball = `${registry}/only/-/only-1.0.0.tgz`;
    const manifest = { name: 'only', version: '1.0.0', license: 'MIT', dist: { tarball, integrity: 'sha512-AA==' } };
    const packument = { name: 'only', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': manifest } };
    return route.fulfill({ json: packument, headers: { 'access-control-allow-origin': '*' } });
  });
  await page.goto('./');
  await write(page, '{ "name": "mine", "dependencies": { "only": "^1.0.0" } }');
  await expect(sentence(page)).toContainText(DONE);
  await openView(page, 'Tree');
  await row(page, 'only').locator('.name').click();
  await expect(link).toHaveAttribute('href', `${registry.replace('//registry.', '//www.')}/package/only`);
  await expect(link).toHaveAttribute('rel', 'noopener noreferrer');
  await expect(link).toHaveAttribute('target', '_blank');
});

test('the Node.js version changes the findings', async ({ page }) => {
  await openSample(page, 'vite-react-ts', 'health');
  await page.getByText('What if…').click();
  const node = page.getByRole('textbox', { name: 'Node' });
  await node.fill('the latest');
  await node.press('Enter');
  await expect(page).not.toHaveURL(/node=/);
  await node.fill('16.0.0');
  await node.press('Enter');
  await expect(page).toHaveURL(/node=16\.0\.0/);
  await expect(sentence(page)).toContainText(DONE);
  await expect(page.getByRole('region', { name: 'Not for Node 16' })).toContainText('packages not for Node 16');
  await page.getByRole('region', { name: 'Not for Node 16' }).getByRole('button', { name: 'Filter by this' }).click();
  await expect(page).toHaveURL(/q=is:not-for-node-16/);
  await expect(page.locator('.search-count')).toHaveText(/^61 of/);
  await page.getByRole('button', { name: 'Undo the last change' }).click();
  await expect(page).not.toHaveURL(/node=/);
});

test('an edit is marked beside names', async ({ page }) => {
  await openSample(page, 'tiny', 'table', '&at=node_modules/once');
  await card(page).getByRole('button', { name: 'Remove' }).click();
  await expect(summary(page)).toHaveText(/−2 removed,/);
  await openView(page, 'Tree');
  await expect(signs(page)).toHaveText(['−2 ']);
  await openView(page, 'Focus');
  await page.getByRole('tabpanel').getByRole('button', { name: 'Clear the selection' }).click();
  await expect(signs(page)).toHaveText(['−2 ']);

  await page.getByRole('button', { name: 'Undo the last change' }).click();
  await expect(summary(page)).toHaveText(/\+2 added,/);
  await openView(page, 'Table');
  await expect(signs(page)).toHaveText(['+ ', '+ ']);
  // The list of decisions marks their placements.
  await openView(page, 'Replay');
  await expect(page.locator('.replay-row', { has: page.locator('.sign') })).toHaveText([
    /placed \+ once 1\.4\.0$/,
    /placed \+ wrappy 1\.0\.2$/,
  ]);
});

test('an edit is marked in drawings', async ({ page }) => {
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
  await expect(summary(page)).toHaveText(/−2 removed,/);
  await expect.poll(drawn).toContain('−2');
  await page.evaluate(() => (globalThis as unknown as { texts: Set<string> }).texts.clear());
  await openView(page, 'Replay');
  await expect.poll(drawn).toContain('−2');
  await page.getByRole('button', { name: 'Undo the last change' }).click();
  await expect(summary(page)).toHaveText(/\+2 added,/);
  await openView(page, 'Map');
  await expect.poll(drawn).toContain('+ once');
});

test('the slider resolves the tree as of a past day', async ({ page }) => {
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

test('the flag --legacy-peer-deps leaves out peers', async ({ page }) => {
  await start(page);
  await dependOn(page, { '@testing-library/react': '^16.0.0' });
  await expect(sentence(page)).toContainText(DONE);
  await expect(row(page, 'react-dom').first()).toBeVisible();
  await page.getByText('What if…').click();
  await page.getByRole('checkbox', { name: '--legacy-peer-deps' }).check();
  await expect(page).toHaveURL(/legacy-peer-deps/);
  await expect(summary(page)).toHaveText(/^−[1-9]\d* removed,/);
  await page.getByRole('checkbox', { name: '--legacy-peer-deps' }).uncheck();
  await expect(summary(page)).toHaveText(/\+[1-9]\d* added,/);
});
