// Interprets an .npmrc, for fields that the input doesn't have. Rust parses the format.

import { EspalierError } from './errors.js';
import { readNpmrc } from './glue.js';
import { type CheckedInput, registryAddress } from './input.js';

/** Settings by key. The value of a list is an array. */
type Settings = Map<string, string | string[]>;

const SWITCHES = {
  'legacy-peer-deps': 'legacyPeerDeps',
  'strict-peer-deps': 'strictPeerDeps',
  force: 'force',
  'prefer-dedupe': 'preferDedupe',
  'install-links': 'installLinks',
  'engine-strict': 'engineStrict',
  'prefer-offline': 'preferOffline',
  offline: 'offline',
} as const;
const ALLOWANCES = {
  'allow-git': 'allowGit',
  'allow-remote': 'allowRemote',
  'allow-file': 'allowFile',
  'allow-directory': 'allowDirectory',
} as const;
const KINDS = ['dev', 'optional', 'peer'] as const;

/** The settings of an input's .npmrc files. */
export interface Configured {
  /** The input with the settings. */
  input: CheckedInput;
  /** Settings such as `//host/path/:_authToken`, for Rust, which decides where they may be sent. */
  credentials: Record<string, string>;
  replaceRegistryHost: string | undefined;
}

export function withNpmrc(input: CheckedInput): Configured {
  const given = read(input.npmrc, input.environment);
  refuseUnscoped(given);
  // In the address of a registry, a variable would be sent to whomever the project names.
  const settings: Settings = new Map([...read(input.files['.npmrc'], {}), ...given]);
  const tokens = Object.entries(input.tokens).map(([address, token]): [string, string] => {
    const { host, pathname } = new URL(address);
    return [`//${host}${pathname.replace(/\/*$/, '/')}:_authToken`, token];
  });
  // The project's own credentials are ignored, because a project must not decide where a token is
  // sent.
  const set = [...given].filter(([key]) => key.startsWith('//'));
  const credentials = Object.fromEntries([...set.map(([key, value]) => [key, textOf(value)]), ...tokens]);
  const replaced = settings.get('replace-registry-host');
  return {
    input: merged(input, settings),
    credentials,
    replaceRegistryHost: replaced === undefined ? undefined : textOf(replaced),
  };
}

function read(text: string | undefined, environment: Record<string, string>): Settings {
  return new Map(text === undefined ? [] : readNpmrc(text, (name: string) => environment[name]));
}

function merged(input: CheckedInput, settings: Settings): CheckedInput {
  const result = { ...input, registries: { ...input.registries } };
  const text = (key: string) => {
    const value = settings.get(key);
    return value === undefined ? undefined : textOf(value);
  };
  result.registry ??= optional(text('registry'), (url) => registryAddress('registry', url));
  for (const [key, value] of settings) {
    const scope = /^(@[^/]+):registry$/.exec(key)?.[1];
    if (scope) result.registries[scope] ??= registryAddress(key, textOf(value));
  }
  for (const [key, field] of Object.entries(SWITCHES))
    result[field] ??= optional(text(key), (value) => !['false', 'null', '0', ''].includes(value));
  for (const [key, field] of Object.entries(ALLOWANCES)) result[field] ??= allowance(key, text(key));
  result.defaultTag ??= text('tag');
  const before = text('before');
  if (result.before === undefined && before !== undefined) {
    result.before = Date.parse(before);
    if (Number.isNaN(result.before)) throw refused(`\`before\` of the .npmrc is not a date: ${before}`);
  }
  const omit = [settings.get('omit') ?? []].flat().flatMap((kinds) => kinds.split(','));
  const include = [settings.get('include') ?? []].flat().flatMap((kinds) => kinds.split(','));
  result.omit ??= KINDS.filter((kind) => omit.includes(kind) && !include.includes(kind));
  return result;
}

function refuseUnscoped(settings: Settings): void {
  const key = ['_authToken', '_auth', '_password', 'username'].find((key) => settings.has(key));
  if (key)
    throw refused(
      `a credential that names no registry could be sent to any: write \`//host/:${key}=…\` in place of \`${key}=…\``,
    );
}

function allowance(key: string, value: string | undefined): 'all' | 'root' | 'none' | undefined {
  if (value === undefined || value === 'all' || value === 'root' || value === 'none') return value;
  throw refused(`\`${key}\` of the .npmrc has to be "all", "root" or "none", not "${value}"`);
}

function optional<T>(value: string | undefined, make: (value: string) => T): T | undefined {
  return value === undefined ? undefined : make(value);
}

function textOf(value: string | string[]): string {
  return Array.isArray(value) ? (value.at(-1) ?? '') : value;
}

function refused(message: string): EspalierError {
  return new EspalierError({ code: 'EINPUT', message });
}
