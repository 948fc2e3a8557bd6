// Many entries in one record of a database. A record costs Chromium two to three milliseconds, whatever its size, so thousands of
// documents of a few kilobytes each take longer to read one by one than to fetch.

import type { CacheEntry } from '../../index.js';

/** What is known of a pack without reading it. */
export interface PackRecord {
  id: number;
  /** Bytes of the pack, those of entries that are gone included. */
  size: number;
  /** When it was last used, in milliseconds since the epoch, to the hour. */
  used: number;
  entries: PackedEntry[];
}

/** Key, offset, length, content type, and until when it is fresh. An array, because its fields' names would outweigh it. */
export type PackedEntry = [key: string, offset: number, length: number, contentType?: string, freshUntil?: number];

/** A pack that is not stored yet. */
export interface Pack {
  bytes: Uint8Array<ArrayBuffer>;
  entries: PackedEntry[];
}

/** Puts entries into packs of at most so many bytes; an entry that is longer gets one of its own. */
export function packed(batch: Map<string, CacheEntry>, most: number): Pack[] {
  const packs: [string, CacheEntry][][] = [];
  // Documents are read by a resolution, and tarballs by an installation: neither shall load what the other needs.
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

/** An entry of a pack's content; `undefined` where the content is too short to hold it. */
export function unpacked(
  content: Uint8Array<ArrayBuffer>,
  [, offset, length, contentType, freshUntil]: PackedEntry,
): CacheEntry | undefined {
  if (offset + length > content.byteLength) return undefined;
  return {
    // A copy: whoever gets it may give it away to another thread.
    bytes: content.slice(offset, offset + length),
    ...(contentType === undefined ? {} : { contentType }),
    ...(freshUntil === undefined ? {} : { freshUntil }),
  };
}

/** Bytes of the entries that a pack still holds. */
export function live(record: PackRecord): number {
  return record.entries.reduce((sum, [, , length]) => sum + length, 0);
}
