// The playground in the words of the tests: what a person sees and does.

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

export function grid(page: Page): Locator {
  return page.getByRole('treegrid');
}

/** Rows with this name that are drawn; the header is not one of them. */
export function row(page: Page, name: string): Locator {
  return grid(page).getByRole('row').filter({ has: page.locator('.name', { hasText: new RegExp(`^${name}$`) }) });
}

/** The row that the grid points at. */
export function activeRow(page: Page): Locator {
  return grid(page).locator('[role=row][aria-selected=true]');
}

export async function openSample(page: Page, sample: string): Promise<void> {
  await page.goto(`./#sample=${sample}`);
  await expect(sentence(page)).toContainText(/packages in [\d.]+ s/);
}

/** Replaces the whole text of the editor, as pasting does. */
export async function write(page: Page, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'package.json' }).click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(text);
}

export async function dependOn(page: Page, dependencies: Record<string, string>): Promise<void> {
  await write(page, JSON.stringify({ name: 'app', version: '1.0.0', dependencies }, null, 2));
}
