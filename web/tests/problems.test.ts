import { expect, test } from 'vitest';
import type { GraphEdge } from '../src/engine/types';
import { isUnmet, problemWord } from '../src/model/problems';

const edge = (fields: Partial<GraphEdge>): GraphEdge => ({
  from: 0,
  name: 'a',
  spec: '1',
  kind: 'prod',
  overridden: false,
  ...fields,
});

test('an optional dependency that the registry lacks is no problem', () => {
  const missing = edge({ kind: 'optional', error: 'INVALID' });
  expect(isUnmet(missing)).toBe(false);
  expect(problemWord(missing)).toBe('not available');
});

test('a version outside of the range is a problem for every kind of dependency', () => {
  for (const kind of ['prod', 'optional', 'peerOptional'] as const) {
    expect(isUnmet(edge({ kind, to: 1, error: 'INVALID' })), kind).toBe(true);
  }
});

test('a missing dependency is a problem, unless it is optional', () => {
  expect(isUnmet(edge({ error: 'MISSING' }))).toBe(true);
  expect(isUnmet(edge({ kind: 'peer', error: 'MISSING' }))).toBe(true);
  expect(isUnmet(edge({ kind: 'peerOptional', error: 'MISSING' }))).toBe(false);
});
