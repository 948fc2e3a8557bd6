import { expect, test } from 'vitest';
import { espalier } from '../src/model/espalier';
import { treeOf, type Tree } from '../src/model/tree';
import { graphOfLock, type Lock } from './graph-of-lock';
import { sampleTree } from './sample';

test('every reachable package has a position of its own', () => {
  for (const tree of [sampleTree(), large(2_000)]) {
    const { x, y, order } = espalier(tree);
    const places = order.map((node) => `${x[node]} ${y[node]}`);
    expect(places.some((place) => place.includes('NaN'))).toBe(false);
    expect(new Set(places).size).toBe(order.length);
    expect(order.length).toBe(tree.nodes.length);
  }
});

test('a package is drawn above its parent', () => {
  const tree = sampleTree();
  const { y, parent } = espalier(tree);
  tree.nodes.forEach((_, node) => {
    if (node > 0) expect(y[node]).toBeLessThan(y[parent[node]!]!);
  });
});

test('the drawing keeps its aspect ratio for any number of packages', () => {
  for (const size of [40, 400, 4_000]) {
    const { bounds } = espalier(large(size), 1.6);
    const shape = (bounds.right - bounds.left) / (bounds.bottom - bounds.top);
    expect(shape).toBeGreaterThan(0.8);
    expect(shape).toBeLessThan(3.2);
  }
});

test('a dependency that brings nearly all packages is split into branches', () => {
  const lock: Lock = {
    '': { name: 'app', dependencies: { all: '1' } },
    'node_modules/all': { version: '1.0.0', dependencies: {} },
  };
  for (let index = 0; index < 900; index += 1) {
    lock['node_modules/all']!.dependencies![`p${index}`] = '1';
    lock[`node_modules/p${index}`] = { version: '1.0.0' };
  }
  const { bounds, wires } = espalier(treeOf(graphOfLock(lock)), 1.6);
  expect((bounds.right - bounds.left) / (bounds.bottom - bounds.top)).toBeLessThan(4);
  expect(new Set(wires.map(({ y }) => y)).size).toBeGreaterThan(4);
});

/**
 * A tree of `size` packages with a few dozen direct dependencies, some of them deep and some flat.
 */
function large(size: number): Tree {
  const lock: Lock = { '': { name: 'app', dependencies: {} } };
  for (let index = 1; index < size; index += 1) {
    const owner = index < Math.sqrt(size) ? '' : `node_modules/p${Math.floor((index * 7919) % (index - 1)) + 1}`;
    lock[`node_modules/p${index}`] = { version: '1.0.0', dependencies: {} };
    (lock[owner]!.dependencies ??= {})[`p${index}`] = '1';
  }
  return treeOf(graphOfLock(lock));
}
