import { expect, test } from 'vitest';
import { squarify, treemap } from '../src/model/treemap';
import { at, sampleTree } from './sample';

test('boxes fill the area in proportion and are nearly square', () => {
  const weights = [60, 25, 10, 4, 1];
  const boxes = squarify(weights, { x: 0, y: 0, width: 200, height: 100 });
  boxes.forEach((box, index) => expect(box.width * box.height).toBeCloseTo((weights[index]! / 100) * 20_000, 3));
  for (const box of boxes.slice(0, 3)) expect(Math.max(box.width / box.height, box.height / box.width)).toBeLessThan(3);
});

test('exclusive dependencies lie inside of a package, and shared ones beside it', () => {
  const tree = sampleTree();
  const areas = new Map(treemap(tree, 'packages', 600, 400).map((area) => [area.node, area]));
  const [b, nested, shared] = ['node_modules/b', 'node_modules/b/node_modules/shared', 'node_modules/shared'].map(
    (location) => areas.get(at(tree, location))!,
  );
  expect(inside(nested!, b!)).toBe(true);
  expect(inside(shared!, b!)).toBe(false);
});

test('without sizes there are no areas', () => {
  expect(treemap(sampleTree(), 'bytes', 600, 400)).toEqual([]);
});

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

function inside(inner: Box, outer: Box): boolean {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.width <= outer.x + outer.width + 0.01 &&
    inner.y + inner.height <= outer.y + outer.height + 0.01
  );
}
