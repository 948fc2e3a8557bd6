import { expect, test } from 'vitest';
import type { ResolveEvent } from '../src/engine/types';
import { Growth } from '../src/model/growth';
import { rowsOf } from '../src/model/rows';
import { treeOf } from '../src/model/tree';

const placed = (location: string, from = '', version = '1.0.0'): ResolveEvent => ({
  type: 'placed',
  location,
  name: location.split('node_modules/').at(-1)!,
  version,
  kind: 'prod',
  spec: '^1.0.0',
  from,
});

test('a package is listed under the dependent that it was placed for', () => {
  const growth = new Growth();
  growth.apply([placed('node_modules/a'), placed('node_modules/b', 'node_modules/a')], 5);
  const rows = rowsOf(treeOf(growth.graph('app')), { isOpen: () => true });
  expect(rows.map((row) => row.key)).toEqual(['', '>a', 'node_modules/a>b']);
});

test('a replaced package counts once, and a removed one does not count', () => {
  const growth = new Growth();
  growth.apply([placed('node_modules/a'), placed('node_modules/a', '', '2.0.0'), placed('node_modules/b')], 5);
  growth.apply([{ type: 'removed', location: 'node_modules/b' }], 9);
  expect(growth.graph('app').nodes.map((node) => node.version)).toEqual([undefined, '2.0.0']);
  expect(growth.moments.map((moment) => moment.placed)).toEqual([2, 1]);
});

test('a dependency of a removed package stays in the tree, without a row', () => {
  const growth = new Growth();
  growth.apply(
    [
      placed('node_modules/a'),
      placed('node_modules/b', 'node_modules/a'),
      { type: 'removed', location: 'node_modules/a' },
    ],
    5,
  );
  const tree = treeOf(growth.graph('app'));
  expect(tree.nodes.length).toBe(2);
  expect(rowsOf(tree, { isOpen: () => true }).length).toBe(1);
});
