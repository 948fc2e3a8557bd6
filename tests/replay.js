// Starts recorded registries on loopback (`espalier-replay`), and finds Espalier's programs.
// @ts-check

import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
/** The recording in the repository. */
export const embedded = fileURLToPath(new URL('registry', import.meta.url));

/** @typedef {{ origin: string, stop: () => void }} Registry */

/**
 * Starts a server of a recording; `options` are those of `espalier-replay`.
 * @param {string} corpus
 * @param {string[]} options
 * @returns {Promise<Registry>}
 */
export async function serve(corpus, ...options) {
  return start(executable('espalier-replay'), corpus, options);
}

/**
 * The same for measurements, with an optimised server, because it uses the same processors as what
 * is measured.
 * @param {string} corpus
 * @param {string[]} options
 * @returns {Promise<Registry>}
 */
export async function serveFast(corpus, ...options) {
  return start(executable('espalier-replay', 'release'), corpus, options);
}

/** @param {string} program @param {string} corpus @param {string[]} options @returns {Promise<Registry>} */
async function start(program, corpus, options) {
  const server = spawn(program, ['--corpus', corpus, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = () => {
    process.off('exit', stop);
    server.kill('SIGINT');
  };
  // If this process fails, the server would keep running, and its output open.
  process.once('exit', stop);
  for await (const origin of createInterface({ input: server.stdout })) return { origin, stop };
  throw new Error('the registry ended before it said where it is');
}

/** @type {Map<string, string>} */
const built = new Map();

/**
 * The executable of one of our packages, built if need be, which may take minutes; cargo knows
 * where it is. `ESPALIER_PROGRAMS` names a folder of programs that were built a moment ago: alone,
 * a package is built with other features of its dependencies, so anew.
 * @param {string} name
 * @param {'dev' | 'release'} profile
 * @returns {string}
 */
export function executable(name, profile = 'dev') {
  const known =
    built.get(`${name} ${profile}`) ?? (profile === 'dev' ? among(process.env.ESPALIER_PROGRAMS, name) : undefined);
  if (known) return known;
  const options = ['build', '--quiet', '--package', name, '--profile', profile, '--message-format=json'];
  const messages = execFileSync('cargo', options, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 })
    .trim()
    .split('\n');
  const path = messages.map((message) => JSON.parse(message).executable).find((path) => typeof path === 'string');
  if (!path) throw new Error(`cargo built no ${name}`);
  built.set(`${name} ${profile}`, path);
  return path;
}

/** @param {string | undefined} folder @param {string} name @returns {string | undefined} */
function among(folder, name) {
  const program = folder && join(folder, name === 'espalier-cli' ? 'espalier' : name);
  return program && existsSync(program) ? program : undefined;
}
