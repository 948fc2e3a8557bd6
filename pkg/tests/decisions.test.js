// Decisions in their order, explanations, remedies, and the tree in arrays.
// @ts-check

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EspalierError, explain, resolve, unpackGraph } from 'espalier';
import { startRegistry } from './registry.js';

const PACKAGES = {
  a: { '1.0.0': { dependencies: { c: '^1.0.0' } } },
  b: { '1.0.0': { dependencies: { c: '^1.0.0' } } },
  c: { '1.0.0': {}, '1.1.0': {}, '2.0.0': {} },
  old: { '1.0.0': { deprecated: 'gone' } },
};

test('events state the picked versions and the reasons, in order', async () => {
  const { url } = await startRegistry(PACKAGES);
  const resolution = resolve({
    manifest: { name: 'p', dependencies: { a: 'latest', b: '1.0.0', old: '*' } },
    registry: url,
  });
  const told = [];
  for await (const event of resolution) {
    if (event.type === 'picked')
      told.push(`${event.by} picks ${event.name}@${event.version} of ${event.spec}: ${event.reason}`);
    if (event.type === 'placed') told.push(`placed ${event.location}@${event.version}`);
  }
  assert.ok(told.includes('p picks a@1.0.0 of latest: tag'), told.join('\n'));
  assert.ok(told.includes('p picks b@1.0.0 of 1.0.0: exact'));
  assert.ok(told.includes('p picks old@1.0.0 of *: latest'));
  assert.ok(told.includes('a picks c@1.1.0 of ^1.0.0: highest'));
  assert.ok(told.indexOf('a picks c@1.1.0 of ^1.0.0: highest') < told.indexOf('placed node_modules/c@1.1.0'));
});

test('the tree in arrays equals the graph', async () => {
  const { url } = await startRegistry(PACKAGES);
  const manifest = {
    name: 'p',
    version: '1.0.0',
    dependencies: { a: '*', c: '2.0.0' },
    optionalDependencies: { nothing: '*' },
  };
  const { packedGraph, graph, lockfile } = await resolve({ manifest, registry: url }).result;
  assert.ok(graph.nodes.length > 0);
  // The arrays are transferred, not copied, so they are empty here.
  const moved = structuredClone(packedGraph, { transfer: Object.values(packedGraph).map(({ buffer }) => buffer) });
  assert.deepEqual(
    Object.values(packedGraph).map(({ byteLength }) => byteLength),
    [0, 0, 0, 0],
  );
  assert.deepEqual(unpackGraph(moved), graph);
  const { packages } = JSON.parse(lockfile);
  assert.deepEqual(
    graph.nodes.map(({ location }) => location),
    Object.keys(packages),
  );
  assert.deepEqual(
    graph.nodes.map(({ integrity }) => integrity),
    Object.values(packages).map(({ integrity }) => integrity),
  );
  assert.deepEqual(
    graph.edges.find(({ name }) => name === 'nothing'),
    { from: 0, name: 'nothing', spec: '*', kind: 'optional', overridden: false },
  );
});

test('explanations list the dependents of a package, up to the project', async () => {
  const { url } = await startRegistry(PACKAGES);
  const manifest = { name: 'p', dependencies: { a: '*', c: '2.0.0' } };
  const { lockfile } = await resolve({ manifest, registry: url }).result;
  const explanations = await explain({ manifest, lockfile, package: 'c' });
  assert.deepEqual(explanations.map(({ version, location }) => [version, location]).sort(), [
    ['1.1.0', 'node_modules/a/node_modules/c'],
    ['2.0.0', 'node_modules/c'],
  ]);
  const nested = explanations.find(({ version }) => version === '1.1.0');
  const [dependent] = nested?.dependents ?? [];
  assert.deepEqual(
    [dependent?.type, dependent?.spec, dependent?.from.name, dependent?.from.dependents?.[0]?.from.location],
    ['prod', '^1.0.0', 'a', '/project'],
  );
  assert.deepEqual(
    (await explain({ manifest, lockfile, package: 'c@^2' })).map(({ version }) => version),
    ['2.0.0'],
  );
  assert.deepEqual(await explain({ manifest, lockfile, package: 'nothing' }), []);
  await assert.rejects(explain({ manifest: '{', package: 'c' }), { code: 'EJSONPARSE' });
  await assert.rejects(explain({ manifest, lockfile, package: 'c', signal: AbortSignal.abort() }), {
    name: 'AbortError',
  });
});

test('a peer conflict comes with its remedies', async () => {
  const { url } = await startRegistry({ x: { '1.0.0': { peerDependencies: { c: '^1.0.0' } } }, c: PACKAGES.c });
  const input = { manifest: { dependencies: { x: '*', c: '2.0.0' } }, registry: url };
  const error = await resolve(input).result.catch((reason) => reason);
  assert.ok(error instanceof EspalierError);
  assert.deepEqual(
    error.remedies?.[0],
    [{ kind: 'range', block: 'dependencies', name: 'c', from: '2.0.0', to: '^1.1.0' }],
    JSON.stringify(error.remedies),
  );
  assert.deepEqual(error.remedies?.slice(-2), [
    [{ kind: 'flag', flag: 'legacy-peer-deps' }],
    [{ kind: 'flag', flag: 'force' }],
  ]);
  const without = await resolve({ ...input, remedies: false }).result.catch((reason) => reason);
  assert.equal(without.remedies, undefined);
});
