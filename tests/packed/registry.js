// The embedded registry on loopback, and what npm made of a project with it.
// @ts-check

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const served = fileURLToPath(new URL('../registry', import.meta.url));

/** Serves until the test file ends; gives the origin. @param {string[]} options Of `espalier-replay`. */
export async function serve(...options) {
  const command = ['run', '--quiet', '--package', 'espalier-replay', '--', '--corpus', served, ...options];
  const server = spawn('cargo', command, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  after(() => server.kill('SIGINT'));
  for await (const line of createInterface({ input: server.stdout })) return line;
  throw new Error('the registry ended before it said where it is');
}

/** @param {string} project @param {string} file */
const text = (project, file) => readFileSync(new URL(`../registry/projects/${project}/${file}`, import.meta.url), 'utf8');

/** @param {string} project */
export const manifest = (project) => text(project, 'package.json');

/** npm's lock, with that registry's addresses. @param {string} project @param {string} origin */
export function golden(project, origin) {
  return text(project, 'package-lock.json').replaceAll('"resolved": "/', `"resolved": "${origin}/`);
}
