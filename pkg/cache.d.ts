// The types of the cache.

/**
 * Opens a persistent cache in IndexedDB. All tabs and workers of an origin that open the same name
 * share it. Without IndexedDB (Node, some private windows), it lasts as long as the process.
 *
 * A cache never causes a failure. An unreadable entry is fetched again, and an entry that can't be
 * written (a full disk, a quota) is not kept.
 */
export function openCache(options?: CacheOptions): Cache;

/** The options of a cache. */
export interface CacheOptions {
  /** The name of the database. Default: `espalier`. */
  name?: string;
  /**
   * The maximum number of bytes. Entries that were not used for longest are removed first. Default:
   * 512 MB.
   */
  maxBytes?: number;
}

/**
 * A store of bytes by key. Any object with these functions is accepted. If one throws, the entry
 * counts as missing.
 */
export interface Cache {
  /** Returns the entry of a key. */
  get(key: string): Promise<CacheEntry | undefined>;
  /** Keeps an entry. */
  set(key: string, entry: CacheEntry): Promise<void>;
  /** Removes a damaged entry. */
  delete(key: string): Promise<void>;
  /** Settles when all earlier entries are kept. Optional. */
  flush?(): Promise<void>;
}

/**
 * An entry. Keys are `document:` and an address with the requested form, or `tarball:` and an
 * integrity. The key of a document that needed a token contains the token's hash, and that of one from
 * a proxy (`via`) the proxy's address.
 */
export interface CacheEntry {
  bytes: Uint8Array<ArrayBuffer>;
  /** The content type of a document. */
  contentType?: string;
  /** Until when a document can be used without asking, in milliseconds since the epoch. */
  freshUntil?: number;
}
