// A cache that lasts as long as the page or the process, for use without IndexedDB.

import type { Cache, CacheEntry } from '../../index.js';

export class MemoryCache implements Cache {
  readonly #entries = new Map<string, CacheEntry>();
  #bytes = 0;

  constructor(readonly maxBytes: number) {}

  async get(key: string): Promise<CacheEntry | undefined> {
    const entry = this.#entries.get(key);
    if (entry) {
      // The most recently used entry is the last.
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return entry;
  }

  async set(key: string, entry: CacheEntry): Promise<void> {
    await this.delete(key);
    if (entry.bytes.byteLength > this.maxBytes) return;
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes.byteLength;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.maxBytes) break;
      await this.delete(oldest);
    }
  }

  async delete(key: string): Promise<void> {
    this.#bytes -= this.#entries.get(key)?.bytes.byteLength ?? 0;
    this.#entries.delete(key);
  }
}
