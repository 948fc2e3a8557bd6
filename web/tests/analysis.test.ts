import { expect, test } from 'vitest';
import { analyze, reaches, totals } from '../src/model/analysis';
import { treeOf } from '../src/model/tree';
import { graphOfLock } from './graph-of-lock';
import { at, sampleTree } from './sample';

test('`only` counts the packages that would go with a package', () => {
  const tree = sampleTree();
  const { only, depth } = analyze(tree);
  // `leaf` and the upper `shared` are wanted by `test` too, and stay when `a` goes.
  expect(only[at(tree, 'node_modules/a')]).toBe(1);
  expect(only[at(tree, 'node_modules/b')]).toBe(2);
  expect(only[0]).toBe(tree.nodes.length);
  expect(depth[at(tree, 'node_modules/leaf')]).toBe(2);
});

test('`reaches` counts shared packages too, and cycles end it', () => {
  const tree = sampleTree();
  expect(reaches(tree, at(tree, 'node_modules/a'))).toBe(2);
  expect(reaches(tree, at(tree, 'node_modules/test'))).toBe(3);
});

test('sizes cover installed packages, and come with the number of known sizes', () => {
  const graph = graphOfLock({
    '': { name: 'app', dependencies: { a: '1', far: '1', unknown: '1' } },
    'node_modules/a': { version: '1.0.0', dependencies: { b: '1' } },
    'node_modules/b': { version: '1.0.0' },
    'node_modules/far': { version: '1.0.0' },
    'node_modules/unknown': { version: '1.0.0' },
  });
  graph.nodes[1]!.unpackedSize = 100;
  graph.nodes[2]!.unpackedSize = 20;
  graph.nodes[3]!.unpackedSize = 1_000;
  graph.nodes[3]!.inert = true;
  const tree = treeOf(graph);
  const { bytes, sized, installed } = totals(tree);
  const { onlyBytes } = analyze(tree);
  expect([bytes, sized, installed]).toEqual([120, 2, 3]);
  expect(onlyBytes[at(tree, 'node_modules/a')]).toBe(120);
});

test('a long chain is walked without recursion', () => {
  const length = 20_000;
  const lock = Object.fromEntries([
    ['', { name: 'app', dependencies: { p0: '1' } }],
    ...Array.from({ length }, (_, index) => [
      `node_modules/p${index}`,
      { version: '1.0.0', dependencies: { [`p${index + 1}`]: '1' } },
    ]),
    [`node_modules/p${length}`, { version: '1.0.0' }],
  ]);
  expect(analyze(treeOf(graphOfLock(lock))).only[0]).toBe(length + 2);
});
