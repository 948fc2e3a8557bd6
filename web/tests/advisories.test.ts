import { expect, test } from 'vitest';
import { fixesFor, hits, question } from '../src/model/advisories';
import { USUAL } from '../src/model/address';
import { treeOf } from '../src/model/tree';
import { graphOfLock } from './graph-of-lock';

const tree = treeOf(
  graphOfLock({
    '': { name: 'app', dependencies: { a: '^1.0.0', 'deep-thing': '^1.0.0' } },
    'node_modules/a': { version: '1.0.0', dependencies: { 'deep-thing': '^2.0.0' } },
    'node_modules/a/node_modules/deep-thing': { version: '2.1.0' },
    'node_modules/deep-thing': { version: '1.4.0' },
  }),
);
const ADVISORY = {
  title: 'Slow on long text',
  severity: 'high',
  vulnerable_versions: '>=2.0.0 <2.2.0',
  url: 'https://example.test/1',
};

test('an advisory hits only vulnerable versions, and the most severe hit comes first', () => {
  const found = hits(tree, {
    'deep-thing': [{ ...ADVISORY, severity: 'low' }, ADVISORY],
    a: [{ ...ADVISORY, vulnerable_versions: '<1.0.0' }],
    other: [ADVISORY],
  });
  expect(
    found.map(({ advisory, nodes }) => [advisory.severity, nodes.map((node) => tree.nodes[node]!.version)]),
  ).toEqual([
    ['high', ['2.1.0']],
    ['low', ['2.1.0']],
  ]);
});

test('invalid answers yield no hits, and unsafe links are dropped', () => {
  for (const answer of [
    null,
    7,
    [],
    { a: 7 },
    { a: [null, 7, {}] },
    { a: [{ title: 'x', vulnerable_versions: 'no range!' }] },
  ]) {
    expect(hits(tree, answer)).toEqual([]);
  }
  const [hit] = hits(tree, { a: [{ ...ADVISORY, vulnerable_versions: '*', url: 'javascript:alert(1)' }] });
  expect(hit!.advisory.url).toBeUndefined();
});

test('the question lists every version that came from a registry', () => {
  const nodes = tree.nodes.map((node, index) =>
    index > 0 ? { ...node, resolved: 'http://registry.test/x.tgz' } : node,
  );
  expect(JSON.parse(question({ ...tree, nodes }))).toEqual({ a: ['1.0.0'], 'deep-thing': ['2.1.0', '1.4.0'] });
  expect(JSON.parse(question(tree))).toEqual({});
});

test('fixes are updates, and an override with the first fixed version', () => {
  const manifest = JSON.stringify({ dependencies: { a: '^1.0.0', 'deep-thing': '^1.0.0' } }, null, 2);
  const [hit] = hits(tree, { 'deep-thing': [ADVISORY] });
  expect(fixesFor(tree, hit!, manifest, USUAL).map(({ words }) => words)).toEqual([
    'Update within the ranges',
    'Update a to its latest version',
    'Override deep-thing with >=2.2.0',
  ]);
});
