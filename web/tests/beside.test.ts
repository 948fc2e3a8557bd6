import { expect, test } from 'vitest';
import { USUAL } from '../src/model/address';
import { besideOf, besideText, differing } from '../src/model/beside';

const side = { text: '{}', registry: 'public', settings: USUAL };

test('each difference between A and B is named', () => {
  expect(differing(side, side)).toEqual([]);
  expect(differing(side, { ...side, text: '{ }', settings: { ...USUAL, force: true, before: '2024-01-01' } })).toEqual([
    'package.json',
    '--force',
    'as of 2024-01-01',
  ]);
  expect(differing({ ...side, settings: { ...USUAL, force: true } }, { ...side, lockfile: '{}' })).toEqual([
    'lockfile',
    'no --force',
  ]);
});

test('a link contains B, and unknown or wrong fields of a link are dropped', () => {
  const other = { ...side, settings: { ...USUAL, preferDedupe: true, node: '22.0.0' } };
  expect(besideOf(besideText(other))).toEqual(other);
  expect(besideOf(JSON.stringify({ ...side, settings: { force: 1, before: {}, evil: true } }))).toEqual(side);
  for (const nothing of ['', '[]', 'null', '{"text":1}']) expect(besideOf(nothing)).toBeUndefined();
});
