// The embedded registry on loopback, and npm's results with it.
// @ts-check

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { after } from 'node:test';
import { embedded, serve } from '../replay.js';

/** Serves the registry until the test file ends, and returns the origin. */
export async function registry() {
  const { origin, stop } = await serve(embedded);
  after(stop);
  return origin;
}

/** @param {string} project @param {string} file */
const text = (project, file) =>
  readFileSync(new URL(`../registry/projects/${project}/${file}`, import.meta.url), 'utf8');

/** @param {string} project */
export const manifest = (project) => text(project, 'package.json');

/** npm's lock, with the addresses of that registry. @param {string} project @param {string} origin */
export function golden(project, origin) {
  return text(project, 'package-lock.json').replaceAll('"resolved": "/', `"resolved": "${origin}/`);
}

/** The files of an installation: those of the tarballs, as `tar` lists them, and the hidden lockfile. @param {string} project */
export function filesOf(project) {
  /** @type {{ packages: Record<string, { resolved?: string }> }} */
  const { packages } = JSON.parse(text(project, 'package-lock.json'));
  const files = Object.entries(packages).flatMap(([location, { resolved }]) => {
    if (!resolved) return [];
    const tarball = fileURLToPath(new URL(`../registry/tarballs${resolved.replace('/-/', '/')}`, import.meta.url));
    const listed = execFileSync('tar', ['--list', '--file', tarball], { encoding: 'utf8' }).trim().split('\n');
    const paths = listed.filter((path) => !path.endsWith('/')).map((path) => path.slice(path.indexOf('/') + 1));
    return paths.map((path) => `${location}/${path}`);
  });
  return [...files, 'node_modules/.package-lock.json'].sort();
}
