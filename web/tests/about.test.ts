import { expect, test } from 'vitest';
import { aboutOf } from '../src/model/about';

test('only web addresses become links', () => {
  const repository = (url: unknown) => aboutOf({ repository: url })?.repository;
  expect(repository({ type: 'git', url: 'git+https://example.test/a/b.git' })).toBe('https://example.test/a/b');
  expect(repository('git@example.test:a/b.git')).toBe('https://example.test/a/b');
  expect(repository('git+ssh://git@example.test/a/b.git')).toBe('https://example.test/a/b');
  expect(repository('github:a/b')).toBe('https://github.com/a/b');
  for (const hostile of [
    'javascript:alert(1)',
    'data:text/html,x',
    'https://user:pass@example.test/',
    7,
    null,
    { url: {} },
  ]) {
    expect(repository(hostile)).toBeUndefined();
  }
  expect(aboutOf('text')).toBeUndefined();
});

test('a document states its module formats and types', () => {
  const modules = (document: object) => aboutOf(document)!.modules;
  expect(modules({ type: 'module' })).toBe('ESM only');
  expect(modules({ main: 'index.js' })).toBe('CommonJS');
  expect(modules({ main: 'a.cjs', module: 'a.mjs' })).toBe('ESM and CommonJS');
  expect(modules({ type: 'module', exports: { '.': { import: './a.js', require: './a.cjs' } } })).toBe(
    'ESM and CommonJS',
  );
  expect(modules({ name: 'trimmed' })).toBeUndefined();
  expect(aboutOf({ exports: { '.': { types: './a.d.ts' } } })!.types).toBe(true);
});
