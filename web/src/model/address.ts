// The state of the playground in the part of the address after `#`. Defaults are left out, so the
// address of the start page is empty.

import { isViewName, type ViewName } from './views';

export interface Address {
  readonly sample?: string | undefined;
  /** The packed text of a package.json, unless it is a sample's. */
  readonly manifest?: string | undefined;
  /** `embedded`, `public`, or an address. Absent for the project's default. */
  readonly registry?: string | undefined;
  readonly settings: Settings;
  /** The second project, packed. */
  readonly beside?: string | undefined;
  readonly view?: ViewName | undefined;
  /** The location of the selected package. */
  readonly at?: string | undefined;
  readonly query: string;
}

/** The settings that change the outcome, beside the manifest and the registry. */
export interface Settings {
  readonly legacyPeerDeps: boolean;
  readonly strictPeerDeps: boolean;
  readonly force: boolean;
  readonly preferDedupe: boolean;
  /** A day, `2025-06-01`. Later versions are ignored. */
  readonly before?: string | undefined;
  /** Such as `darwin-arm64`. Absent for Linux on x64. */
  readonly platform?: string | undefined;
  readonly node?: string | undefined;
}

export const USUAL: Settings = { legacyPeerDeps: false, strictPeerDeps: false, force: false, preferDedupe: false };

/** The default version of Node.js. */
export const NODE = '20.20.2';

/** npm's names of the switches. */
export const FLAGS = [
  ['legacyPeerDeps', 'legacy-peer-deps'],
  ['strictPeerDeps', 'strict-peer-deps'],
  ['force', 'force'],
  ['preferDedupe', 'prefer-dedupe'],
] as const satisfies readonly (readonly [keyof Settings, string])[];

const WORDS = ['before', 'platform', 'node'] as const satisfies readonly (keyof Settings)[];

export function parseAddress(hash: string): Address {
  const words = new URLSearchParams(hash.replace(/^#/, ''));
  const view = words.get('view');
  return {
    sample: words.get('sample') ?? undefined,
    manifest: words.get('manifest') ?? undefined,
    registry: words.get('registry') || undefined,
    settings: {
      ...USUAL,
      ...Object.fromEntries(FLAGS.map(([key, word]) => [key, words.has(word)])),
      ...Object.fromEntries(WORDS.map((word) => [word, words.get(word) || undefined])),
    },
    beside: words.get('beside') || undefined,
    view: isViewName(view) ? view : undefined,
    at: words.get('at') ?? undefined,
    query: words.get('q') ?? '',
  };
}

export function formatAddress(address: Address): string {
  const words = new URLSearchParams();
  if (address.sample) words.set('sample', address.sample);
  else if (address.manifest) words.set('manifest', address.manifest);
  if (address.registry) words.set('registry', address.registry);
  for (const [key, word] of FLAGS) if (address.settings[key]) words.set(word, '');
  for (const word of WORDS) if (address.settings[word]) words.set(word, address.settings[word]);
  if (address.beside) words.set('beside', address.beside);
  if (address.view) words.set('view', address.view);
  if (address.at) words.set('at', address.at);
  if (address.query) words.set('q', address.query);
  // Slashes, colons and at signs are allowed after `#`, and easier to read as they are.
  return words
    .toString()
    .replaceAll('%2F', '/')
    .replaceAll('%3A', ':')
    .replaceAll('%40', '@')
    .replace(/=(?=&|$)/g, '');
}
