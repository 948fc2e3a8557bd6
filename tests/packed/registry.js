// The embedded registry on loopback, and what npm made of a project with it.
// @ts-check

import { readFileSync } from 'node:fs';
import { after } from 'node:test';
import { embedded, serve } from '../replay.js';

/** Serves until the test file ends; gives the origin. */
export async function registry() {
  const { origin, stop } = await serve(embedded);
  after(stop);
  return origin;
}

/** @param {string} project @param {string} file */
const text = (project, file) => readFileSync(new URL(`../registry/projects/${project}/${file}`, import.meta.url), 'utf8');

/** @param {string} project */
export const manifest = (project) => text(project, 'package.json');

/** npm's lock, with that registry's addresses. @param {string} project @param {string} origin */
export function golden(project, origin) {
  return text(project, 'package-lock.json').replaceAll('"resolved": "/', `"resolved": "${origin}/`);
}
