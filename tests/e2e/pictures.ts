// Pictures of the page, coarse enough to be the same with other fonts and another Chromium: where it is how bright, and where how much
// is drawn. Who only tests words doesn't notice a canvas that stays empty, or black text in the dark.

import type { Page } from '@playwright/test';

const COLUMNS = 12;
const ROWS = 8;

/** Both from 0 to 255, row by row. */
export interface Picture {
  readonly brightness: readonly number[];
  readonly detail: readonly number[];
}

export async function pictureOf(page: Page): Promise<Picture> {
  const png = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  return page.evaluate(measure, { png: png.toString('base64'), columns: COLUMNS, rows: ROWS });
}

interface Shot {
  readonly png: string;
  readonly columns: number;
  readonly rows: number;
}

/** Runs in the page, which can read a PNG. */
async function measure({ png, columns, rows }: Shot): Promise<Picture> {
  const bytes = Uint8Array.from(atob(png), (character) => character.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes]));
  const { width, height } = image;
  const context = new OffscreenCanvas(width, height).getContext('2d')!;
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const brightness = new Array<number>(columns * rows).fill(0);
  const detail = new Array<number>(columns * rows).fill(0);
  const pixels = new Array<number>(columns * rows).fill(0);
  for (let y = 0; y < height; y += 1) {
    let before = -1;
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 4;
      const luma = 0.299 * data[at]! + 0.587 * data[at + 1]! + 0.114 * data[at + 2]!;
      const cell = Math.floor((y / height) * rows) * columns + Math.floor((x / width) * columns);
      brightness[cell]! += luma;
      if (before >= 0) detail[cell]! += Math.abs(luma - before);
      pixels[cell]! += 1;
      before = luma;
    }
  }
  const mean = (sums: number[], scale: number) =>
    sums.map((sum, cell) => Math.min(255, Math.round((sum / pixels[cell]!) * scale)));
  // A page full of text changes by about eight levels from pixel to pixel.
  return { brightness: mean(brightness, 1), detail: mean(detail, 8) };
}

/** How alike two pictures are: levels of brightness that they are apart on average, and how well the places of details agree (1: fully). */
export function likeness(a: Picture, b: Picture): { apart: number; agreement: number } {
  const apart = a.brightness.reduce((sum, level, cell) => sum + Math.abs(level - b.brightness[cell]!), 0);
  return { apart: apart / a.brightness.length, agreement: correlation(a.detail, b.detail) };
}

function correlation(a: readonly number[], b: readonly number[]): number {
  const mean = (list: readonly number[]) => list.reduce((sum, value) => sum + value, 0) / list.length;
  const [middleA, middleB] = [mean(a), mean(b)];
  let [both, onlyA, onlyB] = [0, 0, 0];
  for (const [cell, value] of a.entries()) {
    both += (value - middleA) * (b[cell]! - middleB);
    onlyA += (value - middleA) ** 2;
    onlyB += (b[cell]! - middleB) ** 2;
  }
  return onlyA === 0 || onlyB === 0 ? 0 : both / Math.sqrt(onlyA * onlyB);
}

export function packed(picture: Picture): string {
  const hex = (list: readonly number[]) => list.map((value) => value.toString(16).padStart(2, '0')).join('');
  return `${hex(picture.brightness)} ${hex(picture.detail)}`;
}

export function unpacked(text: string): Picture {
  const list = (hex = '') => (hex.match(/../g) ?? []).map((value) => Number.parseInt(value, 16));
  const [brightness, detail] = text.split(' ').map(list);
  return { brightness: brightness ?? [], detail: detail ?? [] };
}
