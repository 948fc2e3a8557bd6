// Names the differences between two projects side by side, and converts the second one to text for
// a link.

import { FLAGS, USUAL, type Settings } from './address';

export interface Sides {
  readonly text: string;
  readonly registry: string;
  readonly settings: Settings;
  readonly lockfile?: string | undefined;
}

/**
 * The differences of B: `package.json`, `--force`, `as of 2024-01-01`. Empty if both are the same.
 */
export function differing(a: Sides, b: Sides): string[] {
  const flags = FLAGS.filter(([key]) => a.settings[key] !== b.settings[key]).map(([key, word]) =>
    b.settings[key] ? `--${word}` : `no --${word}`,
  );
  const { before, platform, node } = b.settings;
  return [
    ...(a.text === b.text ? [] : ['package.json']),
    ...(a.lockfile === b.lockfile ? [] : [b.lockfile === undefined ? 'no lockfile' : 'lockfile']),
    ...(a.registry === b.registry ? [] : ['registry']),
    ...flags,
    ...(a.settings.before === before ? [] : [`as of ${before ?? 'today'}`]),
    ...(a.settings.platform === platform ? [] : [platform ?? 'linux-x64']),
    ...(a.settings.node === node ? [] : [node ? `Node ${node}` : 'the usual Node']),
  ];
}

/** The text for a link, without the lockfile, which is too long. */
export function besideText({ text, registry, settings }: Sides): string {
  return JSON.stringify({ text, registry, settings });
}

/** Parses that text. Returns undefined for any other, because links are untrusted. */
export function besideOf(content: string): Sides | undefined {
  try {
    const { text, registry, settings } = JSON.parse(content) as Partial<Sides>;
    if (typeof text !== 'string' || typeof registry !== 'string' || typeof settings !== 'object') return undefined;
    const words = Object.entries({ ...USUAL, ...settings }).filter(([key, value]) =>
      key in USUAL ? typeof value === 'boolean' : WORDS.has(key) && typeof value === 'string',
    );
    return { text, registry, settings: { ...USUAL, ...Object.fromEntries(words) } };
  } catch {
    return undefined;
  }
}

const WORDS = new Set(['before', 'platform', 'node']);
