// A recorded project, in the form of the playground's address.
// @ts-check

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The text of a project's package.json, and npm's options for it as in the playground's address.
 * @param {string} corpus
 * @param {string} name
 */
export function recorded(corpus, name) {
  const folder = join(corpus, 'projects', name);
  const file = join(folder, 'npm-args');
  const flags = existsSync(file) ? readFileSync(file, 'utf8').trim().split(/\s+/) : [];
  const switches = flags.map((flag) => `&${flag.replace(/^--/, '')}`).join('');
  return { manifest: readFileSync(join(folder, 'package.json'), 'utf8'), switches };
}
