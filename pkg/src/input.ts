// Checks a caller's input and brings it into one form, which can be sent to a worker and is read by
// Rust. All defaults that are the package's own, not npm's, are here.

import type { Cache, CacheOptions, ExplainInput, InstallInput, ResolveInput } from '../index.js';
import type { Snapshot } from './cache/snapshot.js';
import { EspalierError } from './errors.js';
import type { RunInput } from './glue.js';

/** A checked input. It is a valid input itself. */
export interface CheckedInput extends RunInput {
  registry?: string | undefined;
  registries: Record<string, string>;
  /** With a slash at the end. */
  via?: string | undefined;
  tokens: Record<string, string>;
  npmrc?: string | undefined;
  environment: Record<string, string>;
  cache?: CacheOptions | Cache | undefined;
  snapshot?: Snapshot | undefined;
  /** In milliseconds since the epoch. */
  snapshotSince?: number | undefined;
  preferOffline?: boolean | undefined;
  offline?: boolean | undefined;
  retries: number;
  timeout: number;
  omit?: ('dev' | 'optional' | 'peer')[] | undefined;
  frozen: boolean;
}

/** Over HTTP/2, a higher number brings nothing. */
const CONCURRENCY = 128;
/** Chromium fails with ERR_INSUFFICIENT_RESOURCES at about 1,300. */
const MOST_CONCURRENCY = 1024;
const RETRIES = 2;
const TIMEOUT = 120_000;

const TEXTS = ['lockfile', 'folderName', 'nodeVersion', 'npmVersion', 'defaultTag', 'npmrc'] as const;
const SWITCHES = [
  ...(['legacyPeerDeps', 'strictPeerDeps', 'force', 'preferDedupe', 'installLinks', 'engineStrict'] as const),
  ...(['events', 'decisions', 'remedies', 'preferOffline', 'offline'] as const),
] as const;
const ALLOWANCES = ['allowGit', 'allowRemote', 'allowFile', 'allowDirectory'] as const;
const OBJECTS = ['files', 'registries', 'platform', 'tokens', 'environment', 'overrides'] as const;
const KNOWN = new Set<string>([
  ...TEXTS,
  ...SWITCHES,
  ...ALLOWANCES,
  ...OBJECTS,
  ...['manifest', 'registry', 'via', 'before', 'cache', 'snapshot', 'snapshotSince'],
  ...['concurrency', 'retries', 'timeout', 'fetch', 'signal'],
]);
const KINDS = ['dev', 'optional', 'peer'];
const PLATFORM = new Set(['os', 'cpu', 'libc']);
const CACHE = new Set(['name', 'maxBytes']);

/** Checks the input of `resolve`. Throws an `EspalierError` that names the invalid field. */
export function checkedInput(input: ResolveInput): CheckedInput {
  return checked(input, KNOWN);
}

/** Checks the input of `install` and `mount`. */
export function checkedInstallInput(input: InstallInput): CheckedInput {
  const result = checked(input, new Set([...KNOWN, 'omit', 'frozen', 'to']));
  check('frozen', 'true or false', input.frozen, (value) => typeof value === 'boolean');
  check(
    'omit',
    'a list of "dev", "optional" and "peer"',
    input.omit,
    (value) => Array.isArray(value) && value.every((kind) => KINDS.includes(kind)),
  );
  return { ...result, omit: input.omit, frozen: input.frozen ?? false };
}

/** Checks the input of `explain`. */
export function checkedExplainInput(input: ExplainInput): CheckedInput {
  const result = checked(input, new Set(['manifest', 'lockfile', 'files', 'folderName', 'signal', 'package']));
  if (typeof input.package !== 'string') throw wrong('package', 'a string', input.package);
  return result;
}

function checked(input: ResolveInput, known: Set<string>): CheckedInput {
  if (typeof input !== 'object' || input === null) throw wrong('the input', 'an object', input);
  onlyKnown('', input, known);
  for (const field of TEXTS) check(field, 'a string', input[field], (value) => typeof value === 'string');
  for (const field of SWITCHES) check(field, 'true or false', input[field], (value) => typeof value === 'boolean');
  for (const field of ALLOWANCES)
    check(field, '"all", "root" or "none"', input[field], (value) => ['all', 'root', 'none'].includes(String(value)));
  for (const field of OBJECTS) check(field, 'an object', input[field], (value) => typeof value === 'object');
  const files = fileMap(input.files);
  return {
    manifest: withOverrides(
      manifestText(input.manifest === undefined ? files['package.json'] : input.manifest),
      input.overrides,
    ),
    lockfile: input.lockfile ?? files['package-lock.json'],
    files,
    folderName: input.folderName ?? 'project',
    registry: input.registry === undefined ? undefined : registryAddress('registry', input.registry),
    registries: scopes(input.registries),
    via: input.via === undefined ? undefined : withSlash(registryAddress('via', input.via)),
    nodeVersion: input.nodeVersion,
    npmVersion: input.npmVersion,
    platform: platform(input.platform),
    legacyPeerDeps: input.legacyPeerDeps,
    strictPeerDeps: input.strictPeerDeps,
    force: input.force,
    preferDedupe: input.preferDedupe,
    installLinks: input.installLinks,
    engineStrict: input.engineStrict,
    defaultTag: input.defaultTag,
    allowGit: input.allowGit,
    allowRemote: input.allowRemote,
    allowFile: input.allowFile,
    allowDirectory: input.allowDirectory,
    before: input.before === undefined ? undefined : moment('before', input.before),
    concurrency: Math.min(whole('concurrency', input.concurrency, 1) ?? CONCURRENCY, MOST_CONCURRENCY),
    retries: whole('retries', input.retries, 0) ?? RETRIES,
    timeout: whole('timeout', input.timeout, 1) ?? TIMEOUT,
    events: input.events ?? true,
    decisions: input.decisions,
    remedies: input.remedies ?? true,
    tokens: texts('tokens', input.tokens, (url) => void registryAddress('tokens', url)),
    npmrc: input.npmrc,
    environment: texts('environment', input.environment),
    cache: cacheOf(input.cache),
    snapshot: snapshotOf(input.snapshot),
    snapshotSince: input.snapshotSince === undefined ? undefined : moment('snapshotSince', input.snapshotSince),
    preferOffline: input.preferOffline,
    offline: input.offline,
    omit: undefined,
    frozen: false,
  };
}

/** The part of the input that a run reads. The rest concerns the network only, or is secret. */
export function forRust(input: CheckedInput, install?: RunInput['install']): RunInput {
  const {
    registry: _registry,
    registries: _registries,
    via: _via,
    tokens: _tokens,
    npmrc: _npmrc,
    environment: _environment,
    cache: _cache,
    snapshot: _snapshot,
    snapshotSince: _snapshotSince,
    preferOffline: _preferOffline,
    offline: _offline,
    retries: _retries,
    timeout: _timeout,
    omit: _omit,
    frozen: _frozen,
    ...rest
  } = input;
  // To Rust, a present field has a value.
  const given = Object.entries({ ...rest, install }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as unknown as RunInput;
}

/** Adds the rules to those of the manifest. An unreadable manifest is reported later. */
function withOverrides(manifest: string, overrides: Record<string, unknown> | undefined): string {
  if (overrides === undefined) return manifest;
  let parsed: { overrides?: object };
  try {
    parsed = JSON.parse(manifest.replace(/^\ufeff/, ''));
  } catch {
    return manifest;
  }
  // npm writes the lockfile with the indentation and the line ends of package.json.
  const [, newline = '\n', indent = ''] = /^\s*\{(\r?\n)([ \t]*)/.exec(manifest) ?? [];
  const text = JSON.stringify({ ...parsed, overrides: { ...parsed.overrides, ...overrides } }, null, indent);
  return `${text}\n`.replaceAll('\n', newline);
}

function snapshotOf(snapshot: Snapshot | URL | undefined): Snapshot | undefined {
  const isSnapshot = (value: unknown) =>
    value instanceof Blob ||
    value instanceof ArrayBuffer ||
    value instanceof Uint8Array ||
    value instanceof URL ||
    (typeof value === 'string' && URL.canParse(value));
  check('snapshot', 'a URL, a Blob, an ArrayBuffer or a Uint8Array', snapshot, isSnapshot);
  return snapshot instanceof URL ? snapshot.href : snapshot;
}

function cacheOf(cache: boolean | CacheOptions | Cache | undefined): CacheOptions | Cache | undefined {
  if (cache === undefined || cache === false) return undefined;
  if (cache === true) return {};
  check('cache', 'true, options, or a cache', cache, (value) => typeof value === 'object');
  if (isCache(cache)) return cache;
  onlyKnown('cache.', cache, CACHE);
  check('cache.name', 'a string', cache.name, (value) => typeof value === 'string');
  check('cache.maxBytes', 'a number', cache.maxBytes, (value) => typeof value === 'number' && value >= 0);
  return cache;
}

/** Whether it is a cache, and not options for one. */
export function isCache(cache: CacheOptions | Cache): cache is Cache {
  return 'get' in cache && 'set' in cache && 'delete' in cache;
}

function texts(
  field: string,
  values: Record<string, string> = {},
  look: (key: string) => void = () => {},
): Record<string, string> {
  for (const [key, value] of Object.entries(values)) {
    look(key);
    check(
      `${field}['${key}']`,
      'a string',
      typeof value === 'string' ? '' : Object.prototype.toString.call(value),
      (text) => text === '',
    );
  }
  return values;
}

function manifestText(manifest: string | object | undefined): string {
  if (manifest === undefined) throw refused('there is no package.json: give `manifest`, or one among the `files`');
  check('manifest', 'text or an object', manifest, (value) => typeof value === 'string' || typeof value === 'object');
  return typeof manifest === 'string' ? manifest : `${JSON.stringify(manifest, null, 2)}\n`;
}

function fileMap(files: Record<string, string> = {}): Record<string, string> {
  const normalised: Record<string, string> = {};
  for (const [path, text] of Object.entries(files)) {
    check(`files['${path}']`, 'a string', text, (value) => typeof value === 'string');
    normalised[normalisedPath(path)] = text;
  }
  return normalised;
}

/**
 * The path relative to the project: `./packages//ui/package.json` is `packages/ui/package.json`.
 */
function normalisedPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else parts.push(part);
  }
  return parts.join('/');
}

function scopes(registries: Record<string, string | URL> = {}): Record<string, string> {
  const entries = Object.entries(registries).map(([scope, url]) => {
    if (!/^@[^/]+$/.test(scope)) throw refused(`\`registries\` is by scope: \`@acme\`, not \`${scope}\``);
    return [scope, registryAddress(`registries['${scope}']`, url)];
  });
  return Object.fromEntries(entries);
}

/** The address of a registry. Refuses parts that don't belong to it. */
export function registryAddress(field: string, value: string | URL): string {
  let url: URL;
  try {
    url = new URL(value);
  } catch {
    throw wrong(field, 'an absolute address', value);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw wrong(field, 'an http: or https: address', url.href);
  // `fetch` refuses such addresses, and a header instead would need a preflight.
  if (url.username || url.password) throw refused(`\`${field}\` can't carry a name or password: \`fetch\` refuses it`);
  url.hash = '';
  url.search = '';
  return url.href;
}

/** The address with a slash at the end, as registries have it. */
export function withSlash(address: string): string {
  return address.endsWith('/') ? address : `${address}/`;
}

function platform(platform: ResolveInput['platform']): RunInput['platform'] {
  if (platform === undefined) return undefined;
  onlyKnown('platform.', platform, PLATFORM);
  check('platform.os', 'a string', platform.os ?? null, (value) => typeof value === 'string');
  check('platform.cpu', 'a string', platform.cpu ?? null, (value) => typeof value === 'string');
  check('platform.libc', 'a string', platform.libc, (value) => typeof value === 'string');
  return { os: platform.os, cpu: platform.cpu, libc: platform.libc };
}

function moment(field: string, value: Date | string | number): number {
  const milliseconds = Math.trunc(new Date(value).getTime());
  if (!Number.isFinite(milliseconds)) throw wrong(field, 'a date', value);
  return milliseconds;
}

function whole(field: string, value: number | undefined, least: number): number | undefined {
  const fits = (number: unknown) =>
    Number.isInteger(number) && (number as number) >= least && (number as number) < 2 ** 31;
  check(field, `a whole number from ${least}`, value, fits);
  return value;
}

/**
 * Refuses unknown fields, because a mistyped option would have no effect. `prefix` is the path of
 * the object.
 */
function onlyKnown(prefix: string, values: object, known: Set<string>): void {
  for (const [field, value] of Object.entries(values)) {
    if (known.has(field) || value === undefined) continue;
    const meant = [...known].find((name) => isTypo(field, name));
    const hint = meant === undefined ? '' : `; did you mean \`${prefix}${meant}\`?`;
    throw refused(`there is no option \`${prefix}${field}\`${hint}`);
  }
}

/**
 * Whether two names differ only by case, punctuation, or one inserted, removed, replaced or
 * transposed letter.
 */
function isTypo(typed: string, name: string): boolean {
  const [a, b] = [typed, name].map((text) => text.toLowerCase().replace(/[^a-z]/g, '')) as [string, string];
  let start = 0;
  while (start < a.length && a[start] === b[start]) start++;
  let [end, other] = [a.length, b.length];
  while (end > start && other > start && a[end - 1] === b[other - 1]) [end, other] = [end - 1, other - 1];
  const [left, right] = [a.slice(start, end), b.slice(start, other)];
  return Math.max(left.length, right.length) <= 1 || (left.length === 2 && left === `${right[1]}${right[0]}`);
}

/** Checks a field, unless it is `undefined`. */
function check(field: string, expected: string, value: unknown, fits: (value: unknown) => boolean): void {
  if (value !== undefined && (value === null || !fits(value))) throw wrong(field, expected, value);
}

function wrong(field: string, expected: string, value: unknown): EspalierError {
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return refused(`${field === 'the input' ? field : `\`${field}\``} has to be ${expected}, not ${shown}`);
}

function refused(message: string): EspalierError {
  return new EspalierError({ code: 'EINPUT', message });
}
