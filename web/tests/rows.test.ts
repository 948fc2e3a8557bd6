import { expect, test } from 'vitest';
import { parentRow, rowsOf, type Row } from '../src/model/rows';
import { search } from '../src/model/search';
import { sampleTree } from './sample';

const tree = sampleTree();
const draw = (rows: Row[]) =>
  rows.map((row) => {
    const name = row.edge === -1 ? 'app' : tree.edges[row.edge]!.name;
    return `${'  '.repeat(row.level - 1)}${name}${row.deduped ? ' deduped' : ''}${row.node === -1 ? ' missing' : ''}`;
  });

test('each package has one row, and "deduped" rows elsewhere', () => {
  expect(draw(rowsOf(tree, { isOpen: () => true }))).toEqual([
    'app',
    '  a',
    '    leaf',
    '      a deduped',
    '    shared',
    '  b',
    '    shared',
    '    absent missing',
    '  test',
    '    leaf deduped',
    '    shared deduped',
  ]);
});

test('rows below a closed row are not listed', () => {
  const rows = rowsOf(tree, { isOpen: (_, level) => level === 1 });
  expect(draw(rows)).toEqual(['app', '  a', '  b', '  test']);
  expect(rows.map((row) => row.open)).toEqual([true, false, false, false]);
});

test('sorted rows put deduped ones last', () => {
  const order = { by: 'only', descending: true } as const;
  expect(draw(rowsOf(tree, { isOpen: (_, level) => level === 1, order }))).toEqual(['app', '  b', '  a', '  test']);
  const names = { by: 'package', descending: true } as const;
  expect(draw(rowsOf(tree, { isOpen: (_, level) => level === 1, order: names }))).toEqual([
    'app',
    '  test',
    '  b',
    '  a',
  ]);
});

test('rows know their positions, rails and parents', () => {
  const rows = rowsOf(tree, { isOpen: () => true });
  expect(rows.map((row) => `${row.position}/${row.setSize}`).slice(0, 4)).toEqual(['1/1', '1/3', '1/2', '1/1']);
  expect(rows[3]!.rails).toEqual([true, true]);
  expect(rows[6]!.rails).toEqual([true]);
  expect(rows[9]!.rails).toEqual([false]);
  expect(parentRow(rows, 9)).toBe(8);
  expect(parentRow(rows, 0)).toBe(-1);
});

test('a search lists matches in place, with the rows that lead to them', () => {
  const kept = search(tree, 'is:duplicated')!.kept;
  expect(draw(rowsOf(tree, { isOpen: () => true, kept }))).toEqual([
    'app',
    '  a',
    '    shared',
    '  b',
    '    shared',
    '    absent missing',
  ]);
});

test('keys are unique and name the dependent', () => {
  const keys = rowsOf(tree, { isOpen: () => true }).map((row) => row.key);
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys).toContain('node_modules/b>shared');
});
