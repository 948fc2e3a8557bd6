import { expect, test } from 'vitest';
import type { ResolveEvent } from '../src/engine/types';
import { decisions, isPassing, landing, sameStep, sentence, standing } from '../src/model/replay';
import { treeOf } from '../src/model/tree';

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

test('a step has the packages placed so far, and those that no decision placed', () => {
  const list = decisions(EVENTS);
  expect(list.length).toBe(5);
  const node = (name: string, location: string, version?: string) => ({
    name,
    location,
    ...(version ? { version } : {}),
    dev: false,
    optional: false,
    devOptional: false,
    peer: false,
    extraneous: false,
    inert: false,
    inBundle: false,
    hasInstallScript: false,
  });
  const tree = treeOf({
    nodes: [
      node('app', ''),
      node('a', 'node_modules/a', '1.2.0'),
      node('b', 'node_modules/b', '2.0.0'),
      node('c', 'node_modules/c', '1.0.0'),
    ],
    edges: [],
  });
  const names = (steps: number) => [...standing(list, steps, tree)].map((index) => tree.nodes[index]!.name).sort();
  expect(names(0)).toEqual(['app', 'c']);
  expect(names(3)).toEqual(['a', 'app', 'b', 'c']);
  expect(names(4)).toEqual(['a', 'app', 'c']);
  expect(names(5)).toEqual(['a', 'app', 'b', 'c']);
  expect(list.map((decision) => isPassing(decision, tree))).toEqual([false, false, true, false, false]);
});

test('switching between brief and full lists keeps the step', () => {
  const brief = decisions(EVENTS);
  const tried: ResolveEvent = {
    type: 'decided',
    name: 'a',
    spec: '^1',
    version: '1.2.0',
    by: '',
    from: '',
    kind: 'prod',
    asPeer: false,
    removed: [],
    tried: [],
    result: { type: 'met' },
  };
  const all = decisions(EVENTS.flatMap((event) => [tried, event]));
  expect([0, 1, 3, 5].map((step) => sameStep(brief, step, all))).toEqual([0, 3, 7, 11]);
});

test('`landing` finds the decision that placed a package for good', () => {
  expect(landing(decisions(EVENTS), 'node_modules/b')).toBe(5);
  expect(landing(decisions(EVENTS), 'node_modules/c')).toBeUndefined();
});

test('the sentence of a decision gives its reason', () => {
  expect(sentence(decisions(EVENTS)[0]!)).toBe(
    'app asks for a@^1. npm picks 1.2.0: the latest version isn’t in the range, and this is the highest that is.',
  );
  expect(sentence(decisions([placed('node_modules/a/node_modules/b', '1.0.0')])[0]!)).toContain('is placed under a');
});
