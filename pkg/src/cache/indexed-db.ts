// A cache in IndexedDB, which all tabs and workers of an origin share.
//
// Entries are written in packs, and the list of their contents is read once per run. If the
// database can't be opened (private windows of some browsers) or the quota is used up, fewer
// entries are kept, and nothing fails.

import type { Cache, CacheEntry } from '../../index.js';
import { Database } from './database.js';
import { live, packed, unpacked, type Pack, type PackedEntry, type PackRecord } from './packs.js';

const HOUR = 3_600_000;
/** How long writes are collected, in milliseconds. A tab that is closed loses them. */
const BATCH_EVERY = 1000;
/** The maximum number of collected bytes. */
const BATCH_BYTES = 8 * 1024 * 1024;
/** The size of a pack, unless one entry is larger. */
const PACK_BYTES = 2 * 1024 * 1024;
/** The number of packs in memory while a run reads them. */
const PACKS_IN_MEMORY = 16;

/** The entries, as far as this instance knows. Other tabs may have written since. */
class Index {
  readonly records = new Map<number, PackRecord>();
  readonly #places = new Map<string, { record: PackRecord; entry: PackedEntry }>();

  constructor(records: PackRecord[]) {
    for (const record of records) this.add(record);
  }

  /** Adds a record. It supersedes the same keys in older packs. */
  add(record: PackRecord): void {
    this.records.set(record.id, record);
    for (const entry of record.entries) this.#places.set(entry[0], { record, entry });
  }

  find(key: string) {
    return this.#places.get(key);
  }

  /** Removes an entry from its record and returns the record. */
  forget(key: string): PackRecord | undefined {
    const place = this.#places.get(key);
    if (!place) return undefined;
    this.#places.delete(key);
    place.record.entries = place.record.entries.filter((entry) => entry !== place.entry);
    return place.record;
  }

  remove(record: PackRecord): void {
    this.records.delete(record.id);
    for (const [key] of record.entries) if (this.#places.get(key)?.record === record) this.#places.delete(key);
  }

  get bytes(): number {
    return [...this.records.values()].reduce((sum, { size }) => sum + size, 0);
  }
}

export class IndexedDbCache implements Cache {
  readonly #name: string;
  readonly #maxBytes: number;
  #opening: Promise<Database | undefined> | undefined;
  #indexing: Promise<Index | undefined> | undefined;
  #contents = new Map<number, Promise<Uint8Array<ArrayBuffer> | undefined>>();
  #pending = new Map<string, CacheEntry>();
  #pendingBytes = 0;
  /** Entries that are being written and aren't in a pack yet. */
  #leaving = new Map<string, CacheEntry>();
  #touched = new Set<PackRecord>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(name: string, maxBytes: number) {
    this.#name = name;
    this.#maxBytes = maxBytes;
  }

  async get(key: string): Promise<CacheEntry | undefined> {
    const unwritten = this.#pending.get(key) ?? this.#leaving.get(key);
    if (unwritten) return unwritten;
    const place = (await this.#index())?.find(key);
    if (!place) return undefined;
    const { record, entry } = place;
    const content = await this.#content(record);
    if (!content) return undefined;
    if (Date.now() - record.used > HOUR) {
      record.used = Date.now();
      this.#touched.add(record);
    }
    return unpacked(content, entry);
  }

  async set(key: string, entry: CacheEntry): Promise<void> {
    if (entry.bytes.byteLength > this.#maxBytes) return;
    this.#pendingBytes += entry.bytes.byteLength - (this.#pending.get(key)?.bytes.byteLength ?? 0);
    this.#pending.set(key, entry);
    if (this.#pendingBytes >= BATCH_BYTES) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), BATCH_EVERY);
  }

  async delete(key: string): Promise<void> {
    this.#pendingBytes -= this.#pending.get(key)?.bytes.byteLength ?? 0;
    this.#pending.delete(key);
    this.#writing = this.#writing.then(() => this.#forget([key])).catch(() => {});
    await this.#writing;
  }

  async flush(): Promise<void> {
    this.#write();
    await this.#writing;
    // At the end of the run, its memory is released, and the next run sees what other tabs have
    // written.
    this.#indexing = undefined;
    this.#contents.clear();
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#pending;
    const touched = this.#touched;
    if (batch.size === 0 && touched.size === 0) return;
    this.#pending = new Map();
    this.#pendingBytes = 0;
    this.#touched = new Set();
    for (const [key, entry] of batch) this.#leaving.set(key, entry);
    this.#writing = this.#writing
      .then(() => this.#put(batch, touched))
      .catch(() => {})
      .then(() => {
        for (const [key, entry] of batch) if (this.#leaving.get(key) === entry) this.#leaving.delete(key);
      });
  }

  async #put(batch: Map<string, CacheEntry>, touched: Set<PackRecord>): Promise<void> {
    const [database, index] = [await this.#database(), await this.#index()];
    if (!database || !index) return;
    if (touched.size > 0) await database.change(touched, []);
    await this.#forget(batch.keys());
    for (const pack of packed(batch, Math.min(PACK_BYTES, this.#maxBytes / 4))) await this.#add(pack);
  }

  async #add(pack: Pack, instead?: PackRecord): Promise<void> {
    const database = await this.#database();
    if (!database) return;
    const size = pack.bytes.byteLength;
    const kept = (await this.#index())?.bytes ?? 0;
    if (!instead && kept + size > this.#maxBytes) await this.#evict(this.#maxBytes * 0.9 - size);
    const record = { size, used: Date.now(), entries: pack.entries };
    const add = async () => {
      const id = await database.add(record, pack.bytes, instead?.id);
      const index = await this.#index();
      if (instead) index?.remove(instead);
      index?.add({ id, ...record });
    };
    try {
      await add();
    } catch (error) {
      if ((error as DOMException | undefined)?.name !== 'QuotaExceededError') throw error;
      // The browser permits less than the limit. With half of the present entries, this may fit.
      await this.#evict(kept / 2);
      await add();
    }
  }

  /**
   * Removes the packs that were not used for longest, until at most this number of bytes is left.
   * Other tabs may have written.
   */
  async #evict(most: number): Promise<void> {
    const database = await this.#database();
    if (!database) return;
    this.#indexing = Promise.resolve(new Index(await database.records()));
    const index = (await this.#index())!;
    let { bytes } = index;
    const oldestFirst = [...index.records.values()].sort((a, b) => a.used - b.used || a.id - b.id);
    const evicted: number[] = [];
    for (const record of oldestFirst) {
      if (bytes <= most) break;
      index.remove(record);
      evicted.push(record.id);
      bytes -= record.size;
    }
    await database.change([], evicted);
  }

  /** Removes entries. A pack that has lost most of its entries is written again. */
  async #forget(keys: Iterable<string>): Promise<void> {
    const [database, index] = [await this.#database(), await this.#index()];
    if (!database || !index) return;
    const changed = new Set<PackRecord>();
    for (const key of keys) {
      const record = index.forget(key);
      if (record) changed.add(record);
    }
    const gone = [...changed].filter((record) => record.entries.length === 0);
    for (const record of gone) index.remove(record);
    const rest = [...changed].filter((record) => record.entries.length > 0);
    if (changed.size > 0) {
      await database.change(
        rest,
        gone.map(({ id }) => id),
      );
    }
    for (const record of rest) {
      if (live(record) * 2 >= record.size) continue;
      // Another tab may have written newer entries in the meantime, which older ones in a new pack
      // would hide.
      const now = new Index(await database.records());
      const content = await database.content(record.id);
      const entries = record.entries.flatMap((entry) => {
        if (now.find(entry[0])?.record.id !== record.id) return [];
        const kept = content && unpacked(content, entry);
        return kept ? [[entry[0], kept] as const] : [];
      });
      for (const pack of packed(new Map(entries), Number.POSITIVE_INFINITY)) await this.#add(pack, record);
    }
  }

  #content(record: PackRecord): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const { id } = record;
    const content = this.#contents.get(id) ?? this.#database().then((database) => database?.content(id));
    // The most recently used pack is the last. A pack with one entry, a large tarball, is not read
    // twice.
    this.#contents.delete(id);
    if (record.entries.length > 1) this.#contents.set(id, content);
    for (const oldest of this.#contents.keys()) {
      if (this.#contents.size <= PACKS_IN_MEMORY) break;
      this.#contents.delete(oldest);
    }
    return content;
  }

  #index(): Promise<Index | undefined> {
    this.#indexing ??= this.#database()
      .then(async (database) => database && new Index(await database.records()))
      .catch(() => undefined);
    return this.#indexing;
  }

  #database(): Promise<Database | undefined> {
    this.#opening ??= Database.open(this.#name, () => {
      this.#opening = undefined;
      this.#indexing = undefined;
      this.#contents.clear();
    }).catch(() => undefined);
    return this.#opening;
  }
}
