import { expect, test } from 'vitest';
import { health } from '../src/model/health';
import { licenseClass } from '../src/model/licenses';
import { treeOf } from '../src/model/tree';
import { graphOfLock } from './graph-of-lock';
import { SAMPLE } from './sample';

test('findings name the packages that they are about', () => {
  const tree = treeOf(
    graphOfLock({
      ...SAMPLE,
      'node_modules/a': { ...SAMPLE['node_modules/a'], hasInstallScript: true, engines: { node: '>=22' } },
      'node_modules/b': { ...SAMPLE['node_modules/b'], engines: { node: '^18 || >=20' } },
    }),
  );
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
