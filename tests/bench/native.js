// Runs the native build as cold as a fresh tab: with an empty home, an empty store and no lock.
// @ts-check

import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The folders of all runs. They are removed at the end, because some file systems create files
 * slowly for a while after many were removed.
 * @type {string[]}
 */
const homes = [];
process.once('exit', () => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

/**
 * @param {string} command
 * @param {string} project
 * @param {string[]} flags
 * @param {string} registry
 */
export async function runNative(command, project, flags, registry) {
  const home = mkdtempSync(join(tmpdir(), 'espalier-bench-'));
  homes.push(home);
  const folder = join(home, 'project');
  cpSync(join(project, 'package.json'), join(folder, 'package.json'));
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_DATA_HOME: join(home, 'data'),
  };
  const start = performance.now();
  const child = spawn(command, ['install', `--registry=${registry}`, ...flags], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => (said += chunk));
  let peak = 0;
  const watch = setInterval(() => (peak = Math.max(peak, highWater(child.pid))), 5);
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  const done = performance.now() - start;
  clearInterval(watch);
  if (code !== 0) throw new Error(`espalier install ended with ${code}: ${said}`);
  const lockfile = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  return { done, peak, packages: Object.keys(lockfile.packages).length - 1 };
}

/** The peak memory of a process in bytes. 0 after its end. @param {number | undefined} pid */
export function highWater(pid) {
  try {
    const [, kilobytes = '0'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) * 1024;
  } catch {
    return 0;
  }
}
