// The habits of registries other than npm's, made by `espalier-replay --like NAME` and `--habit
// NAME`: npm, the command line, Node and a tab install the same files from each, or fail with the
// same message. docs/registries.md describes the habits.

import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';
import { archive, integrityOf } from '../../pkg/tests/archive.js';
import { embedded, executable, root, serve, type Registry } from '../replay.js';
import { oracle } from '../verdaccio/npm.js';
import { byNpm, codeOfNpm, expectEverywhere, expectNatively, failsEverywhere } from './everywhere';

test.describe.configure({ mode: 'parallel' });

const PACKAGES = [
  { name: '@acme/ui', version: '1.0.0', license: 'MIT', dependencies: { plain: '^1.0.0' } },
  { name: '@acme/ui', version: '1.1.0', license: 'MIT', dependencies: { plain: '^1.0.0', '@acme/base': '0.3.0' } },
  { name: '@acme/base', version: '0.3.0', license: 'UNLICENSED', engines: { node: '>=18' }, bin: { base: 'index.js' } },
  { name: 'plain', version: '1.0.0', license: 'ISC' },
  { name: 'plain', version: '1.4.0', license: 'BSD-2-Clause', optionalDependencies: { foreign: '1.2.3' } },
  { name: 'plain', version: '2.0.0', license: 'ISC', peerDependencies: { '@acme/ui': '1' } },
  { name: 'foreign', version: '1.2.3', license: 'MIT', os: ['nowhere'] },
  {
    name: 'last',
    version: '1.0.0',
    license: 'Apache-2.0',
    funding: 'https://fund.test/last',
    dependencies: { plain: '2.0.0' },
  },
];
const MANIFEST = `${JSON.stringify({ name: 'app', dependencies: { '@acme/ui': '^1.0.0', last: '1.0.0' } }, null, 2)}\n`;
const OPEN = ['--preflight', '--cors-on-errors'];

let npm: string;
let folder: string;
let pages: Registry;

test.beforeAll(async () => {
  test.setTimeout(900_000);
  executable('espalier-cli');
  npm = oracle();
  folder = mkdtempSync(join(tmpdir(), 'espalier-registries-'));
  record(join(folder, 'registry'));
  pages = await serve(embedded, '--also-serve', join(root, 'pkg/dist'));
});

test.afterAll(() => {
  pages?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const token = (registry: string) => `${registry.replace('http:', '')}/:_authToken=\${TOKEN}\n`;
const environment = { TOKEN: 'secret' };

/** The server's options, and additional lines of .npmrc. */
const cases: [string[], ((registry: string) => string)?][] = [
  [['--like', 'artifactory'], token],
  [['--like', 'nexus']],
  [['--like', 'github'], (registry) => `${token(registry)}allow-remote=all\n`],
  [['--like', 'gitlab'], (registry) => `${token(registry)}allow-remote=all\n`],
  [['--like', 'codeartifact'], token],
  [
    ['--like', 'azure'],
    (registry) => {
      const place = registry.replace('http:', '');
      return `${place}/:username=any\n${place}/:_password=c2VjcmV0\n`;
    },
  ],
  [['--like', 'cloudsmith'], (registry) => `${token(registry)}allow-remote=all\n`],
  [['--habit', 'encoded-scope']],
  [['--habit', 'other-version-tarballs']],
  [['--habit', 'token=Bearer secret', '--habit', 'token-of=tarballs'], token],
];

for (const [options, npmrc] of cases) {
  test(options.join(' '), async ({ page }) => {
    test.setTimeout(240_000);
    const registry = await serve(join(folder, 'registry'), ...options, ...OPEN);
    try {
      const place = mkdtempSync(join(folder, 'case-'));
      const lines = `registry=${registry.origin}/\n${npmrc?.(registry.origin) ?? ''}`;
      const project = { manifest: MANIFEST, npmrc: lines, environment };
      const expected = byNpm(npm, place, project);
      expect(expected.files.length).toBeGreaterThan(10);
      await expectEverywhere(page, pages.origin, place, project, expected);
    } finally {
      registry.stop();
    }
  });
}

test('a registry for a scope', async ({ page }) => {
  test.setTimeout(240_000);
  const registry = await serve(join(folder, 'registry'), ...OPEN);
  const ofScope = await serve(join(folder, 'registry'), '--habit', 'below=/npm/', ...OPEN);
  try {
    const place = mkdtempSync(join(folder, 'case-'));
    const npmrc = `registry=${registry.origin}/\n@acme:registry=${ofScope.origin}/\n`;
    const project = { manifest: MANIFEST, npmrc };
    const expected = byNpm(npm, place, project);
    expect(expected.lockfile).toContain(`${ofScope.origin}/@acme/base/-/base-0.3.0.tgz`);
    await expectEverywhere(page, pages.origin, place, project, expected);
  } finally {
    registry.stop();
    ofScope.stop();
  }
});

test('a lockfile without addresses', async () => {
  const registry = await serve(join(folder, 'registry'));
  try {
    const place = mkdtempSync(join(folder, 'case-'));
    const npmrc = `registry=${registry.origin}/\nomit-lockfile-registry-resolved=true\n`;
    const project = { manifest: MANIFEST, npmrc };
    expectNatively(place, project, byNpm(npm, place, project));
  } finally {
    registry.stop();
  }
});

/**
 * The errors of resolutions that lack a token or ask for something that the registry does not have.
 */
const refusals: { options: string[]; manifest?: string; code: string; words: string }[] = [
  { options: ['--like', 'artifactory'], code: 'E401', words: '(401 Unauthorized): Authentication is required' },
  { options: ['--like', 'github'], code: 'E401', words: 'cannot be authenticated with the token provided.' },
  { options: ['--habit', 'no-encoded-slash'], code: 'E404', words: '(404 Not Found): Non URL-safe name' },
  { options: ['--like', 'nexus'], manifest: '{ "dependencies": { "absent": "1" } }\n', code: 'E404', words: '404' },
  { options: ['--fault', '405,name=plain'], code: 'E405', words: '(405 Method Not Allowed)' },
  { options: ['--fault', '403,name=plain'], code: 'E403', words: 'denies access (403 Forbidden)' },
];

for (const { options, manifest = MANIFEST, code, words } of refusals) {
  test(`refusal: ${options.join(' ')}`, async ({ page }) => {
    const registry = await serve(join(folder, 'registry'), ...options, ...OPEN);
    try {
      const project = { manifest, npmrc: `registry=${registry.origin}/\n` };
      const place = mkdtempSync(join(folder, 'case-'));
      const told = await failsEverywhere(page, pages.origin, place, project);
      expect(told.code).toBe(code);
      expect(codeOfNpm(npm, place, project)).toBe(code);
      expect(told.words).toContain(words);
    } finally {
      registry.stop();
    }
  });
}

/** Writes a recorded registry with the packages. */
function record(place: string): void {
  mkdirSync(join(place, 'packuments'), { recursive: true });
  for (const name of new Set(PACKAGES.map(({ name }) => name))) {
    const versions = PACKAGES.filter((manifest) => manifest.name === name).map((manifest) => {
      const tarball = gzipSync(
        archive({ 'package.json': JSON.stringify(manifest), 'index.js': `// ${name}\n` }, 'package/'),
      );
      const file = `${name.split('/').at(-1)}-${manifest.version}.tgz`;
      const tarballs = join(place, 'tarballs', name.replace('/', '%2f'));
      mkdirSync(tarballs, { recursive: true });
      writeFileSync(join(tarballs, file), tarball);
      const shasum = createHash('sha1').update(tarball).digest('hex');
      const dist = { integrity: integrityOf(tarball), shasum, tarball: `/${name}/-/${file}` };
      return [manifest.version, { ...manifest, dist }] as const;
    });
    const latest = versions.at(-1)?.[0];
    const packument = { _id: name, name, 'dist-tags': { latest }, versions: Object.fromEntries(versions), time: {} };
    writeFileSync(join(place, 'packuments', `${name.replace('/', '%2f')}.json`), JSON.stringify(packument));
  }
}
