// Subresource integrity of tarballs, hashed by `crypto.subtle`. Of several hashes only the strongest kind counts, as the standard has
// it, and any of that kind may match. What can't be read is an error and never means "anything goes".

import { NetFailure } from './failure.js';

/** Strongest first. */
const ALGORITHMS = { sha512: 'SHA-512', sha384: 'SHA-384', sha256: 'SHA-256', sha1: 'SHA-1' } as const;
type Algorithm = keyof typeof ALGORITHMS;

/** Verifies bytes, and returns their own `sha512-…`. */
export async function verified(bytes: Uint8Array<ArrayBuffer>, expected: string | undefined, url: string): Promise<string> {
  if (globalThis.crypto?.subtle === undefined) {
    const message = "its integrity can't be checked: browsers only offer crypto.subtle on pages loaded over https or from localhost";
    throw new NetFailure({ code: 'EUNSUPPORTED', message, url });
  }
  const own = await hash(bytes, 'sha512');
  if (expected === undefined) return own;
  const strongest = strongestOf(expected);
  if (strongest === undefined) {
    throw new NetFailure({ code: 'EINTEGRITY', message: `the integrity ${expected} has no known algorithm`, url });
  }
  const actual = strongest.algorithm === 'sha512' ? own : await hash(bytes, strongest.algorithm);
  if (strongest.hashes.includes(actual)) return own;
  const message = `the tarball ${url} is not the expected one: its integrity is ${actual}, but ${expected} was expected`;
  throw new NetFailure({ code: 'EINTEGRITY', message, url, againAfter: 0 });
}

function strongestOf(integrity: string): { algorithm: Algorithm; hashes: string[] } | undefined {
  const hashes = integrity.split(/\s+/).map((hash) => hash.split('?')[0]!);
  for (const algorithm of Object.keys(ALGORITHMS) as Algorithm[]) {
    const ofAlgorithm = hashes.filter((hash) => hash.startsWith(`${algorithm}-`));
    if (ofAlgorithm.length > 0) return { algorithm, hashes: ofAlgorithm };
  }
  return undefined;
}

async function hash(bytes: Uint8Array<ArrayBuffer>, algorithm: Algorithm): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest(ALGORITHMS[algorithm], bytes));
  // `btoa` wants each byte as the character of that number.
  return `${algorithm}-${btoa(String.fromCharCode(...digest))}`;
}
