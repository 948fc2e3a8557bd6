import { expect, test } from 'vitest';
import { nameWords, search, toggleWord } from '../src/model/search';
import { sampleTree } from './sample';

const tree = sampleTree();
const found = (query: string) => [...search(tree, query)!.nodes].map((node) => tree.nodes[node]!.location);

test.each([
  ['shar', ['node_modules/b/node_modules/shared', 'node_modules/shared']],
  ['SHARED@2', ['node_modules/b/node_modules/shared']],
  ['is:duplicated', ['node_modules/b/node_modules/shared', 'node_modules/shared']],
  ['is:deprecated', ['node_modules/b/node_modules/shared']],
  ['is:nested', ['node_modules/b/node_modules/shared']],
  ['is:dev', ['node_modules/test']],
  ['is:problem', ['node_modules/b']],
  ['license:isc', ['node_modules/b']],
  ['license:none', ['', 'node_modules/test']],
  ['is:duplicated shared@1', ['node_modules/shared']],
  ['is:nonsense', []],
  ['zzz', []],
])('%s', (query, expected) => expect(found(query)).toEqual(expected));

test('an empty query is no search', () => expect(search(tree, '  ')).toBeUndefined());

test('only words of names are highlighted', () => expect(nameWords('is:dev React@19')).toEqual(['react']));

test('`toggleWord` adds and removes a word', () => {
  expect(toggleWord('react', 'is:dev')).toBe('react is:dev');
  expect(toggleWord('is:dev react', 'is:dev')).toBe('react');
});
