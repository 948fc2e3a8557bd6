import { expect, test } from 'vitest';
import { resultsOf } from '../src/model/results';
import { search } from '../src/model/search';
import { treeOf } from '../src/model/tree';
import { graphOfLock } from './graph-of-lock';

const tree = treeOf(
  graphOfLock({
    '': { name: 'app', dependencies: { a: '*', react: '^18', 'react-dom': '*' } },
    'node_modules/a': { version: '1.0.0', dependencies: { react: '^19', preact: '*' } },
    'node_modules/a/node_modules/react': { version: '19.0.0' },
    'node_modules/preact': { version: '10.0.0' },
    'node_modules/react': { version: '18.0.0' },
    'node_modules/react-dom': { version: '18.0.0', dependencies: { react: '^18' } },
  }),
);
const found = (query: string) =>
  resultsOf(tree, search(tree, query)!, query).map(({ name, versions }) => [name, ...versions]);

test('results are grouped by name: exact matches, then prefixes, with the uppermost copy first', () => {
  expect(found('react')).toEqual([
    ['react', '18.0.0', '19.0.0'],
    ['react-dom', '18.0.0'],
    ['preact', '10.0.0'],
  ]);
});

test('a query of filters only lists no names', () => {
  expect(found('is:direct')).toEqual([]);
  expect(found('is:direct react').map(([name]) => name)).toEqual(['react', 'react-dom']);
});
