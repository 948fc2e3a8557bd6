// Registries, tokens, .npmrc and overrides.
// @ts-check

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { install, resolve } from 'espalier';
import { startPackages } from './packages.js';

const OPEN = { a: { '1.0.0': {}, '2.0.0': {} } };
const ACME = { '@acme/ui': { '1.0.0': { manifest: { dependencies: { a: '*' } } } } };
const MANIFEST = { name: 'project', dependencies: { '@acme/ui': '*' } };

/** @param {Awaited<ReturnType<typeof startPackages>>} registry */
const authorizations = ({ requests }) => [...new Set(requests.map(({ headers }) => headers.authorization))];

test('a token is sent only to its registry', async () => {
  const [open, acme] = [await startPackages(OPEN), await startPackages(ACME)];
  await install({
    manifest: MANIFEST,
    registry: open.url,
    registries: { '@acme': acme.url },
    tokens: { [`${acme.url}/`]: 'secret' },
  }).result;
  assert.deepEqual(authorizations(acme), ['Bearer secret']);
  assert.deepEqual(authorizations(open), [undefined]);
  assert.ok(acme.paths().some((path) => path.endsWith('.tgz')));
});

test('a token for a path is not sent to other paths', async () => {
  const open = await startPackages(OPEN);
  await resolve({
    manifest: { dependencies: { a: '*' } },
    registry: open.url,
    tokens: { [`${open.url}/team/`]: 'secret' },
  }).result;
  assert.deepEqual(authorizations(open), [undefined]);
});

test('an .npmrc can contain tokens and variables', async () => {
  const [open, acme] = [await startPackages(OPEN), await startPackages(ACME)];
  const npmrc = [
    `registry=${open.url}`,
    `@acme:registry=${acme.url}`,
    `//${new URL(acme.url).host}/:_authToken=\${TOKEN}`,
    'legacy-peer-deps=true',
    'omit[]=dev',
  ].join('\n');
  const manifest = { ...MANIFEST, devDependencies: { a: '1.0.0' } };
  const { files } = await install({ manifest, npmrc, environment: { TOKEN: 's3cret' } }).result;
  assert.deepEqual(authorizations(acme), ['Bearer s3cret']);
  assert.deepEqual(authorizations(open), [undefined]);
  assert.ok(files.has('node_modules/@acme/ui/package.json'));
});

test('a name and password are sent as basic authentication', async () => {
  const open = await startPackages(OPEN);
  const { host } = new URL(open.url);
  const npmrc = `registry=${open.url}\n//${host}/:username=me\n//${host}/:_password=${btoa('secret')}`;
  await resolve({ manifest: { dependencies: { a: '*' } }, npmrc }).result;
  assert.deepEqual(authorizations(open), [`Basic ${btoa('me:secret')}`]);
});

test('a project may choose its registry, but not the recipient of a token', async () => {
  const open = await startPackages(OPEN);
  const files = { '.npmrc': `registry=${open.url}\n//${new URL(open.url).host}/:_authToken=\${TOKEN}` };
  await resolve({ manifest: { dependencies: { a: '*' } }, files, environment: { TOKEN: 's3cret' } }).result;
  assert.deepEqual(authorizations(open), [undefined]);
  assert.ok(open.requests.length > 0);
});

test('a project gets no variables, with which it could build an address', async () => {
  const open = await startPackages(OPEN);
  const files = { '.npmrc': `registry=${open.url}/\${TOKEN}/` };
  const input = { manifest: { dependencies: { a: '*' } }, files, environment: { TOKEN: 's3cret' } };
  await assert.rejects(resolve(input).result, { code: 'E404' });
  assert.ok(open.requests.length > 0);
  assert.ok(!JSON.stringify(open.requests).includes('s3cret'));
});

test('a credential without a registry is refused', async () => {
  for (const key of ['_authToken', '_auth', '_password', 'username']) {
    await assert.rejects(resolve({ manifest: {}, npmrc: `${key}=secret` }).result, {
      code: 'EINPUT',
      message: /names no registry/,
    });
  }
});

test('a registry that does not let browsers send a token is a typed error', async () => {
  const fetch = () => Promise.reject(new TypeError('Failed to fetch'));
  const input = {
    manifest: { dependencies: { a: '*' } },
    registry: 'http://registry.test/',
    tokens: { 'http://registry.test/': 'secret' },
    fetch,
  };
  const error = await resolve(input).result.catch((reason) => reason);
  assert.deepEqual([error.code, error.package, error.url], ['EPREFLIGHT', 'a', 'http://registry.test/a']);
  assert.match(error.message, /preflight.*Access-Control-Allow-Headers/);
  assert.ok(!JSON.stringify(error).includes('secret'));
});

test('overrides are added to those of the manifest', async () => {
  const { url } = await startPackages({ ...OPEN, ...ACME });
  const { lockfile, graph } = await resolve({ manifest: MANIFEST, overrides: { a: '1.0.0' }, registry: url }).result;
  assert.equal(JSON.parse(lockfile).packages['node_modules/a'].version, '1.0.0');
  assert.equal(graph.edges.find(({ name }) => name === 'a')?.overridden, true);
  const indented = '{\n\t"name": "p",\n\t"dependencies": { "@acme/ui": "*" }\n}';
  const tabbed = await resolve({ manifest: indented, overrides: { a: '1.0.0' }, registry: url }).result;
  assert.match(tabbed.lockfile, /^\{\n\t"name"/);
});
