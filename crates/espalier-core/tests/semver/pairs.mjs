// Prints verdicts of node-semver, one JSON array on each line. ../semver_agreement.rs replays them.
//
//   node pairs.mjs --semver <folder of the semver package> [--count n] [--seed n] [--corpus <folder of packuments>]
//
// The same arguments print the same lines; `pairs.jsonl` is what --count 4500 prints. With
// --corpus, ranges and versions come from those packuments instead of from the generator. The
// verdicts, by their first element (flags: 1 loose, 2 includePrerelease):
//   ["v", text, flags, SemVer.version | null]
//   ["c", version, version, flags, semver.compare, semver.compareBuild | null]
//   ["r", range, flags, semver.validRange | null, semver.minVersion | null]
//   ["s", version, range, flags, semver.satisfies]
//   ["i", range, range, flags, semver.intersects]
//   ["u", range, range, flags, semver.subset]
//   ["m", [version...], range, flags, semver.maxSatisfying], never with includePrerelease
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    semver: { type: 'string' },
    count: { type: 'string', default: '4000' },
    seed: { type: 'string', default: '1' },
    corpus: { type: 'string' },
  },
});
if (!options.semver) {
  console.error('pairs.mjs: --semver must name the folder of the semver package');
  process.exit(2);
}
const semver = createRequire(import.meta.url)(resolve(options.semver));

// Mulberry32: small, seeded, and the same everywhere.
let state = Number(options.seed) >>> 0;
const random = () => {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
};
const below = (limit) => Math.floor(random() * limit);
const chance = (probability) => random() < probability;
const pick = (list) => list[below(list.length)];
const many = (least, most, make) => Array.from({ length: least + below(most - least + 1) }, make);

const WHITESPACE = [' ', ' ', ' ', '  ', '\t', '\n', '\u00a0', '\u2028', '\ufeff', '\u3000', '\u0085', '\u180e'];
const JUNK = [...'xXv=<>~^*|.-+ 0129aZ', '||', ' - ', '~>', '>=', '<=', ' ', 'é', '💥', 'latest', 'file:', '#', '_'];
const HUGE = [
  '9007199254740990',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '18446744073709551616',
  '99999999999999999999',
  '999999999999999934463',
  '999999999999999934464',
  '999999999999999999999',
  '1000000000000000000000',
  '12345678901234567890123',
  '98765432109876543210987654321',
  '1' + '0'.repeat(30),
  '9'.repeat(256),
  '9'.repeat(257),
  '9'.repeat(258),
  '0'.repeat(15) + '7',
  '0'.repeat(255) + '7',
  '0'.repeat(256) + '7',
  '20230101120000123',
  '20230101120000124',
];
const WORDS = ['alpha', 'beta', 'rc', 'x', 'X', '-', '--', '0a', '00', '01', 'a-b', '-1', 'v', 'dev', 'canary'];
const LONG = [
  'a'.repeat(245),
  'a'.repeat(250),
  'a'.repeat(251),
  'a'.repeat(252),
  '1'.repeat(250) + 'a',
  'a.'.repeat(120) + 'a',
];

const huge = () => (chance(0.3) ? many(14, 40, () => below(10)).join('') : pick(HUGE));
const number = () =>
  chance(0.9) ? String(below(4)) : chance(0.4) ? String(below(100)) : chance(0.5) ? '0' + below(12) : huge();
const wildcard = () => (chance(0.25) ? pick(['x', 'X', '*']) : number());
const identifier = () =>
  chance(0.45) ? String(below(4)) : chance(0.9) ? pick(WORDS) : chance(0.6) ? huge() : pick(LONG);
const identifiers = () => many(1, 3, identifier).join('.');
const prerelease = () =>
  chance(0.65) ? '' : (chance(0.9) ? '-' : chance(0.5) ? '' : '--') + identifiers() + (chance(0.03) ? '.' : '');
const build = () => (chance(0.93) ? '' : '+' + identifiers());
const space = () => (chance(0.85) ? '' : pick(WHITESPACE));
const prefix = () => (chance(0.9) ? '' : many(1, 3, () => pick(['v', '=', ' '])).join(''));

/** Now and then changes a text where nobody would. */
const spoil = (text) => {
  while (chance(0.06)) {
    const at = below(text.length + 1);
    text = text.slice(0, at) + (chance(0.8) ? pick(JUNK) : '') + text.slice(at + below(2));
  }
  // UTF-8 cannot express a lone surrogate.
  return text.isWellFormed() ? text : text.toWellFormed();
};

const plainVersion = () => many(3, 3, number).join('.') + prerelease() + build();
const version = () =>
  spoil(chance(0.97) ? space() + prefix() + plainVersion() + space() : many(1, 4, number).join('.'));
const partial = () =>
  chance(0.5) ? plainVersion() : many(1, 3, wildcard).join('.') + (chance(0.1) ? prerelease() : '') + build();
const OPERATORS = [
  '',
  '',
  '',
  '^',
  '^',
  '~',
  '~>',
  '>',
  '>=',
  '>=',
  '<',
  '<',
  '<=',
  '=',
  '==',
  '>==',
  '~=',
  '^>=',
  '><',
];
const comparator = () => pick(OPERATORS) + space() + prefix() + partial();
const alternative = () => {
  if (chance(0.12)) return prefix() + partial() + ' - ' + prefix() + partial();
  if (chance(0.04))
    return pick(['', '*', ' ', 'x', '^*', '~*', '~x', '^x', '<0.0.0-0', '>=0.0.0', '>=0.0.0-0', 'latest', '>=*', '<*']);
  return many(1, 3, comparator).join(chance(0.9) ? ' ' : pick(WHITESPACE));
};
const soup = () => many(1, 10, () => pick(chance(0.5) ? JUNK : chance(0.5) ? OPERATORS : WORDS)).join('');
const range = () =>
  chance(0.06)
    ? soup().toWellFormed()
    : spoil(space() + many(1, chance(0.7) ? 1 : 3, alternative).join(pick(['||', ' || ', ' ||'])) + space());

/** Generated ranges, and versions of which half have numbers that one of the ranges mentions. */
function* generated() {
  for (;;) {
    const ranges = many(2, 4, range);
    const near = () => {
      const mentioned = pick(ranges).match(/\d+(?:\.\d+){0,2}/g) ?? ['0'];
      const numbers = pick(mentioned).split('.');
      if (chance(0.4)) numbers[below(numbers.length)] = number();
      while (numbers.length < 3) numbers.push(number());
      return numbers.join('.') + prerelease() + build();
    };
    yield { versions: many(2, 5, () => (chance(0.5) ? near() : version())), ranges };
  }
}

/**
 * The real versions of each packument with the ranges that they and others depend on packages by.
 */
function* recorded(folder) {
  const packuments = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort();
  for (;;) {
    const text = readFileSync(join(folder, pick(packuments)), 'utf8');
    const { versions } = JSON.parse(text);
    const manifests = Object.values(versions ?? {});
    const ranges = manifests
      .slice(-40)
      .flatMap((manifest) =>
        [manifest.dependencies, manifest.peerDependencies, manifest.optionalDependencies, manifest.engines]
          .flatMap((dependencies) => Object.values(dependencies ?? {}))
          .filter((spec) => typeof spec === 'string' && spec.isWellFormed()),
      );
    if (ranges.length === 0) continue;
    const names = Object.keys(versions);
    for (let round = 0; round < 10; round++) {
      const own = pick(names);
      const about = [`^${own}`, `~${own}`, `>=${pick(names)} <${own}`, `${pick(names)} || ^${own}`];
      yield { versions: many(2, 5, () => pick(names)), ranges: [...many(2, 3, () => pick(ranges)), pick(about)] };
    }
  }
}

/**
 * Nothing where node-semver calls versions equal that it prints differently: it can't sort those
 * consistently.
 */
const compareBuild = (left, right, asked) => {
  const print = (text) => [semver.parse(text, asked).version, ...semver.parse(text, asked).build].join('+');
  return semver.compareBuild(left, right, asked) || (print(left) === print(right) ? 0 : null);
};

const attempt = (ask) => {
  try {
    return ask();
  } catch {
    return undefined;
  }
};

const lines = [];
const count = Number(options.count);
const source = options.corpus ? recorded(options.corpus) : generated();
while (lines.length < count) {
  const { versions, ranges } = source.next().value;
  const flags = chance(0.6) ? 1 : below(4);
  const asked = { loose: (flags & 1) !== 0, includePrerelease: (flags & 2) !== 0 };
  const record = (...verdict) => {
    // If node-semver throws, there is no verdict.
    if (!verdict.includes(undefined)) lines.push(JSON.stringify(verdict));
  };
  for (const text of versions) {
    const parsed = semver.parse(text, asked);
    record('v', text, flags, parsed?.version);
  }
  const valid = versions.filter((text) => semver.valid(text, asked));
  if (valid.length > 1) {
    const [left, right] = [pick(valid), pick(valid)];
    record('c', left, right, flags, semver.compare(left, right, asked), compareBuild(left, right, asked));
  }
  for (const text of ranges) {
    const normal = semver.validRange(text, asked);
    record(
      'r',
      text,
      flags,
      normal,
      normal === null ? null : attempt(() => semver.minVersion(text, asked)?.version ?? null),
    );
    for (const candidate of versions) record('s', candidate, text, flags, semver.satisfies(candidate, text, asked));
    if (!asked.includePrerelease) record('m', versions, text, flags, semver.maxSatisfying(versions, text, asked));
  }
  const readable = ranges.filter((text) => semver.validRange(text, asked) !== null);
  for (let pair = 0; readable.length > 0 && pair < 3; pair++) {
    const [left, right] = [pick(readable), pick(readable)];
    record(
      'i',
      left,
      right,
      flags,
      attempt(() => semver.intersects(left, right, asked)),
    );
    record(
      'u',
      left,
      right,
      flags,
      attempt(() => semver.subset(left, right, asked)),
    );
  }
}
process.stdout.write(lines.slice(0, count).join('\n') + '\n');
