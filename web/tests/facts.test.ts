import { expect, test } from 'vitest';
import { answers, holds, questions, type FactState } from '../src/model/facts';
import { health } from '../src/model/health';
import { search } from '../src/model/search';
import { at, sampleTree } from './sample';

const tree = sampleTree();
const now = Date.parse('2026-11-22');

test('dates are requested by name and modules by version, each once', () => {
  const node = (name: string) => ({ ...tree.nodes[at(tree, `node_modules/${name}`)]!, resolved: 'x' });
  const nodes = [tree.nodes[0]!, node('a'), node('a'), { ...node('b'), packageName: '@acme/b' }];
  expect(questions({ ...tree, nodes }, 'dates')).toEqual(['a', '@acme%2fb']);
  expect(questions({ ...tree, nodes }, 'modules')).toEqual(['a/1.2.0', '@acme%2fb/2.0.0']);
});

test('fields of the wrong type in a document are ignored', () => {
  expect(answers('dates', '@acme%2fb', { time: { '1.0.0': '2026-11-20', '2.0.0': 'soon' } })).toEqual([
    ['@acme/b@1.0.0', { published: Date.parse('2026-11-20') }],
  ]);
  expect(answers('modules', 'a/1.2.0', { type: 'module', types: './a.d.ts' })).toEqual([
    ['a@1.2.0', { modules: 'ESM only', types: true }],
  ]);
  for (const nothing of [undefined, null, 'a', 1]) expect(answers('dates', 'a', nothing)).toEqual([]);
});

const facts = new Map([
  ['a@1.2.0', { published: now - 86_400_000, modules: 'ESM only', types: false }],
  ['b@2.0.0', { published: Date.parse('2020-01-01'), modules: 'CommonJS', types: true }],
]);

test.each<[FactState, string[]]>([
  ['recent', ['a']],
  ['old', ['b']],
  ['esm', ['a']],
  ['commonjs', ['b']],
  ['untyped', ['a']],
])('is:%s', (state, expected) => {
  const found = tree.nodes.flatMap((node, index) => (holds(state, tree, facts, index, now) ? [node.name] : []));
  expect(found).toEqual(expected);
  const finding = health(tree, '20.20.2', facts, now).find(({ name }) => name === state)!;
  expect(finding.nodes.map((node) => tree.nodes[node]!.name)).toEqual(expected);
  expect(finding.query).toBe(`is:${state}`);
});

test('a filter by facts finds nothing before they are looked up', () => {
  expect(search(tree, 'is:esm')!.nodes.size).toBe(0);
  expect(search(tree, 'is:esm', facts)!.nodes.size).toBe(1);
});
