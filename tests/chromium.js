// Finds the Chromium that benchmarks start.
// @ts-check

import { existsSync } from 'node:fs';

/** Debian has Chromium in two packages, with and without its window. */
const DEBIAN = ['/usr/bin/chromium', '/usr/bin/chromium-headless-shell'];

/** @returns {string} */
export function chromiumPath() {
  const path = process.env.CHROMIUM_PATH ?? DEBIAN.find((path) => existsSync(path));
  if (path && existsSync(path)) return path;
  throw new Error(
    path
      ? `there is no ${path}, which CHROMIUM_PATH names`
      : 'Chromium was not found: install it, or name it in CHROMIUM_PATH',
  );
}
