import { expect, test } from 'vitest';
import { formatAddress, parseAddress, START, type Address } from '../src/model/address';

test('the first page has a bare address', () => {
  expect(formatAddress(START)).toBe('');
  expect(parseAddress('')).toEqual({ ...START, sample: undefined, manifest: undefined, at: undefined });
});

test('an address says where everything is, and can be read', () => {
  const address: Address = {
    sample: 'express-api',
    manifest: undefined,
    registry: 'http://registry.test/',
    legacyPeerDeps: true,
    force: false,
    at: 'node_modules/@babel/core',
    query: 'is:dev a b',
  };
  const text = formatAddress(address);
  expect(text).toBe('sample=express-api&registry=http://registry.test/&legacy-peer-deps&at=node_modules/@babel/core&q=is:dev+a+b');
  expect(parseAddress(`#${text}`)).toEqual(address);
});

test('a package.json of one’s own is in the address only where no sample is', () => {
  expect(formatAddress({ ...START, manifest: 'q1bK' })).toBe('manifest=q1bK');
  expect(formatAddress({ ...START, sample: 'tiny', manifest: 'q1bK' })).toBe('sample=tiny');
});
