// Compares the types of the boundary (src/glue.d.ts), which are written by hand, with the module.
// @ts-check

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { install } from 'espalier';
import { startPackages } from './packages.js';

/** Not part of the package's interface. @type {Record<string, any>} */
const exported = await import(new URL('../dist/glue.js', import.meta.url).href);
/** The declarations without comments. They are formatted, so members are indented by two spaces. */
const text = readFileSync(new URL('../src/glue.d.ts', import.meta.url), 'utf8').replace(/\/\*\*[\s\S]*?\*\//g, '');

/** The text between the braces of a declaration. @param {string} kind @param {string} name */
function bodyOf(kind, name) {
  const found = new RegExp(`^export ${kind} ${name}\\b[^{]*\\{\\n([\\s\\S]*?)^\\}`, 'm').exec(text);
  assert.ok(found, name);
  return found[1] ?? '';
}

/** The fields of an interface, and whether each is required. @param {string} name */
function fieldsOf(name) {
  const fields = bodyOf('interface', name).matchAll(/^ {2}(\w+)(\??):/gm);
  return new Map([...fields].map(([, field, optional]) => [field ?? '', optional === '']));
}

/** The number of parameters in the parentheses that begin at `start`. @param {string} list @param {number} start */
function parameters(list, start) {
  let depth = 0;
  let count = 0;
  let last = '';
  for (const character of list.slice(start).replaceAll('=>', '').replace(/\s/g, '')) {
    if ('({[<'.includes(character)) depth++;
    else if (')}]>'.includes(character)) depth--;
    if (depth === 0) return last === '(' ? 0 : count + (last === ',' ? 0 : 1);
    if (depth === 1 && character === ',') count++;
    last = character;
  }
  throw new Error('the parentheses are not closed');
}

/** @param {object} value @param {string} name */
function assertIs(value, name) {
  const fields = fieldsOf(name);
  for (const field of Object.keys(value)) assert.ok(fields.has(field), `${name} has no ${field}`);
  for (const [field, required] of fields) assert.ok(!required || field in value, `${name} lacks ${field}`);
}

test('Rust reads every declared field of an input, and no other', () => {
  for (const [file, struct, name] of /** @type {const} */ ([
    ['input.rs', 'Input', 'RunInput'],
    ['network/mod.rs', 'NetworkOptions', 'NetworkOptions'],
  ])) {
    const source = readFileSync(new URL(`../../crates/espalier-wasm/src/${file}`, import.meta.url), 'utf8');
    const body = new RegExp(`^(?:pub )?struct ${struct} \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(source)?.[1] ?? '';
    const fields = [...body.matchAll(/^ {4}(?:pub )?(\w+):/gm)].map(([, field = '']) =>
      field.replace(/_(\w)/g, (_, letter) => letter.toUpperCase()),
    );
    assert.deepEqual(fields.sort(), [...fieldsOf(name).keys()].sort(), name);
  }
});

test('every declared function and method is exported, with the same number of parameters', () => {
  let declared = 0;
  /** @param {Function | undefined} actual @param {number} count @param {string} name */
  const check = (actual, count, name) => {
    assert.equal(typeof actual, 'function', name);
    assert.equal(actual?.length, count, `parameters of ${name}`);
    declared++;
  };
  for (const found of text.matchAll(/^export (default )?function (\w+)\(/gm)) {
    const name = found[1] ? 'default' : /** @type {string} */ (found[2]);
    check(exported[name], parameters(text, found.index + found[0].length - 1), name);
  }
  for (const [, owner = ''] of text.matchAll(/^export class (\w+)/gm)) {
    const body = bodyOf('class', owner);
    for (const found of body.matchAll(/^ {2}(\w+)\(/gm)) {
      const count = parameters(body, found.index + found[0].length - 1);
      const [, name = ''] = found;
      check(name === 'constructor' ? exported[owner] : exported[owner].prototype[name], count, `${owner}.${name}`);
    }
  }
  assert.ok(declared > 15, `${declared} were found`);
});

test('values that cross the boundary have the declared fields', async () => {
  const { url } = await startPackages({ a: { '1.0.0': { manifest: { bin: 'cli.js' }, files: { 'cli.js': '' } } } });
  // Loads the module.
  await install({ manifest: { dependencies: { a: '*' } }, registry: url }).result;
  const options = {
    ...{
      registry: url,
      registries: {},
      credentials: {},
      preferOffline: false,
      offline: false,
      retries: 0,
      timeout: 1000,
      room: 0,
      asked: 0,
    },
  };
  assertIs(options, 'NetworkOptions');
  const network = new exported.Network(options, undefined, undefined);
  const input = {
    manifest: '{"dependencies":{"a":"*"}}',
    files: {},
    folderName: 'project',
    concurrency: 8,
    events: true,
    remedies: true,
  };
  const omit = { dev: false, optional: false, peer: false };
  const run = { ...input, install: { omit, frozen: false } };
  assertIs(run, 'RunInput');
  /** @type {object[]} */
  const seen = [];
  const outcome = await exported.resolve(
    run,
    network,
    (/** @type {object[]} */ events, /** @type {object} */ traffic) => {
      assertIs(traffic, 'Traffic');
      seen.push(...events);
    },
    new Promise(() => {}),
  );
  assertIs(outcome, 'RunOutcome');
  assert.ok(seen.length > 0);
  const plan = outcome.tree.plan();
  assertIs(plan, 'Plan');
  const [planned] = plan.packages;
  const tarball = await network.fetchTarball(planned.resolved, 'a', planned.integrity);
  assertIs(tarball, 'Tarball');
  assert.ok(tarball.bytes instanceof Uint8Array);
  const refused = await network
    .fetchTarball('file:a.tgz', 'a', undefined)
    .catch((/** @type {unknown} */ reason) => reason);
  assert.deepEqual([refused.code, refused.url], ['EUNSUPPORTED', `${url}/`]);
  for (const object of [outcome.tree, network]) object.free();
});
