// Projects outside of the repository with the published package: packed, and installed from the tarball.
// @ts-check

import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const here = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));
const folder = await mkdtemp(join(tmpdir(), 'espalier-projects-'));
after(() => rm(folder, { recursive: true, force: true }));

/** @param {string} cwd @param {string[]} args */
function npm(cwd, ...args) {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', shell: process.platform === 'win32', timeout: 60_000 });
}

/** @type {[{ filename: string }]} */
const [packed] = JSON.parse(npm(folder, 'pack', here('../../pkg'), '--json', '--loglevel=error'));

/** A copy of one of `apps/`, with the package in its `node_modules`. @param {string} app */
export async function project(app) {
  const root = join(folder, app);
  await cp(here(`apps/${app}`), root, { recursive: true });
  await writeFile(join(root, 'package.json'), JSON.stringify({ name: app, private: true, type: 'module' }));
  npm(root, 'install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', join(folder, packed.filename));
  return root;
}
