import { expect, test } from 'vitest';
import { areas } from '../src/model/strip';

test('arrivals are above the wire and placements below it, each at its time', () => {
  const moments = [
    { elapsed: 0, fetched: 4, placed: 0 },
    { elapsed: 50, fetched: 4, placed: 1 },
    { elapsed: 100, fetched: 4, placed: 0 },
  ];
  expect(areas(moments, 100, 120, 20)).toEqual({
    fetched: 'M0.0 10h0.35v-10.0h-0.35z',
    placed: 'M60.0 10h0.35v5.0h-0.35z',
  });
});

test('no moments yield no shape', () => expect(areas([], 1, 120, 20)).toEqual({ fetched: '', placed: '' }));
