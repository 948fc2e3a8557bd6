// Records how npm's `diff` applies valid and invalid patches: node tests/oracle/patches.mjs NPM >
// crates/espalier-package/src/patch/cases.json
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const require = createRequire(resolve(process.argv[2], 'package.json'));
const { applyPatch, createTwoFilesPatch, parsePatch } = require('diff');

let state = 7;
const below = (limit) => {
  state = (state * 1103515245 + 12345) % 2147483648;
  return Math.floor((state / 2147483648) * limit);
};
const one = (list) => list[below(list.length)];
const words = ['a', 'b', 'c', '', ' ', '-x', '+y', '\\ z', '@@ q'];

const text = () => {
  const newline = one(['\n', '\n', '\r\n']);
  const lines = Array.from({ length: below(12) }, () => one(words));
  return lines.join(newline) + one([newline, newline, '']);
};

const changed = (source) => {
  const lines = source.split('\n');
  for (let count = below(3) + 1; count > 0; count--) {
    const at = below(lines.length + 1);
    one([() => lines.splice(at, 1), () => lines.splice(at, 0, one(words)), () => lines.splice(at, 1, one(words))])();
  }
  return lines.join('\n');
};

const outcome = (source, patch) => {
  try {
    const [first] = parsePatch(patch);
    const result = first ? applyPatch(source, first, { fuzzFactor: 0 }) : false;
    return result === false ? null : result;
  } catch {
    return null;
  }
};

const cases = [];
while (cases.length < 400) {
  const source = text();
  let patch = createTwoFilesPatch('a/f', 'b/f', source, changed(source), '', '', { context: below(4) });
  if (below(3) === 0) patch = changed(patch);
  if (below(6) === 0) patch = patch.replaceAll('\n', '\r\n');
  const target = below(2) ? source : one([() => changed(source), () => `new\n${source}`, () => text()])();
  // npm's parser reads an invalid number as NaN. That behaviour is not reproduced.
  if (patch.split('\n').some((line) => /^@@(?! -\d+(,\d+)? \+\d+(,\d+)? @@)/.test(line))) continue;
  cases.push({ source: target, patch, result: outcome(target, patch) });
}
process.stdout.write(`[\n${cases.map((one) => JSON.stringify(one)).join(',\n')}\n]\n`);
