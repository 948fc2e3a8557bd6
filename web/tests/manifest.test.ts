import { expect, test } from 'vitest';
import { faults, identity, withChanges, withRange } from '../src/model/manifest';

const first = (text: string) => {
  const fault = faults(text)[0];
  return fault && `${fault.line}:${fault.column} ${fault.message}`;
};

test.each([
  ['{\n  "name": "a"\n  "version": "1"\n}', '3:3 a comma is missing here'],
  ['{\n  "name": "a",\n}', '3:1 a name in double quotes is expected here'],
  ['{ "dependencies": { "a": 1 } }', '1:26 a range is a string'],
  ['{ "dependencies": [] }', '1:19 dependencies has to be an object'],
  ['[]', '1:1 a package.json is an object'],
  ['{ // no\n}', '1:3 JSON has no comments'],
  ['', '1:1 a value is expected here'],
  ['{}', undefined],
])('%j', (text, expected) => expect(first(text)).toBe(expected));

test('name and version are read even from incomplete JSON', () => {
  expect(identity('{ "name": "app", "version": "1.0.0", "depen')).toEqual({ name: 'app', version: '1.0.0' });
  expect(identity('{')).toEqual({});
});

test('changing a range keeps the layout of the file', () => {
  expect(withRange('{\n\t"devDependencies": {\n\t\t"a": "1"\n\t}\n}', 'a', '^2')).toBe(
    '{\n\t"devDependencies": {\n\t\t"a": "^2"\n\t}\n}',
  );
  expect(withRange('{ "dependencies": {} }', 'a', '^2')).toBe('{ "dependencies": {} }');
});

test('all changes of a remedy are applied together', () => {
  const before = '{\n  "dependencies": {\n    "a": "1",\n    "b": "1"\n  }\n}';
  const after = withChanges(before, [
    { kind: 'range', block: 'dependencies', name: 'a', from: '1', to: '^2' },
    { kind: 'remove', block: 'dependencies', name: 'b' },
    { kind: 'override', parent: 'x', name: 'y', spec: '$a' },
  ]);
  expect(JSON.parse(after)).toEqual({ dependencies: { a: '^2' }, overrides: { x: { y: '$a' } } });
  expect(after).toContain('\n  "overrides"');
  const beside = withChanges('{ "overrides": { "x": "1" } }', [
    { kind: 'override', parent: 'x', name: 'y', spec: '2' },
  ]);
  expect(JSON.parse(beside)).toEqual({ overrides: { x: { '.': '1', y: '2' } } });
});
