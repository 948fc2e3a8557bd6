import { expect, test } from 'vitest';
import type { ErrorDetails, Requirer } from '../src/engine/types';
import { remedies } from '../src/model/remedies';

const root: Requirer = { name: 'app', location: '', spec: '^99.0.0', kind: 'prod' };
const below: Requirer = { name: 'a', version: '1.0.0', location: 'node_modules/a', spec: '^18.0.0', kind: 'peer' };
const missing: ErrorDetails = {
  code: 'ETARGET',
  message: '',
  package: 'b',
  spec: '^99.0.0',
  chain: [root],
  nearest: ['5.2.1', '4.0.0'],
};

test('the remedy for a range of the root is the nearest version', () => {
  expect(remedies(missing, 'public')).toEqual([
    { kind: 'range', name: 'b', range: '^5.2.1' },
    { kind: 'range', name: 'b', range: '^4.0.0' },
  ]);
});

test('the remedy for the range of another package is another registry', () => {
  expect(remedies({ ...missing, chain: [root, below] }, 'embedded')).toEqual([
    { kind: 'registry', registry: 'public' },
  ]);
});

test('the remedies of a peer conflict are those of the resolver, with its flags as switches', () => {
  const range = { kind: 'range', block: 'dependencies', name: 'b', from: '^17.0.0', to: '^18.0.0' } as const;
  const found = [
    [range],
    [{ kind: 'flag', flag: 'legacy-peer-deps' } as const],
    [{ kind: 'flag', flag: 'force' } as const],
  ];
  expect(remedies({ code: 'ERESOLVE', message: '', remedies: found }, 'public')).toEqual([
    { kind: 'changes', changes: [range] },
    { kind: 'flag', flag: 'legacyPeerDeps' },
    { kind: 'flag', flag: 'force' },
  ]);
});

test('the remedies of a network failure are another try and the embedded registry', () => {
  const kinds = (registry: string) => remedies({ code: 'ENETUNREACH', message: '' }, registry).map(({ kind }) => kind);
  expect(kinds('http://registry.test/')).toEqual(['retry', 'registry']);
  expect(kinds('embedded')).toEqual(['retry']);
});

test('a spec that npm refuses gives way to one of a registry', () => {
  const refused: ErrorDetails = { code: 'EINVALIDTAGNAME', message: '', package: 'b', chain: [root] };
  expect(remedies(refused, 'public')).toEqual([{ kind: 'range', name: 'b', range: 'latest' }]);
  expect(remedies({ ...refused, code: 'EUNSUPPORTEDPROTOCOL' }, 'public')).toEqual([
    { kind: 'range', name: 'b', range: '*' },
  ]);
  // Only the project's own package.json can be changed.
  expect(remedies({ ...refused, chain: [root, below] }, 'public')).toEqual([]);
});
