// Verdaccio, as a proxy and with private packages. With the same .npmrc, npm, the command line,
// Node and a tab install the same from it: every byte of the lock, every path, mode, content and
// link.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@playwright/test';
import { embedded, executable, root, serve, type Registry } from '../replay.js';
import { oracle } from '../verdaccio/npm.js';
import { startVerdaccio, type Verdaccio } from '../verdaccio/verdaccio.js';
import { byNpm, expectEverywhere, failsEverywhere } from './everywhere';

const PRIVATE = {
  name: 'private-app',
  version: '1.0.0',
  license: 'ISC',
  dependencies: {
    '@acme/ui': '^3.0.0',
    'acme-tool': 'latest',
    clsx: '^2.1.0',
    react: '^19.1.0',
    'react-dom': '^19.1.0',
  },
  devDependencies: { next: 'npm:@acme/base@next' },
};

let npm: string;
let folder: string;
let upstream: Registry;
let verdaccio: Verdaccio;

test.beforeAll(async () => {
  // Programs may have to be compiled or installed.
  test.setTimeout(900_000);
  executable('espalier-cli');
  npm = oracle();
  folder = mkdtempSync(join(tmpdir(), 'espalier-verdaccio-'));
  upstream = await serve(embedded, '--also-serve', join(root, 'pkg/dist'));
  verdaccio = await startVerdaccio(join(folder, 'verdaccio'), upstream.origin, npm);
});

test.afterAll(async () => {
  await verdaccio?.stop();
  upstream?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const authority = () => verdaccio.origin.replace('http:', '');

const cases = [
  {
    what: 'a proxy of public packages',
    manifest: readFileSync(join(embedded, 'projects/sandbox/package.json'), 'utf8'),
    npmrc: () => `registry=${verdaccio.origin}/\n`,
  },
  {
    what: 'private packages and a proxy, with one token',
    manifest: `${JSON.stringify(PRIVATE, null, 2)}\n`,
    npmrc: () => `registry=${verdaccio.origin}\n${authority()}/:_authToken=\${ACME_TOKEN}\n`,
  },
  {
    what: 'a scope with a registry and a token of its own',
    manifest: `${JSON.stringify({ name: 'scoped', dependencies: { '@acme/ui': '3', react: '19' } }, null, 2)}\n`,
    npmrc: () =>
      `registry=${upstream.origin}/\n@acme:registry=${verdaccio.origin}/\n${authority()}/:_authToken=\${ACME_TOKEN}\n`,
  },
];

for (const { what, manifest, npmrc } of cases) {
  test(what, async ({ page }) => {
    test.setTimeout(240_000);
    const place = mkdtempSync(join(folder, 'case-'));
    const project = { manifest, npmrc: npmrc(), environment: { ACME_TOKEN: verdaccio.token } };
    const expected = byNpm(npm, place, project);
    expect(expected.files.length).toBeGreaterThan(10);
    await expectEverywhere(page, upstream.origin, place, project, expected);
  });
}

test('private packages without a token fail with the same error everywhere', async ({ page }) => {
  const manifest = '{ "dependencies": { "@acme/ui": "*" } }\n';
  const project = { manifest, npmrc: `registry=${verdaccio.origin}/\n` };
  const told = await failsEverywhere(page, upstream.origin, mkdtempSync(join(folder, 'case-')), project);
  expect(told).toMatchObject({ code: 'E401', package: '@acme/ui', words: expect.stringContaining('401 Unauthorized') });
});
