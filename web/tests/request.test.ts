import { expect, test } from 'vitest';
import { parseRequest } from '../src/model/request';

const dependencies = (input: string) => {
  const request = parseRequest(input);
  return request.kind === 'manifest' ? JSON.parse(request.text) : request;
};

test('names are read as by npm install, with versions, scopes and the command itself', () => {
  expect(dependencies('react@19 vite @scope/a@^1.2')).toMatchObject({
    dependencies: { react: '19', vite: 'latest', '@scope/a': '^1.2' },
  });
  expect(dependencies('$ npm install -D vitest')).toMatchObject({ devDependencies: { vitest: 'latest' } });
  expect(dependencies('pnpm add a, b')).toMatchObject({ dependencies: { a: 'latest', b: 'latest' } });
});

test('JSON is a package.json or a lockfile, depending on its content', () => {
  expect(parseRequest('{ "dependencies": {} }').kind).toBe('manifest');
  expect(parseRequest('{ "packages": { "": {} } }').kind).toBe('lock');
  // The editor reports where the JSON is invalid.
  expect(parseRequest('{ "dependencies": ').kind).toBe('manifest');
});

test('an invalid name is reported, and empty input is no request', () => {
  expect(parseRequest('why is <b>react</b> here?')).toMatchObject({ kind: 'unclear' });
  expect(parseRequest('  ').kind).toBe('nothing');
  expect(parseRequest('npm install').kind).toBe('nothing');
});
