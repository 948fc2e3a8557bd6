// The types of the cache: what was fetched, kept for the next time.

/**
 * Opens a cache that lasts, in IndexedDB: all tabs and workers of an origin that open the same name share it. Where there is no
 * IndexedDB (Node, some private windows), it lasts as long as the process.
 *
 * A cache never makes anything fail: what can't be read is fetched, what can't be written (a full disk, a quota) is done without.
 */
export function openCache(options?: CacheOptions): Cache;

/** How to cache. */
export interface CacheOptions {
  /** The name of the database. Default: `espalier`. */
  name?: string;
  /** The most bytes to keep. What wasn't used for longest goes first. Default: 512 MB. */
  maxBytes?: number;
}

/** A store of bytes by key. Any object with these functions will do; what they throw is taken for "not there". */
export interface Cache {
  /** What is kept under a key. */
  get(key: string): Promise<CacheEntry | undefined>;
  /** Keeps something. */
  set(key: string, entry: CacheEntry): Promise<void>;
  /** Forgets something; it turned out to be damaged. */
  delete(key: string): Promise<void>;
  /** Settles when everything that was set before is kept. Optional. */
  flush?(): Promise<void>;
}

/**
 * What is kept. Keys are `document:` and an address with what was asked for, or `tarball:` and an integrity. What needed a token
 * is kept under a key that has the token's hash in it.
 */
export interface CacheEntry {
  bytes: Uint8Array<ArrayBuffer>;
  /** Of a document: its content type. */
  contentType?: string;
  /** Of a document: until when it can be used without asking, in milliseconds since the epoch. */
  freshUntil?: number;
}
