import { expect, test } from 'vitest';
import { copiesOf, duplicatedNames, place } from '../src/model/copies';
import { summarize } from '../src/model/summary';
import { chainsTo } from '../src/model/why';
import { at, sampleTree } from './sample';

const tree = sampleTree();

test('one chain for each package that asks, the shortest first', () => {
  const chains = chainsTo(tree, at(tree, 'node_modules/shared'));
  expect(chains.map((chain) => chain.map((edge) => tree.edges[edge]!.name))).toEqual([
    ['a', 'shared'],
    ['test', 'shared'],
  ]);
});

test('what is only here because of a package is no reason for it', () => {
  const chains = chainsTo(tree, at(tree, 'node_modules/a'));
  expect(chains.map((chain) => chain.map((edge) => tree.edges[edge]!.name))).toEqual([['a']]);
});

test('copies and where they lie', () => {
  const copies = copiesOf(tree, tree.nodes[at(tree, 'node_modules/shared')]!);
  expect(copies.map((node) => place(tree.nodes[node]!))).toEqual(['under b', 'at the top']);
  expect(duplicatedNames(tree)).toEqual(['shared']);
});

test('the sentence counts what needs attention', () => {
  const summary = summarize(tree);
  expect(summary.packages).toBe(6);
  expect(summary.figures.map(({ count, word }) => `${count} ${word}`)).toEqual([
    '1 unmet dependency',
    '1 deprecated',
    '1 duplicated',
    '1 dev only',
  ]);
});
