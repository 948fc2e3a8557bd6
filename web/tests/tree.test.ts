import { expect, test } from 'vitest';
import { packagesOf, path, treeOf } from '../src/model/tree';
import { graphOfLock } from './graph-of-lock';
import { at, sampleTree } from './sample';

test('the path of a package is the shortest from the root', () => {
  const tree = sampleTree();
  const names = path(tree, at(tree, 'node_modules/leaf')).map((edge) => tree.edges[edge]!.name);
  expect(names).toEqual(['a', 'leaf']);
});

test('the counts below the root add up to all packages', () => {
  const tree = sampleTree();
  expect(tree.below[0]).toBe(packagesOf(tree).length);
  expect(tree.below[at(tree, 'node_modules/a')]).toBe(2);
});

test('a missing optional dependency is not shown', () => {
  const tree = sampleTree();
  const names = tree.out[at(tree, 'node_modules/test')]!.map((edge) => tree.edges[edge]!.name);
  expect(names).toEqual(['leaf', 'shared']);
});

test('a link leads to its target', () => {
  const tree = treeOf(
    graphOfLock({
      '': { name: 'mono', dependencies: { ui: '*' } },
      'node_modules/ui': { link: true, resolved: 'packages/ui' },
      'packages/ui': { name: 'ui', version: '1.0.0', dependencies: { leaf: '*' } },
      'node_modules/leaf': { version: '1.0.0' },
    }),
  );
  expect(path(tree, at(tree, 'node_modules/leaf')).length).toBe(2);
  expect(packagesOf(tree).map((node) => tree.nodes[node]!.location)).toEqual(['packages/ui', 'node_modules/leaf']);
});

test('an empty graph is an empty tree', () => {
  expect(treeOf({ nodes: [], edges: [] }).below.length).toBe(0);
});
