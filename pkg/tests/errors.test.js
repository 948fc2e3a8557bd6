// `resolve` always rejects with an `EspalierError`, whose fields state the known facts.
// @ts-check

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EspalierError, resolve } from 'espalier';
import { ABBREVIATED, startRegistry } from './registry.js';

const PACKAGES = {
  a: { '1.0.0': { dependencies: { b: '^3.0.0' } } },
  b: { '1.0.0': {}, '2.0.0': {} },
};
const DEPENDING_ON_A = { name: 'app', dependencies: { a: '^1.0.0' } };

/** @param {import('espalier').ResolveInput} input */
async function failure(input) {
  const error = await resolve({ retries: 0, ...input }).result.then(
    () => undefined,
    (/** @type {unknown} */ reason) => reason,
  );
  assert.ok(error instanceof EspalierError, `${error} is an EspalierError`);
  return error;
}

test('a range without a version is ETARGET, with the chain and the nearest versions', async () => {
  const { url } = await startRegistry(PACKAGES);
  const error = await failure({ manifest: DEPENDING_ON_A, registry: url });
  assert.equal(error.code, 'ETARGET');
  assert.equal(error.package, 'b');
  assert.equal(error.spec, '^3.0.0');
  assert.equal(error.nearest?.[0], '2.0.0');
  assert.deepEqual(
    error.chain.map(({ name, spec }) => [name, spec]),
    [
      ['app', '^1.0.0'],
      ['a', '^3.0.0'],
    ],
  );
});

test('a missing package is E404', async () => {
  const { url } = await startRegistry({});
  const error = await failure({ manifest: DEPENDING_ON_A, registry: url });
  assert.equal(error.code, 'E404');
  assert.equal(error.package, 'a');
  assert.equal(error.url, `${url}/a`);
});

test('invalid JSON in a manifest is EJSONPARSE, with line and column', async () => {
  const error = await failure({ manifest: '{\n  "name": oops\n}' });
  assert.equal(error.code, 'EJSONPARSE');
  assert.deepEqual([error.file, error.line, error.column], ['package.json', 2, 11]);
});

test('a peer conflict names both sides', async () => {
  const { url } = await startRegistry({
    x: { '1.0.0': { peerDependencies: { b: '^1.0.0' } } },
    b: PACKAGES.b,
  });
  const error = await failure({ manifest: { dependencies: { x: '*', b: '2.0.0' } }, registry: url });
  assert.equal(error.code, 'ERESOLVE');
  assert.equal(error.conflict?.name, 'b');
  assert.equal(error.conflict?.current.spec, '2.0.0');
  assert.equal(error.conflict?.wanted.spec, '^1.0.0');
});

test("a registry's refusal keeps its status", async () => {
  const { url } = await startRegistry(PACKAGES, (_path, response) => {
    response.writeHead(403).end();
    return true;
  });
  assert.equal((await failure({ manifest: DEPENDING_ON_A, registry: url })).code, 'E403');
});

test('a server error is retried, and the error has its status', async () => {
  const { url, requests } = await startRegistry(PACKAGES, (_path, response) => {
    response.writeHead(503).end();
    return true;
  });
  const error = await failure({ manifest: DEPENDING_ON_A, registry: url, retries: 1 });
  assert.deepEqual([error.code, error.status, requests.length], ['E503', 503, 2]);
});

test('a busy registry is asked again', async () => {
  const { url } = await startRegistry({ b: PACKAGES.b }, (path, response, before) => {
    if (path !== 'b' || before > 0) return;
    response.writeHead(429, { 'retry-after': '0' }).end();
    return true;
  });
  const { statistics } = await resolve({ manifest: { dependencies: { b: '*' } }, registry: url }).result;
  assert.equal(statistics.retries, 1);
});

test('a broken connection is retried', async () => {
  const { url } = await startRegistry({ b: PACKAGES.b }, (path, response, before) => {
    if (path !== 'b' || before > 0) return;
    response.writeHead(200, { 'content-length': '1000' }).write('{');
    response.destroy();
    return true;
  });
  const { statistics } = await resolve({ manifest: { dependencies: { b: '*' } }, registry: url }).result;
  assert.equal(statistics.retries, 1);
});

// In a tab, a refusal without a CORS header looks like that.
test('documents of versions that never came are not asked for again', async () => {
  const { url, requests } = await startRegistry({}, (path, response) => {
    if (path.includes('/')) {
      response.destroy();
      return true;
    }
    const isAbbreviated = requests.at(-1)?.headers.accept?.includes('install-v1');
    const manifest = { name: path, version: '1.0.0', dist: { integrity: 'sha512-1==' } };
    const versions = { '1.0.0': isAbbreviated ? manifest : { ...manifest, license: 'MIT' } };
    response.writeHead(200, { 'content-type': isAbbreviated ? ABBREVIATED : 'application/json' });
    response.end(JSON.stringify({ name: path, versions }));
    return true;
  });
  const manifest = { dependencies: { a: '*', b: '*' } };
  const { lockfile, statistics } = await resolve({ manifest, registry: url }).result;
  assert.deepEqual([lockfile.match(/"license": "MIT"/g)?.length, statistics.retries], [2, 0]);
});

test('an unreachable registry is an error with the message of the platform', async () => {
  const manifest = DEPENDING_ON_A;
  const inNode = await failure({ manifest, registry: 'http://127.0.0.1:9/' });
  assert.equal(inNode.code, 'ENETUNREACH');
  assert.match(inNode.message, /cannot connect to 127\.0\.0\.1:9: /);

  const asInBrowsers = () => Promise.reject(new TypeError('Failed to fetch'));
  const inBrowsers = await failure({ manifest, registry: 'http://registry.test/', fetch: asInBrowsers });
  assert.equal(inBrowsers.code, 'ENETUNREACH');
  assert.match(inBrowsers.message, /not found or is unreachable from a browser \(Failed to fetch\)/);
});

test('a timeout is an error', async () => {
  const { url, requests } = await startRegistry(PACKAGES, () => true);
  const error = await failure({ manifest: DEPENDING_ON_A, registry: url, timeout: 50 });
  assert.equal(error.code, 'ENETUNREACH');
  assert.match(error.message, /\/a could not be fetched: 127\.0\.0\.1:\d+ timed out$/);
  await eventually(() => requests[0]?.aborted === true);
});

test('an unreadable answer is an error', async () => {
  const { url } = await startRegistry(PACKAGES, (_path, response) => {
    response.end('<html>Please log in</html>');
    return true;
  });
  const error = await failure({ manifest: DEPENDING_ON_A, registry: url });
  assert.deepEqual([error.code, error.url], ['EINVALIDRESPONSE', `${url}/a`]);

  const odd = await failure({ manifest: DEPENDING_ON_A, fetch: async () => /** @type {any} */ ('a string') });
  assert.match(odd.message, /returned no Response/);
});

test('a spec that JavaScript cannot fetch is an error', async () => {
  for (const spec of ['git+ssh://git@host.test/a.git', 'github:acme/a', 'file:./a.tgz']) {
    const error = await failure({ manifest: { dependencies: { a: spec } }, allowGit: 'all' });
    assert.equal(error.code, 'EUNSUPPORTED', spec);
  }
});

test('sources that npm 12 refuses by default are refused', async () => {
  const specs = { EALLOWGIT: 'github:acme/a', EALLOWREMOTE: 'http://host.test/a.tgz' };
  for (const [code, spec] of Object.entries(specs)) {
    assert.equal((await failure({ manifest: { dependencies: { a: spec } } })).code, code);
  }
  const wrong = await failure({ manifest: {}, allowGit: /** @type {any} */ ('some') });
  assert.deepEqual([wrong.code, /allowGit/.test(wrong.message)], ['EINPUT', true]);
});

test('an optional dependency may be missing', async () => {
  const { url } = await startRegistry(PACKAGES);
  const { lockfile } = await resolve({ manifest: { optionalDependencies: { nothing: '*' } }, registry: url }).result;
  assert.equal(JSON.parse(lockfile).packages['node_modules/nothing'], undefined);
});

test('the error of an invalid input names the field', async () => {
  /** @type {[any, RegExp][]} */
  const wrong = [
    [undefined, /the input has to be an object/],
    [{}, /no package\.json/],
    [{ manifest: '{}', audit: true }, /no option `audit`$/],
    [{ manifest: '{}', legacyPeerdeps: true }, /no option `legacyPeerdeps`; did you mean `legacyPeerDeps`\?$/],
    [{ manifest: '{}', 'engine-strict': true }, /did you mean `engineStrict`\?$/],
    [{ manifest: '{}', retires: 8 }, /did you mean `retries`\?$/],
    [
      { manifest: '{}', platform: { os: 'linux', cpu: 'x64', lbic: 'musl' } },
      /no option `platform\.lbic`; .* `platform\.libc`/,
    ],
    [{ manifest: '{}', cache: { maxbytes: 1 } }, /no option `cache\.maxbytes`; did you mean `cache\.maxBytes`\?$/],
    [{ manifest: '{}', force: 'yes' }, /`force` has to be true or false, not "yes"/],
    [{ manifest: '{}', registry: 'registry.test' }, /`registry` has to be an absolute address/],
    [{ manifest: '{}', registry: 'http://me:secret@registry.test' }, /`registry` can't carry a name or password/],
    [{ manifest: '{}', registries: { acme: 'http://registry.test' } }, /by scope: `@acme`/],
    [{ manifest: '{}', before: 'yesterday' }, /`before` has to be a date/],
    [{ manifest: '{}', concurrency: 0 }, /`concurrency` has to be a whole number from 1/],
    [{ manifest: '{}', platform: { os: 'linux' } }, /`platform\.cpu` has to be a string/],
    [{ manifest: null }, /`manifest` has to be text or an object, not null/],
    [{ manifest: '{}', registries: null }, /`registries` has to be an object, not null/],
    [{ manifest: '{}', files: { 'a/package.json': {} } }, /`files\['a\/package\.json'\]` has to be a string/],
  ];
  for (const [input, message] of wrong) {
    const error = await resolve(input).result.catch((/** @type {unknown} */ reason) => reason);
    assert.ok(error instanceof EspalierError);
    assert.equal(error.code, 'EINPUT');
    assert.match(error.message, message);
  }
});

test('an error converts to JSON', async () => {
  const { url } = await startRegistry(PACKAGES);
  const error = await failure({ manifest: DEPENDING_ON_A, registry: url });
  const text = JSON.stringify(error);
  assert.equal(JSON.stringify(new EspalierError(JSON.parse(text))), text);
});

test('an error has only the fields that concern it', async () => {
  const { url } = await startRegistry(PACKAGES);
  const error = await failure({ manifest: DEPENDING_ON_A, registry: url });
  assert.ok(error.code in { ETARGET: 0, E404: 0 });
  for (const [field, value] of Object.entries(error)) assert.ok(value !== undefined && value !== null, field);
  for (const step of error.chain) assert.ok(!('version' in step) || typeof step.version === 'string');
});

test('iterations throw the error of the result', async () => {
  const { url } = await startRegistry({});
  const resolution = resolve({ manifest: DEPENDING_ON_A, registry: url });
  await assert.rejects(
    async () => {
      for await (const _event of resolution);
    },
    { code: 'E404' },
  );
});

/** @param {() => boolean} holds */
async function eventually(holds) {
  for (let tries = 0; !holds(); tries++) {
    assert.ok(tries < 100, 'it never happened');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
