import { expect, test } from 'vitest';
import { differences, isIdentical, manifestOfLock, packagesOfLock } from '../src/model/compare';

const lock = (version: string, origin: string) =>
  JSON.stringify(
    {
      lockfileVersion: 3,
      packages: {
        '': { name: 'app', dependencies: { a: '^1.0.0' } },
        'node_modules/a': { version, resolved: `${origin}a/-/a-${version}.tgz` },
      },
    },
    null,
    2,
  );

test('locks from different registries are identical', () => {
  expect(isIdentical(lock('1.0.0', 'http://registry.test/'), lock('1.0.0', 'http://localhost/registry/'))).toBe(true);
  expect(isIdentical(lock('1.0.0', '/'), lock('1.0.1', '/'))).toBe(false);
});

test('a comparison lists added, removed and changed packages', () => {
  const before = { '': {}, 'node_modules/a': { version: '1.0.0' }, 'node_modules/b': { version: '1.0.0' } };
  const after = { '': {}, 'node_modules/a': { version: '1.1.0' }, 'node_modules/c': { version: '3.0.0' } };
  expect(differences(before, after)).toEqual([
    { location: 'node_modules/a', before: '1.0.0', after: '1.1.0' },
    { location: 'node_modules/b', before: '1.0.0', after: undefined },
    { location: 'node_modules/c', before: undefined, after: '3.0.0' },
  ]);
});

test('only a lockfile with `packages` is accepted', () => {
  expect(packagesOfLock('{ "lockfileVersion": 1, "dependencies": {} }')).toBeUndefined();
  expect(packagesOfLock('nonsense')).toBeUndefined();
  expect(JSON.parse(manifestOfLock(lock('1.0.0', '/'))!)).toEqual({ name: 'app', dependencies: { a: '^1.0.0' } });
});
