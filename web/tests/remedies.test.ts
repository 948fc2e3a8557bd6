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

test('a range of the root is replaced by what comes closest', () => {
  expect(remedies(missing, 'public')).toEqual([
    { kind: 'range', name: 'b', range: '^5.2.1' },
    { kind: 'range', name: 'b', range: '^4.0.0' },
  ]);
});

test('what another package asks for can’t be changed here, but asked for elsewhere', () => {
  expect(remedies({ ...missing, chain: [root, below] }, 'embedded')).toEqual([
    { kind: 'registry', registry: 'public' },
  ]);
});

test('a peer conflict: what the resolver has tried, and its flags as switches', () => {
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

test('no answer: again, or the registry that needs no network', () => {
  const kinds = (registry: string) => remedies({ code: 'ENETUNREACH', message: '' }, registry).map(({ kind }) => kind);
  expect(kinds('http://registry.test/')).toEqual(['retry', 'registry']);
  expect(kinds('embedded')).toEqual(['retry']);
});
