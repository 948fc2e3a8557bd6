// The playground's elements and actions, as a person sees them.

import { readFileSync } from 'node:fs';
import { expect, type Locator, type Page } from '@playwright/test';

const PROJECTS = new URL('../registry/projects/', import.meta.url);

export function golden(sample: string): string {
  return readFileSync(new URL(`${sample}/package-lock.json`, PROJECTS), 'utf8');
}

export function manifest(sample: string): string {
  return readFileSync(new URL(`${sample}/package.json`, PROJECTS), 'utf8');
}

export function sentence(page: Page): Locator {
  return page.getByRole('region', { name: 'Tree' }).locator('.sentence');
}

/** The sentence of a complete tree. */
export const DONE = /packages?.* in [\d.]+ s/;

export function grid(page: Page): Locator {
  return page.getByRole('treegrid');
}

/** The drawn rows with this name, without the header. */
export function row(page: Page, name: string): Locator {
  return grid(page)
    .getByRole('row')
    .filter({ has: page.locator('.name', { hasText: new RegExp(`^${name}$`) }) });
}

/** The active row. */
export function activeRow(page: Page): Locator {
  return grid(page).locator('[role=row][aria-selected=true]');
}

/** The card of the selected package. */
export function card(page: Page): Locator {
  return page.getByRole('region', { name: 'Package' });
}

/** Opens a sample, by default in the tree. */
export async function openSample(page: Page, sample: string, view = 'tree', more = ''): Promise<void> {
  await page.goto(`./#sample=${sample}&view=${view}${more}`);
  await expect(sentence(page)).toContainText(DONE);
}

/** Opens the start page, with the embedded registry for own text too. */
export async function start(page: Page): Promise<void> {
  await page.goto('./#registry=embedded&view=tree');
  await expect(field(page)).toBeVisible();
}

/** The field of the start page. */
export function field(page: Page): Locator {
  return page.getByRole('textbox', { name: 'Package names, or a package.json' });
}

/** Enters a text into the field of the start page, or replaces the editor's text with it. */
export async function write(page: Page, text: string): Promise<void> {
  if (await field(page).isVisible()) {
    await field(page).fill(text);
    await page.keyboard.press('ControlOrMeta+Enter');
    return;
  }
  await page.getByRole('textbox', { name: 'package.json' }).click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(text);
}

export async function dependOn(page: Page, dependencies: Record<string, string>): Promise<void> {
  await write(page, JSON.stringify({ name: 'app', version: '1.0.0', dependencies }, null, 2));
}

export async function openView(page: Page, name: string): Promise<void> {
  await page.getByRole('tab', { name }).click();
  await expect(page.getByRole('tab', { name })).toHaveAttribute('aria-selected', 'true');
}
