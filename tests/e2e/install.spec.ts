// What is installed in a tab is what is installed natively: every path, mode, content and link. The projects are those
// whose tarballs were recorded.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, lstatSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { expect, test } from '@playwright/test';
import { embedded, executable, root, serve } from '../replay.js';

const recorded = [{ corpus: embedded, project: 'sandbox' }];
if (process.env.ESPALIER_CORPUS) recorded.push({ corpus: process.env.ESPALIER_CORPUS, project: 'vite-react-ts' });

test.beforeAll(() => {
  // It may have to be compiled.
  test.setTimeout(900_000);
  executable('espalier-cli');
});

for (const { corpus, project } of recorded) {
  test(`${project} has the same files as natively`, async ({ page }) => {
    test.setTimeout(120_000);
    const registry = await serve(corpus, '--also-serve', join(root, 'pkg/dist'));
    const folder = mkdtempSync(join(tmpdir(), 'espalier-'));
    try {
      cpSync(join(corpus, 'projects', project), folder, { recursive: true });
      native(folder, registry.origin);
      await page.goto(`${registry.origin}/-/stats`);
      const manifest = readFileSync(join(folder, 'package.json'), 'utf8');
      const lock = join(folder, 'package-lock.json');
      const lockfile = existsSync(lock) ? readFileSync(lock, 'utf8') : undefined;
      const inTab = await page.evaluate(installInPage, { origin: registry.origin, manifest, lockfile });
      const onDisk = listed(folder, 'node_modules');
      expect(inTab.sort()).toEqual(onDisk.sort());
      expect(onDisk.length).toBeGreaterThan(10);
    } finally {
      registry.stop();
      rmSync(folder, { recursive: true });
    }
  });
}

/** Installs with the command line, into a store of its own. */
function native(folder: string, registry: string): void {
  const options = ['install', '--registry', `${registry}/`, '--ignore-scripts', '-C', folder];
  execFileSync(executable('espalier-cli'), options, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ESPALIER_STORE: join(folder, '.store'), npm_config_userconfig: '', npm_config_cache: join(folder, '.cache') },
  });
}

function listed(folder: string, path: string): string[] {
  return readdirSync(join(folder, path), { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const inside = `${path}/${name.split(sep).join('/')}`;
    const found = lstatSync(join(folder, inside));
    if (found.isSymbolicLink()) return [`${inside} -> ${readlinkSync(join(folder, inside))}`];
    if (found.isDirectory()) return [];
    const digest = createHash('sha256').update(readFileSync(join(folder, inside))).digest('hex');
    return [`${inside} ${(found.mode & 0o777).toString(8)} ${digest}`];
  });
}

/** Runs in the page. */
async function installInPage(input: { origin: string; manifest: string; lockfile: string | undefined }): Promise<string[]> {
  const { init, install } = await import(`${input.origin}/index.js`);
  await init();
  const { manifest, lockfile } = input;
  const { files } = await install({ manifest, ...(lockfile ? { lockfile } : {}), registry: `${input.origin}/` }).result;
  const hexadecimal = (buffer: ArrayBuffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const entries = [...files.values()].map(async (entry) => {
    if (entry.type === 'link') return `${entry.path} -> ${entry.target}`;
    return `${entry.path} ${entry.mode.toString(8)} ${hexadecimal(await crypto.subtle.digest('SHA-256', entry.bytes))}`;
  });
  return Promise.all(entries);
}
