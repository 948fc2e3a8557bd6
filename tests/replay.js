// Recorded registries on loopback, served by `espalier-replay`.
// @ts-check

import { execFileSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
/** The recording that is in the repository. */
export const embedded = fileURLToPath(new URL('registry', import.meta.url));

/** @typedef {{ origin: string, stop: () => void }} Registry */

/**
 * Starts a server of a recording; `options` are those of `espalier-replay`.
 * @param {string} corpus
 * @param {string[]} options
 * @returns {Promise<Registry>}
 */
export async function serve(corpus, ...options) {
  const server = spawn(executable(), ['--corpus', corpus, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
  const stop = () => void server.kill('SIGINT');
  for await (const origin of createInterface({ input: server.stdout })) return { origin, stop };
  throw new Error('the registry ended before it said where it is');
}

/** @type {string | undefined} */
let built;

/** Built if need be; cargo knows where it is. @returns {string} */
function executable() {
  if (built) return built;
  const options = ['build', '--quiet', '--package', 'espalier-replay', '--message-format=json'];
  const messages = execFileSync('cargo', options, { cwd: root, encoding: 'utf8', maxBuffer: 64 << 20 }).trim().split('\n');
  built = messages.map((message) => JSON.parse(message).executable).find((path) => typeof path === 'string');
  if (!built) throw new Error('cargo built no espalier-replay');
  return built;
}
