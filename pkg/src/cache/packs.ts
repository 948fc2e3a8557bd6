// Packs of many entries in one record of a database. A record takes Chromium two to three
// milliseconds, whatever its size, so reading thousands of small documents one by one would take
// longer than fetching them.

import type { CacheEntry } from '../../index.js';

/** The facts about a pack without its content. */
export interface PackRecord {
  id: number;
  /** The bytes of the pack, including removed entries. */
  size: number;
  /** The last use, in milliseconds since the epoch, to the hour. */
  used: number;
  entries: PackedEntry[];
}

/**
 * Key, offset, length, content type, and until when it is fresh. It is an array, because the names
 * of fields would be longer than their values.
 */
export type PackedEntry = [key: string, offset: number, length: number, contentType?: string, freshUntil?: number];

/** A pack that is not stored yet. */
export interface Pack {
  bytes: Uint8Array<ArrayBuffer>;
  entries: PackedEntry[];
}

/**
 * Puts entries into packs of at most this number of bytes. A longer entry gets a pack of its own.
 */
export function packed(batch: Map<string, CacheEntry>, most: number): Pack[] {
  const packs: [string, CacheEntry][][] = [];
  // A resolution reads documents, and an installation reads tarballs. Neither should load what the
  // other needs.
  for (const ofDocuments of [true, false]) {
    let last: [string, CacheEntry][] | undefined;
    let size = 0;
    for (const [key, entry] of batch) {
      if (key.startsWith('document:') !== ofDocuments) continue;
      size += entry.bytes.byteLength;
      if (!last || size > most) {
        last = [];
        packs.push(last);
        size = entry.bytes.byteLength;
      }
      last.push([key, entry]);
    }
  }
  return packs.map(joined);
}

function joined(entries: [string, CacheEntry][]): Pack {
  const bytes = new Uint8Array(entries.reduce((sum, [, entry]) => sum + entry.bytes.byteLength, 0));
  let offset = 0;
  return {
    bytes,
    entries: entries.map(([key, entry]) => {
      const { byteLength } = entry.bytes;
      bytes.set(entry.bytes, offset);
      offset += byteLength;
      return [key, offset - byteLength, byteLength, entry.contentType, entry.freshUntil];
    }),
  };
}

/** An entry of a pack's content. `undefined` if the content is too short. */
export function unpacked(
  content: Uint8Array<ArrayBuffer>,
  [, offset, length, contentType, freshUntil]: PackedEntry,
): CacheEntry | undefined {
  if (offset + length > content.byteLength) return undefined;
  return {
    // This is a copy, because the caller may transfer it to another thread.
    bytes: content.slice(offset, offset + length),
    ...(contentType === undefined ? {} : { contentType }),
    ...(freshUntil === undefined ? {} : { freshUntil }),
  };
}

/** The bytes of the entries that a pack still holds. */
export function live(record: PackRecord): number {
  return record.entries.reduce((sum, [, , length]) => sum + length, 0);
}
