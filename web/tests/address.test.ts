import { expect, test } from 'vitest';
import { formatAddress, parseAddress, USUAL, type Address } from '../src/model/address';

const BARE: Address = { settings: USUAL, query: '' };

test('the address of the first page is bare', () => {
  expect(formatAddress(BARE)).toBe('');
  expect(parseAddress('')).toMatchObject(BARE);
});

test('an address says where everything is, and can be read', () => {
  const address: Address = {
    sample: 'tiny',
    registry: 'http://registry.test/npm/',
    settings: { ...USUAL, force: true, before: '2025-06-01', platform: 'darwin-arm64' },
    view: 'map',
    at: 'node_modules/@scope/name',
    query: 'is:dev a',
  };
  const text = formatAddress(address);
  expect(text).toBe(
    'sample=tiny&registry=http://registry.test/npm/&force&before=2025-06-01&platform=darwin-arm64&view=map&at=node_modules/@scope/name&q=is:dev+a',
  );
  expect(parseAddress(`#${text}`)).toMatchObject(address);
});

test('a package.json of one’s own is in the address only where no sample is', () => {
  expect(formatAddress({ ...BARE, manifest: 'abc' })).toBe('manifest=abc');
  expect(formatAddress({ ...BARE, sample: 'tiny', manifest: 'abc' })).toBe('sample=tiny');
});

test('a view that doesn’t exist is none', () => {
  expect(parseAddress('#view=secret').view).toBeUndefined();
});
