import { expect, test } from 'vitest';
import { colour, COLOURINGS } from '../src/model/colour';
import { packagesOf } from '../src/model/tree';
import { at, sampleTree } from './sample';

const tree = sampleTree();

test('every colouring assigns a class to each package, and counts them', () => {
  for (const [by] of COLOURINGS) {
    const { classes, of, counts } = colour(tree, by);
    for (const node of packagesOf(tree)) expect(classes[of[node]!]).toBeDefined();
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(packagesOf(tree).length);
  }
});

test('ages come from publish dates; without a date, the age is not known', () => {
  const now = Date.parse('2026-01-01');
  const { classes, of } = colour(tree, 'age', new Map([['a@1.2.0', { published: Date.parse('2025-12-20') }]]), now);
  expect(classes[of[at(tree, 'node_modules/a')]!]!.words).toBe('this month');
  expect(classes[of[at(tree, 'node_modules/b')]!]!.words).toBe('not known');
});
