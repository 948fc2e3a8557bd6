import { expect, test } from 'vitest';
import type { ResolveEvent } from '../src/engine/types';
import { decisions, landing, sentence, treeAfter } from '../src/model/replay';

const placed = (location: string, version: string, from = ''): ResolveEvent => ({
  type: 'placed',
  location,
  name: location.slice(location.lastIndexOf('node_modules/') + 13),
  version,
  kind: 'prod',
  spec: '^1',
  from,
});

const EVENTS: ResolveEvent[] = [
  { type: 'fetched', name: 'a', versions: 3 },
  { type: 'picked', name: 'a', spec: '^1', version: '1.2.0', reason: 'highest', by: 'app', from: '' },
  placed('node_modules/a', '1.2.0'),
  placed('node_modules/b', '1.0.0', 'node_modules/a'),
  { type: 'removed', location: 'node_modules/b' },
  placed('node_modules/b', '2.0.0', 'node_modules/a'),
];

test('each step gives the tree as it stood', () => {
  const list = decisions(EVENTS);
  expect(list.length).toBe(5);
  const names = (steps: number) =>
    treeAfter(list, steps, 'app').nodes.map(({ name, version }) => `${name} ${version ?? ''}`.trim());
  expect(names(0)).toEqual(['app']);
  expect(names(3)).toEqual(['app', 'a 1.2.0', 'b 1.0.0']);
  expect(names(4)).toEqual(['app', 'a 1.2.0']);
  expect(names(5)).toEqual(['app', 'a 1.2.0', 'b 2.0.0']);
});

test('a package is found where it landed in the end', () => {
  expect(landing(decisions(EVENTS), 'node_modules/b')).toBe(5);
  expect(landing(decisions(EVENTS), 'node_modules/c')).toBeUndefined();
});

test('a decision says why', () => {
  expect(sentence(decisions(EVENTS)[0]!)).toBe(
    'app asks for a@^1. npm picks 1.2.0: the latest version isn’t in the range, and this is the highest that is.',
  );
  expect(sentence(decisions([placed('node_modules/a/node_modules/b', '1.0.0')])[0]!)).toContain('is placed under a');
});
