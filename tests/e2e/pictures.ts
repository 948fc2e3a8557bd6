// Measures screenshots so coarsely that other fonts and another Chromium make no difference: the
// brightness and the detail of each of four stripes. Tests of text alone miss an empty canvas, or
// black text in the dark theme.

import type { Page } from '@playwright/test';

const STRIPES = 4;

export interface Picture {
  /** The mean brightness of each stripe, from 0 to 255. */
  readonly brightness: readonly number[];
  /** The mean difference between neighbouring pixels of each stripe. */
  readonly detail: readonly number[];
}

export async function pictureOf(page: Page): Promise<Picture> {
  const png = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  return page.evaluate(measure, { png: png.toString('base64'), stripes: STRIPES });
}

/** Runs in the page, which can read a PNG. */
async function measure({ png, stripes }: { png: string; stripes: number }): Promise<Picture> {
  const bytes = Uint8Array.from(atob(png), (character) => character.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes]));
  const { width, height } = image;
  const context = new OffscreenCanvas(width, height).getContext('2d')!;
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const brightness = new Array<number>(stripes).fill(0);
  const detail = new Array<number>(stripes).fill(0);
  for (let y = 0; y < height; y += 1) {
    let before: number | undefined;
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 4;
      const luma = 0.299 * data[at]! + 0.587 * data[at + 1]! + 0.114 * data[at + 2]!;
      const stripe = Math.floor((x / width) * stripes);
      brightness[stripe]! += luma;
      detail[stripe]! += Math.abs(luma - (before ?? luma));
      before = luma;
    }
  }
  const mean = (sum: number) => Number(((sum * stripes) / (width * height)).toFixed(2));
  return { brightness: brightness.map(mean), detail: detail.map(mean) };
}

/**
 * The tolerance of brightness. Other fonts change it by up to four, the other theme by two hundred.
 */
const MOST_APART = 10;
/**
 * The tolerance of detail. Other fonts change it by 0.75 to 1.3; an empty view or card leaves at
 * most 0.4 of it.
 */
const LEAST = 0.55;
const MOST = 1.8;

/** Whether two pictures show the same, apart from the fonts. */
export function areAlike(a: Picture, b: Picture | undefined): boolean {
  return [...a.brightness.keys()].every((stripe) => {
    const apart = Math.abs(a.brightness[stripe]! - (b?.brightness[stripe] ?? Infinity));
    const ratio = a.detail[stripe]! / (b?.detail[stripe] ?? 0);
    return apart <= MOST_APART && ratio >= LEAST && ratio <= MOST;
  });
}
