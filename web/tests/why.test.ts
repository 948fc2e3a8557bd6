import { expect, test } from 'vitest';
import { copiesOf, duplicatedNames, place } from '../src/model/copies';
import { summarize } from '../src/model/summary';
import { treeOf } from '../src/model/tree';
import { railsOf, whyTree } from '../src/model/why';
import { graphOfLock } from './graph-of-lock';
import { at, sampleTree } from './sample';

const tree = sampleTree();

const LIMITS = { each: 8, all: 40 };
const why = (location: string, limits = LIMITS) =>
  whyTree(tree, at(tree, location), limits).map(
    ({ edge, node, level, isRepeated }) =>
      `${'  '.repeat(level)}${tree.nodes[node]!.name} ${tree.edges[edge]!.spec}${isRepeated ? ' (above)' : ''}`,
  );

test('why lists dependents up to the project, with ranges, each package once', () => {
  expect(why('node_modules/shared')).toEqual([
    'a ^1.0.0',
    '  app ^1.0.0',
    '  leaf ^1.0.0',
    '    a * (above)',
    '    test *',
    '      app ^3.0.0',
    'test ^1.0.0 (above)',
  ]);
});

test('a guide line runs from a row past everything below it to its next sibling', () => {
  expect(railsOf([0, 1, 2, 1, 0, 1, 2, 3, 1])).toEqual([[], [1], [1], [], [], [1], [1], [1], []]);
  expect(railsOf([0, 1, 2, 2, 3, 2])).toEqual([[], [], [2], [2], [2], []]);
});

test('a package that exists only because of another is no reason for it', () => {
  expect(why('node_modules/b')).toEqual(['app ^2.0.0']);
  expect(why('node_modules/b/node_modules/shared')).toEqual(['b ^2.0.0', '  app ^2.0.0']);
});

test('circular reasons are left out', () => {
  const lock = {
    '': { name: 'app', version: '1.0.0', dependencies: { linter: '*' } },
    'node_modules/linter': { version: '1.0.0', dependencies: { utilities: '*', schemas: '*' } },
    'node_modules/utilities': { version: '1.0.0', peerDependencies: { linter: '*' } },
    'node_modules/schemas': { version: '1.0.0' },
  };
  const linted = treeOf(graphOfLock(lock));
  const steps = whyTree(linted, at(linted, 'node_modules/schemas'), LIMITS);
  expect(steps.map(({ node, level }) => [linted.nodes[node]!.name, level])).toEqual([
    ['linter', 0],
    ['app', 1],
  ]);
});

test('dependents without room are counted', () => {
  expect(whyTree(tree, at(tree, 'node_modules/shared'), { each: 1, all: 40 })[0]).toMatchObject({ more: 1 });
});

test('copies are listed with their places', () => {
  const copies = copiesOf(tree, tree.nodes[at(tree, 'node_modules/shared')]!);
  expect(copies.map((node) => place(tree.nodes[node]!))).toEqual(['under b', 'at the top']);
  expect(duplicatedNames(tree)).toEqual(['shared']);
});

test('the summary counts packages that need attention', () => {
  const summary = summarize(tree);
  expect(summary.packages).toBe(6);
  expect(summary.figures.map(({ count, word }) => `${count} ${word}`)).toEqual([
    '1 unmet dependency',
    '1 deprecated',
    '1 duplicated (2 copies)',
    '1 dev only',
  ]);
});
