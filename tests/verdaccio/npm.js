// npm, at the version that Espalier reproduces.
// @ts-check

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../replay.js';

/** The folder of npm's package, which is installed if necessary. */
export function oracle() {
  return execFileSync('cargo', ['xtask', 'oracle'], { cwd: root, encoding: 'utf8' }).trim();
}

/**
 * Runs npm with no settings but the folder's own. What it keeps is in the folder above.
 * @param {string} npm @param {string} folder @param {string[]} options @param {NodeJS.ProcessEnv} [environment]
 */
export function runNpm(npm, folder, options, environment = {}) {
  const above = join(folder, '..');
  const settings = ['userconfig', 'globalconfig'].map((key) => `--${key}=${join(above, key)}`);
  const quiet = [
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
    '--loglevel=error',
    `--cache=${join(above, 'npm-cache')}`,
  ];
  execFileSync(process.execPath, [join(npm, 'bin/npm-cli.js'), ...options, ...settings, ...quiet], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...withoutNpm(process.env), ...environment },
  });
}

/** Removes npm's variables: npm passes its settings to the programs that it starts, and this test may be one. @param {NodeJS.ProcessEnv} environment */
export function withoutNpm(environment) {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !/^npm_/i.test(name)));
}
