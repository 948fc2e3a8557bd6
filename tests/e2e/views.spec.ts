// The views of one tree: they share the selection, the search and the marks of an edit.

import { readFileSync } from 'node:fs';
import { expect, test, type Page } from '@playwright/test';
import { card, DONE, field, grid, openSample, openView, sentence, start, write } from './playground';

/** Everything drawn on canvases: the number of shapes by colour, and texts. */
interface Listened {
  drawn: { fills: Map<string, number>; texts: Set<string> };
}

const overview = (page: Page) => page.getByRole('img', { name: /Overview of/ });

test('all views share the selection, and Back restores it', async ({ page }) => {
  await openSample(page, 'express-api', 'table');
  const table = page.getByRole('grid');
  await table.getByRole('row', { name: /^prettier / }).click();
  await expect(card(page).locator('.card-location')).toHaveText('node_modules/prettier');
  await openView(page, 'Focus');
  await expect(page.locator('.focus-node[aria-current=true]')).toContainText('prettier');
  await page.locator('.focus-node.root').click();
  await expect(card(page).locator('.card-name')).toHaveText('express-api');
  await page.goBack();
  await expect(card(page).locator('.card-name')).toHaveText('prettier');
  await page.goBack();
  await expect(page.getByRole('tab', { name: 'Table' })).toHaveAttribute('aria-selected', 'true');
  await page.goBack();
  await expect(card(page).locator('.card-name')).toHaveText('express-api');
});

test('keys navigate and zoom the overview', async ({ page }) => {
  await openSample(page, 'tiny', 'overview');
  await overview(page).focus();
  await page.keyboard.press('ArrowUp');
  await expect(card(page).locator('.card-location')).toHaveText('node_modules/once');
  await page.keyboard.press('ArrowUp');
  await expect(page.getByRole('img', { name: /^wrappy 1\.0\.2, 2 steps from the project/ })).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowRight');
  await expect(card(page).locator('.card-name')).toHaveText('ms');
  await page.keyboard.press('+');
  await expect(page.getByRole('button', { name: 'Show everything' })).toBeEnabled();
  await page.keyboard.press('0');
  await expect(page.getByRole('button', { name: 'Show everything' })).toBeDisabled();
});

test('hidden and resized columns persist, and can be reset', async ({ page }) => {
  await openSample(page, 'tiny', 'tree');
  const head = (name: string) => grid(page).getByRole('columnheader', { name });
  const width = async (name: string) => (await head(name).boundingBox())!.width;
  const usual = await width('Version');
  await page.getByRole('button', { name: 'Columns' }).click();
  const list = page.getByRole('group', { name: 'Columns' });
  await list.getByRole('checkbox', { name: 'Kind' }).uncheck();
  await expect(head('Kind')).toHaveCount(0);
  await list.getByRole('slider', { name: 'Width of Version' }).press('End');
  await expect.poll(() => width('Version')).toBeGreaterThan(600);
  await page.keyboard.press('Escape');
  await expect(list).toBeHidden();
  await page.reload();
  await expect(sentence(page)).toContainText(DONE);
  await expect(head('Kind')).toHaveCount(0);
  const edge = head('Version').locator('.column-edge');
  // Waits until the edge stands still and nothing covers it.
  await edge.hover();
  const { x, y } = (await edge.boundingBox())!;
  await page.mouse.down();
  await page.mouse.move(x - 300, y + 8, { steps: 5 });
  await page.mouse.up();
  await expect.poll(() => width('Version')).toBeLessThan(400);
  await page.getByRole('button', { name: 'Columns' }).click();
  await list.getByRole('button', { name: 'Reset columns' }).click();
  await expect(head('Kind')).toBeVisible();
  await expect.poll(() => width('Version')).toBe(usual);
});

test('Focus scrolls to its package', async ({ page }) => {
  await openSample(page, 'express-api', 'focus');
  await expect(page.locator('.focus-node[aria-current=true]')).toBeInViewport({ ratio: 0.9 });
});

test('Focus and the card say that the selected package is gone, and what to do', async ({ page }) => {
  await openSample(page, 'express-api', 'focus', '&at=node_modules/zod');
  const focus = page.getByRole('tabpanel');
  await expect(focus.locator('.focus-node.here')).toContainText('zod');
  await write(page, JSON.stringify({ name: 'express-api', version: '1.0.0', dependencies: { express: '^4.21.0' } }));
  for (const place of [focus, card(page)]) {
    await expect(place).toContainText('zod is not in this tree.');
    await expect(place).toContainText(/The last change removed zod 3\.\d+\.\d+\./);
  }
  await focus.getByRole('button', { name: 'Undo the change' }).click();
  await expect(focus.locator('.focus-node.here')).toContainText('zod');
  await expect(card(page).locator('.card-location')).toHaveText('node_modules/zod');

  // Elsewhere, there are copies.
  await openSample(page, 'express-api', 'focus', '&at=node_modules/other/node_modules/cookie-signature');
  await expect(focus).toContainText('cookie-signature is not at node_modules/other/node_modules/cookie-signature');
  await focus.getByRole('button', { name: /^Go to cookie-signature \d+\.\d+\.\d+ under supertest$/ }).click();
  await expect(focus.locator('.focus-node.here')).toContainText('cookie-signature');

  await openSample(page, 'tiny', 'focus', '&at=node_modules/zod');
  await focus.getByRole('button', { name: 'Clear the selection' }).press('Enter');
  await expect(focus.locator('.focus-node.here')).toBeVisible();
  await expect(focus).toBeFocused();
  await expect(page).not.toHaveURL(/at=/);
});

test('keys navigate Focus, and a click moves a package into the middle', async ({ page }) => {
  await openSample(page, 'express-api', 'focus', '&at=node_modules/express');
  const boxes = page.locator('.focus-node');
  await page.locator('.focus-node.here').focus();
  await page.keyboard.press('ArrowLeft');
  await expect(page.locator('.focus-node.root')).toBeFocused();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowDown');
  const name = await page.locator('.focus-node:focus .focus-name').textContent();
  await page.keyboard.press('Enter');
  await expect(page.locator('.focus-node.here .focus-name')).toHaveText(name!);
  await boxes.filter({ hasText: 'express' }).last().click();
  await expect(page.locator('.focus-node.here .focus-name')).toHaveText('express');
});

test('a column header sorts the table in both directions', async ({ page }) => {
  await openSample(page, 'express-api', 'table');
  const table = page.getByRole('grid');
  const head = table.getByRole('columnheader', { name: /Package/ });
  await head.getByRole('button', { name: /Package/ }).click();
  await expect(head).toHaveAttribute('aria-sort', 'ascending');
  await expect(table.getByRole('row').nth(1)).toContainText('@babel/code-frame');
  await head.getByRole('button', { name: /Package/ }).click();
  await expect(head).toHaveAttribute('aria-sort', 'descending');
  await expect(table.getByRole('row').nth(1)).toContainText('zod');
});

test('the map counts exclusive dependencies, and the pointer and keys navigate it', async ({ page }) => {
  await openSample(page, 'express-api', 'map');
  const map = page.getByRole('img', { name: /^Map of/ });
  const { x, y } = (await map.boundingBox())!;
  // The heaviest package is at the top left.
  await page.mouse.move(x + 20, y + 8);
  await expect(page.locator('.map-tip')).toContainText(/jest.* with 216 packages that only it needs/);
  await page.mouse.click(x + 20, y + 8);
  await expect(card(page).locator('.card-location')).toHaveText('node_modules/jest');
  await page.keyboard.press('ArrowRight');
  await expect(card(page).locator('.card-location')).not.toHaveText('node_modules/jest');
});

test('the pointer highlights the whole path through a package in Focus', async ({ page }) => {
  await openSample(page, 'express-api', 'focus', '&at=node_modules/body-parser/node_modules/ms');
  // The path consists of the project, express, body-parser, its debug, and ms.
  await page.locator('.focus-node.root').hover();
  await expect(page.locator('.focus-link.lit')).toHaveCount(await page.locator('.focus-link.way').count());
  await expect(page.locator('.focus-node.lit')).toContainText(['express-api', 'express', 'ms']);
});

test('dependents, package and dependencies fit side by side between open panes', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await openSample(page, 'express-api', 'focus', '&at=node_modules/express');
  await expect(page.locator('.focus-node.here')).toContainText('express');
  await expect.poll(() => page.locator('.focus').evaluate((view) => view.scrollWidth - view.clientWidth)).toBe(0);
});

test('every package is drawn in the colour of the legend, and the largest are labelled', async ({ page }) => {
  // A canvas cannot be queried, so this records the calls that draw on it.
  await page.addInitScript(() => {
    let shapes = 0;
    const drawn = { fills: new Map<string, number>(), texts: new Set<string>() };
    const { moveTo, rect, fillText, beginPath } = CanvasRenderingContext2D.prototype;
    const fill: (this: CanvasRenderingContext2D) => void = CanvasRenderingContext2D.prototype.fill;
    Object.assign(CanvasRenderingContext2D.prototype, {
      beginPath(this: CanvasRenderingContext2D) {
        shapes = 0;
        beginPath.call(this);
      },
      moveTo(this: CanvasRenderingContext2D, x: number, y: number) {
        shapes += 1;
        moveTo.call(this, x, y);
      },
      rect(this: CanvasRenderingContext2D, x: number, y: number, width: number, height: number) {
        shapes += 1;
        rect.call(this, x, y, width, height);
      },
      fill(this: CanvasRenderingContext2D) {
        const colour = String(this.fillStyle);
        drawn.fills.set(colour, (drawn.fills.get(colour) ?? 0) + shapes);
        fill.call(this);
      },
      fillText(this: CanvasRenderingContext2D, text: string, x: number, y: number) {
        drawn.texts.add(text);
        fillText.call(this, text, x, y);
      },
    });
    Object.assign(globalThis, { drawn });
  });
  await openSample(page, 'express-api', 'overview');
  // A change of the theme draws everything anew; only that is counted.
  let scheme: 'light' | 'dark' = 'light';
  const picture = async () => {
    await page.evaluate(() => {
      const { drawn } = globalThis as unknown as Listened;
      drawn.fills.clear();
      drawn.texts.clear();
    });
    scheme = scheme === 'light' ? 'dark' : 'light';
    await page.emulateMedia({ colorScheme: scheme });
    return page.evaluate(async () => {
      for (let frame = 0; frame < 3; frame += 1) await new Promise((next) => requestAnimationFrame(next));
      const { drawn } = globalThis as unknown as Listened;
      return { fills: [...drawn.fills.values()].sort((a, b) => a - b), texts: [...drawn.texts] };
    });
  };
  const legend = await page.locator('.legend-classes .soft').allTextContents();
  // The legend does not count the project itself.
  const counts = [1, ...legend.map(Number)].sort((a, b) => a - b);
  const texts = expect.arrayContaining(['express-api', 'express', 'jest', 'eslint']);
  await expect.poll(picture).toEqual({ fills: counts, texts });
  await openView(page, 'Map');
  await expect
    .poll(async () => (await picture()).texts)
    .toEqual(expect.arrayContaining(['jest', 'prettier', 'eslint']));
});

test('the sentence states the size of the tree, and columns count exclusive dependencies', async ({ page }) => {
  await openSample(page, 'express-api', 'tree');
  await expect(sentence(page)).toContainText(/642 packages, [\d.]+ MB unpacked/);
  const express = grid(page)
    .getByRole('row')
    .filter({ has: page.locator('.name', { hasText: /^express$/ }) });
  // 68 packages can be reached, but other dependents need 22 of them too.
  const [only, reaches] = await express.first().locator('.cell-below').allTextContents();
  expect(Number(only)).toBeGreaterThan(1);
  expect(Number(only)).toBeLessThan(Number(reaches));
});

test('an edit is compared with the previous tree, and can be undone', async ({ page }) => {
  await openSample(page, 'tiny', 'tree', '&at=node_modules/once');
  await card(page).getByRole('button', { name: 'Remove' }).click();
  await expect(page.locator('.changes summary')).toHaveText(/−2 removed,/);
  await expect(sentence(page)).toContainText('1 package,');
  await expect(page).toHaveURL(/manifest=.*registry=embedded/);
  await page.locator('.changes summary').click();
  await expect(page.locator('.differences')).toContainText('wrappy');
  await expect(grid(page).locator('.sign')).toHaveText(['−2 ']);

  await page.getByRole('button', { name: 'Undo the last change' }).click();
  await expect(sentence(page)).toContainText('3 packages,');
  await expect(page.locator('.changes summary')).toHaveText(/\+2 added,/);
  await expect(grid(page).locator('.sign')).toHaveText(['+ ', '+ ']);
  await page.getByRole('button', { name: 'Redo the change' }).click();
  await expect(sentence(page)).toContainText('1 package,');

  // A pinned tree is compared with every later one.
  await page.getByRole('button', { name: 'Pin this tree' }).click();
  await expect(page.getByText('The same packages as in the pinned tree.')).toBeVisible();
  await page.getByRole('button', { name: 'Undo the last change' }).click();
  await page.locator('.changes summary').click();
  await expect(page.getByRole('columnheader', { name: 'the pinned tree 1' })).toBeVisible();
  await expect(page.getByRole('columnheader', { name: 'now 3' })).toBeVisible();
  await page.getByRole('button', { name: 'Stop comparing' }).click();
});

test('the views stay in place while an edit is resolved', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await openSample(page, 'express-api');
  await page.getByText('What if…').click();
  // Every frame is looked at, because an edit is resolved in a few of them.
  const places = grid(page).evaluate(
    (element) =>
      new Promise<number[]>((end) => {
        const tops = new Set<number>();
        let began = false;
        const look = () => {
          const isResolving = document.querySelector('.sentence')!.textContent!.startsWith('Resolving');
          began ||= isResolving;
          tops.add(Math.round(element.getBoundingClientRect().top));
          if (began && !isResolving) end([...tops]);
          else requestAnimationFrame(look);
        };
        look();
      }),
  );
  await page.getByText('--prefer-dedupe').click();
  expect(await places).toHaveLength(1);
});

test('the date and the platform change the tree', async ({ page }) => {
  await openSample(page, 'vite-react-ts', 'overview');
  await page.getByText('What if…').click();
  await page.getByRole('combobox', { name: 'Platform' }).selectOption('macOS, arm64');
  await expect(page).toHaveURL(/platform=darwin-arm64/);
  await expect(sentence(page)).toContainText(DONE);
  await page.getByRole('searchbox', { name: 'Search' }).fill('fsevents');
  await openView(page, 'Table');
  await page
    .getByRole('grid')
    .getByRole('row', { name: /fsevents/ })
    .click();
  await expect(card(page)).not.toContainText('not on this platform');
  await page.goto('./#sample=tiny&before=2000-01-01');
  await expect(sentence(page)).toContainText(/has no versions/);
});

test('duplicates name the holder of each copy, and remedies are tried', async ({ page }) => {
  await openSample(page, 'express-api', 'duplicates');
  const debug = page.getByRole('article', { name: 'debug', exact: true });
  await expect(debug).toContainText('at the top');
  await expect(debug).toContainText('body-parser asks for 2.6.9; the copy at the top is 4.4.3.');
  await debug.getByRole('button', { name: 'Try what would help' }).click();
  await expect(debug.getByText(/left, −\d+ packages/).first()).toBeVisible();
  await debug.getByRole('button', { name: 'Apply' }).first().click();
  await expect(page.locator('.changes summary')).toContainText('compared with the previous tree');
});

test('the replay steps through decisions, and finds the placement of a package', async ({ page }) => {
  await openSample(page, 'tiny', 'replay', '&at=node_modules/wrappy');
  const slider = page.getByRole('slider', { name: 'Step of the resolution' });
  await expect(slider).toHaveAttribute('aria-valuetext', /wrappy/);
  await page.getByRole('button', { name: 'Where did wrappy land?' }).click();
  await expect(page.locator('.replay-sentence')).toContainText('wrappy 1.0.2 is placed at the top');
  await slider.focus();
  await page.keyboard.press('Home');
  await expect(page.locator('.replay-sentence')).toContainText(
    'Nothing is decided yet. The tree contains only the project.',
  );
  await page.keyboard.press(']');
  await expect(page.locator('.replay-sentence')).toContainText(/asks for .*npm picks/);
  await expect(page.locator('.replay-detail')).toContainText('in the range');
  // Both of the project's dependencies are picked before the first is placed.
  await page.keyboard.press(']');
  await page.keyboard.press(']');
  await expect(page.locator('.replay-sentence')).toContainText('needs');
  await expect(page.locator('.replay-detail')).toContainText('the folder has no such package');
});

test('the replay plays to the end, and can be paused', async ({ page }) => {
  await openSample(page, 'express-api', 'replay');
  const slider = page.getByRole('slider', { name: 'Step of the resolution' });
  await expect(slider).toHaveAttribute('max', /\d{4}/);
  await page.getByRole('combobox', { name: 'Speed' }).selectOption('Fast');
  await page.getByRole('button', { name: 'Play' }).click();
  await expect.poll(async () => Number(await slider.inputValue())).toBeGreaterThan(3);
  await page.getByRole('button', { name: 'Pause' }).click();
  const at = Number(await slider.inputValue());
  await expect(page.getByRole('button', { name: 'Play' })).toBeVisible();
  await page.getByRole('button', { name: 'One step forward' }).click();
  await expect(slider).toHaveValue(String(at + 1));
  // Started shortly before the end, it plays to the end.
  await slider.press('End');
  for (let back = 0; back < 5; back += 1) await slider.press('ArrowLeft');
  await page.getByRole('button', { name: 'Play' }).click();
  await expect(slider).toHaveValue((await slider.getAttribute('max'))!);
  await expect(page.getByRole('button', { name: 'Play' })).toBeVisible();
});

test('the replay begins with bare wires and ends with the overview', async ({ page }) => {
  await page.setViewportSize({ width: 1920, height: 1080 });
  await openSample(page, 'express-api', 'overview');
  const legend = page.locator('.legend-classes li');
  const whole = await legend.allTextContents();
  expect(whole.length).toBeGreaterThan(2);
  await openView(page, 'Replay');
  await expect(page.getByRole('slider', { name: 'Step of the resolution' })).toHaveAttribute('max', /\d{4}/);
  await expect(legend).toHaveText(whole);
  await page.getByRole('slider', { name: 'Step of the resolution' }).press('Home');
  await expect(legend.locator('.soft')).toHaveText(whole.map(() => '0'));
});

test('a filter of Health applies to all views', async ({ page }) => {
  await openSample(page, 'express-api', 'health');
  const scripts = page.getByRole('region', { name: 'Install scripts' });
  await expect(scripts).toContainText('bcrypt');
  await scripts.getByRole('button', { name: 'Filter by this' }).click();
  await expect(page).toHaveURL(/q=is:scripts/);
  await openView(page, 'Table');
  await expect(page.getByRole('grid').getByRole('row').filter({ hasText: 'bcrypt' })).toBeVisible();
  await expect(page.getByRole('grid').getByRole('row').filter({ hasText: 'express' })).toHaveCount(0);
});

test('every export has the content that its name states', async ({ page }) => {
  await openSample(page, 'tiny', 'overview');
  await page.getByText('Share', { exact: true }).click();
  const save = async (name: RegExp) => {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name }).click();
    return readFileSync(await (await download).path());
  };
  const bom = JSON.parse((await save(/^CycloneDX/)).toString());
  expect(bom.components.map(({ purl }: { purl: string }) => purl)).toContain('pkg:npm/once@1.4.0');
  expect(JSON.parse((await save(/^SPDX/)).toString()).packages.length).toBe(4);
  const graph = JSON.parse((await save(/^Graph/)).toString());
  const once = graph.nodes.findIndex(({ location }: { location: string }) => location === 'node_modules/once');
  expect(graph.nodes[once]).toMatchObject({ name: 'once', version: '1.4.0', license: 'ISC' });
  expect(graph.edges).toContainEqual(expect.objectContaining({ from: once, name: 'wrappy', spec: '1', kind: 'prod' }));
  expect((await save(/^Drawing/)).toString()).toContain('<title>wrappy 1.0.2</title>');
  expect([...(await save(/^Picture/)).subarray(1, 4)]).toEqual([0x50, 0x4e, 0x47]);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('button', { name: /^CycloneDX/ })).toBeHidden();
});

test('the error of a package.json goes with its cause', async ({ page }) => {
  await start(page);
  await write(page, '{ "name": "app", "dependencies": 1 }');
  await expect(page.locator('.fault')).toContainText('dependencies has to be an object');
  await write(page, '{ "name": "app", "dependencies": { "ms": 1 } }');
  await expect(page.locator('.fault')).toHaveText('Line 1, column 42: a range is a string.');
  await write(page, '{ "name": "app", "dependencies": { "ms": "not a range!!" } }');
  await expect(sentence(page)).toContainText('“not a range!!” is neither a range nor a tag.');
  await write(page, '{ "name": "app", "dependencies": { "ms": "^2.1.0" } }');
  await expect(sentence(page)).toContainText(DONE);
  // A digit does not open a sample while the editor has text.
  await page.getByRole('tab', { name: 'Overview' }).focus();
  await page.keyboard.press('1');
  await expect(page.getByRole('textbox', { name: 'package.json' })).toContainText('"ms"');
});

test.describe('on a narrow phone, without motion', () => {
  test.use({ viewport: { width: 360, height: 740 }, hasTouch: true, reducedMotion: 'reduce' });

  test('the start page and every view fit', async ({ page }) => {
    await page.goto('./');
    await expect(field(page)).toBeVisible();
    const width = () => page.evaluate(() => document.documentElement.scrollWidth);
    expect(await width()).toBe(360);
    await openSample(page, 'tiny', 'overview');
    for (const view of ['Tree', 'Focus', 'Map', 'Table', 'Duplicates', 'Health', 'Replay']) {
      await openView(page, view);
      expect(await width()).toBe(360);
    }
    // The picture keeps its space beside the description of a decision.
    expect((await overview(page).boundingBox())!.height).toBeGreaterThan(150);
  });

  test('the Share menu fits, and an edit keeps the current region', async ({ page }) => {
    await openSample(page, 'tiny', 'overview', '&at=node_modules/once');
    await page.getByText('Share', { exact: true }).click();
    const { x, width } = (await page.locator('.share-menu').boundingBox())!;
    expect([x >= 0, x + width <= 360]).toEqual([true, true]);
    await page.keyboard.press('Escape');
    const region = page.getByRole('navigation', { name: 'Regions' }).getByRole('button', { name: 'Package' });
    await region.click();
    await card(page).getByRole('button', { name: 'Remove' }).click();
    await expect(sentence(page)).toContainText('1 package,');
    await expect(card(page)).toContainText('once is not in this tree.');
    await expect(region).toHaveAttribute('aria-current', 'true');
  });

  test('Focus stacks its columns, with the selected package in view', async ({ page }) => {
    await openSample(page, 'express-api', 'focus', '&at=node_modules/body-parser/node_modules/ms');
    const boxes = page.locator('.focus-node');
    await expect(boxes).toContainText(['express-api', 'express', 'body-parser', 'debug', 'ms']);
    await expect(page.locator('.focus-node.here')).toBeInViewport({ ratio: 1 });
    for (const box of await boxes.all()) {
      const { x, width } = (await box.boundingBox())!;
      expect([x >= 0, x + width <= 360]).toEqual([true, true]);
    }
    await boxes.first().focus();
    await page.keyboard.press('ArrowDown');
    await expect(boxes.nth(1)).toBeFocused();
  });
});
