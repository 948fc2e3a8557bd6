import { expect, test } from 'vitest';
import { formatAddress, parseAddress, USUAL, type Address } from '../src/model/address';

const BARE: Address = { settings: USUAL, query: '' };

test('the address of the start page is empty', () => {
  expect(formatAddress(BARE)).toBe('');
  expect(parseAddress('')).toMatchObject(BARE);
});

test('an address states the whole state of the page, and parses back to it', () => {
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

test('the address contains a manifest only if it names no sample', () => {
  expect(formatAddress({ ...BARE, manifest: 'abc' })).toBe('manifest=abc');
  expect(formatAddress({ ...BARE, sample: 'tiny', manifest: 'abc' })).toBe('sample=tiny');
});

test('an unknown view is ignored', () => {
  expect(parseAddress('#view=secret').view).toBeUndefined();
});
