import { expect, test } from 'vitest';
import { noteLockfile } from '../src/model/entries';
import { health } from '../src/model/health';
import { licenseClass } from '../src/model/licenses';
import { sampleTree } from './sample';

test('findings name the packages, by what the lockfile says of them', () => {
  const packages = {
    'node_modules/a': { hasInstallScript: true, engines: { node: '>=22' } },
    'node_modules/b': { engines: { node: '^18 || >=20' } },
  };
  const tree = noteLockfile(sampleTree(), JSON.stringify({ packages }));
  const found = Object.fromEntries(
    health(tree, '20.20.2').map(({ name, nodes }) => [name, nodes.map((node) => tree.nodes[node]!.name)]),
  );
  expect(found).toMatchObject({
    scripts: ['a'],
    engines: ['a'],
    deprecated: ['shared'],
    unmet: ['b'],
    duplicated: ['shared', 'shared'],
    unlicensed: ['test'],
  });
});

test('licenses are as lenient as their most lenient alternative', () => {
  expect(
    ['MIT', '(MIT OR GPL-3.0)', 'MIT AND GPL-3.0', 'MPL-2.0', 'SEE LICENSE IN X', undefined].map(licenseClass),
  ).toEqual(['permissive', 'permissive', 'copyleft', 'weak', 'other', 'none']);
});
