import { expect, test } from 'vitest';
import { answers, apart } from '../src/model/sharing';
import { treeOf } from '../src/model/tree';
import { graphOfLock } from './graph-of-lock';
import { at, sampleTree } from './sample';

test('a nested copy lists the dependents that the copy above does not satisfy', () => {
  const tree = sampleTree();
  const [only] = apart(tree, 'shared');
  expect(only).toMatchObject({
    copy: at(tree, 'node_modules/b/node_modules/shared'),
    above: at(tree, 'node_modules/shared'),
  });
  expect(only!.refusing.map((edge) => tree.edges[edge]!.spec)).toEqual(['^2.0.0']);
});

test('a copy that could be shared lists no dependents, and siblings are not compared', () => {
  const tree = treeOf(
    graphOfLock({
      '': { name: 'app', dependencies: { a: '*', b: '*', shared: '^1.0.0' } },
      'node_modules/a': { version: '1.0.0', dependencies: { shared: '1.x' } },
      'node_modules/a/node_modules/shared': { version: '1.1.0' },
      'node_modules/b': { version: '1.0.0', dependencies: { beside: '*' } },
      'node_modules/b/node_modules/beside': { version: '1.0.0' },
      'node_modules/a/node_modules/beside': { version: '1.0.0' },
      'node_modules/shared': { version: '1.5.0' },
    }),
  );
  expect(apart(tree, 'shared').map(({ refusing }) => refusing.length)).toEqual([0]);
  expect(apart(tree, 'beside')).toEqual([]);
});

test('ranges and aliases are matched as in npm, and other specs match nothing', () => {
  expect(
    ['^1.2.0', 'npm:@scope/name@^1.0.0', 'npm:name', '*', '=1.2.3 || 2', 'v1'].map((spec) => answers('1.2.3', spec)),
  ).toEqual([true, true, true, true, true, true]);
  expect(['^2', 'latest', 'github:a/b', 'file:../x'].map((spec) => answers('1.2.3', spec))).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
