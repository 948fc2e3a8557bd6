import { expect, test } from 'vitest';
import { diff, isEmpty, snapshot } from '../src/model/diff';
import { treeOf } from '../src/model/tree';
import { graphOfLock } from './graph-of-lock';
import { SAMPLE, sampleTree } from './sample';

test('a diff lists added and removed packages, and changed versions at a location', () => {
  const { 'node_modules/test': _gone, ...rest } = SAMPLE;
  const after = treeOf(
    graphOfLock({
      ...rest,
      'node_modules/leaf': { ...rest['node_modules/leaf'], version: '0.2.0' },
      'node_modules/new': { version: '1.0.0' },
    }),
  );
  const changes = diff(snapshot(sampleTree()), after);
  const named = [...changes.marks].map(([node, mark]) => `${mark} ${after.nodes[node]!.name}`);
  expect(named).toEqual(['changed leaf', 'added new']);
  expect(changes.removed).toEqual([{ location: 'node_modules/test', version: '3.0.0' }]);
  expect(changes.before.get('node_modules/leaf')).toBe('0.1.0');
  expect([changes.added, changes.changed]).toEqual([1, 1]);
});

test('a tree doesn’t differ from itself', () => {
  expect(isEmpty(diff(snapshot(sampleTree()), sampleTree()))).toBe(true);
});

test('a removed package is listed at its nearest remaining ancestor', () => {
  const before = new Map([
    ['node_modules/gone', '1.0.0'],
    ['node_modules/gone/node_modules/below', '1.0.0'],
    ['node_modules/a/node_modules/nested', '2.0.0'],
  ]);
  const tree = sampleTree();
  const { gone } = diff(before, tree);
  expect([...gone].map(([node, places]) => [tree.nodes[node]!.name, places.length])).toEqual([
    ['app', 2],
    ['a', 1],
  ]);
});
