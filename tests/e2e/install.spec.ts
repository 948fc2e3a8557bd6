// An installation in a tab has the same paths, modes, contents and links as a native one. The
// projects are those with recorded tarballs.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { embedded, executable, root, serve } from '../replay.js';
import { installed, listed } from './trees';

const recorded: { corpus: string; project: string; patched?: boolean }[] = [
  { corpus: embedded, project: 'sandbox' },
  { corpus: embedded, project: 'sandbox', patched: true },
];
if (process.env.ESPALIER_CORPUS) recorded.push({ corpus: process.env.ESPALIER_CORPUS, project: 'vite-react-ts' });

const PATCH = `diff --git a/index.js b/index.js
--- a/index.js
+++ b/index.js
@@ -1,3 +1,4 @@
 'use strict';
+// patched
 
 if (process.env.NODE_ENV === 'production') {
--- /dev/null
+++ b/patched/note.txt
@@ -0,0 +1 @@
+added
--- a/jsx-runtime.js
+++ /dev/null
@@ -1,7 +0,0 @@
-'use strict';
-
-if (process.env.NODE_ENV === 'production') {
-  module.exports = require('./cjs/react-jsx-runtime.production.js');
-} else {
-  module.exports = require('./cjs/react-jsx-runtime.development.js');
-}
`;

test.beforeAll(() => {
  // The program may have to be compiled.
  test.setTimeout(900_000);
  executable('espalier-cli');
});

for (const { corpus, project, patched = false } of recorded) {
  test(`${project} has the same files as natively${patched ? ', patched' : ''}`, async ({ page }) => {
    test.setTimeout(120_000);
    const registry = await serve(corpus, '--also-serve', join(root, 'pkg/dist'));
    const folder = mkdtempSync(join(tmpdir(), 'espalier-'));
    try {
      cpSync(join(corpus, 'projects', project), folder, { recursive: true });
      if (patched) patch(folder);
      const manifest = readFileSync(join(folder, 'package.json'), 'utf8');
      native(folder, registry.origin);
      await page.goto(`${registry.origin}/-/stats`);
      const lock = join(folder, 'package-lock.json');
      const lockfile = existsSync(lock) ? readFileSync(lock, 'utf8') : undefined;
      const [inTab] = await page.evaluate(installed, {
        module: `${registry.origin}/index.js`,
        input: {
          manifest,
          files: { 'react.patch': PATCH },
          ...(lockfile ? { lockfile } : {}),
          registry: registry.origin,
        },
        runs: [{}],
      });
      const onDisk = listed(folder);
      expect(inTab?.files).toEqual(onDisk);
      expect(onDisk.length).toBeGreaterThan(10);
      expect(onDisk.some((file) => file.startsWith('node_modules/react/patched/note.txt'))).toBe(patched);
    } finally {
      registry.stop();
      rmSync(folder, { recursive: true });
    }
  });
}

/** Adds a patch of react to the project. */
function patch(folder: string): void {
  const manifest = join(folder, 'package.json');
  const content = { ...JSON.parse(readFileSync(manifest, 'utf8')), patchedDependencies: { react: 'react.patch' } };
  writeFileSync(manifest, JSON.stringify(content, null, 2));
  writeFileSync(join(folder, 'react.patch'), PATCH);
}

/** Installs with the command line, into a store of its own. */
function native(folder: string, registry: string): void {
  const options = ['install', '--registry', `${registry}/`, '--ignore-scripts', '-C', folder];
  execFileSync(executable('espalier-cli'), options, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      ESPALIER_STORE: join(folder, '.store'),
      npm_config_userconfig: '',
      npm_config_cache: join(folder, '.cache'),
    },
  });
}
