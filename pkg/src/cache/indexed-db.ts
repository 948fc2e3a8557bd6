// A cache in IndexedDB, which all tabs and workers of an origin share.
//
// What is written goes out in batches, because a transaction for each document would cost more than fetching it. Where the database
// can't be opened (private windows of some browsers) or the quota is used up, it goes on without: less is kept, nothing fails.

import type { Cache, CacheEntry } from '../../index.js';

/** What is known of an entry without reading it. */
interface Record {
  key: string;
  size: number;
  /** When it was last used, in milliseconds since the epoch, to the hour: a transaction for each read would be too much. */
  used: number;
}

const HOUR = 3_600_000;
/** How long writes are collected. */
const BATCH_EVERY = 50;
/** How many bytes are collected at most before they are written. */
const BATCH_BYTES = 8 * 1024 * 1024;

export class IndexedDbCache implements Cache {
  readonly #name: string;
  readonly #maxBytes: number;
  #opening: Promise<IDBDatabase | undefined> | undefined;
  #pending = new Map<string, CacheEntry>();
  #pendingBytes = 0;
  #touched = new Map<string, Record>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> = Promise.resolve();
  /** What this instance believes to be kept; measured before anything is evicted. */
  #bytes: number | undefined;

  constructor(name: string, maxBytes: number) {
    this.#name = name;
    this.#maxBytes = maxBytes;
  }

  async get(key: string): Promise<CacheEntry | undefined> {
    const pending = this.#pending.get(key);
    if (pending) return pending;
    const database = await this.#database();
    if (!database) return undefined;
    const transaction = database.transaction(['contents', 'records'], 'readonly');
    const [entry, record] = await Promise.all([
      settled<CacheEntry | undefined>(transaction.objectStore('contents').get(key)),
      settled<Record | undefined>(transaction.objectStore('records').get(key)),
    ]);
    if (!entry || !record || entry.bytes?.byteLength !== record.size) return undefined;
    if (Date.now() - record.used > HOUR) this.#touched.set(key, { ...record, used: Date.now() });
    return entry;
  }

  async set(key: string, entry: CacheEntry): Promise<void> {
    if (entry.bytes.byteLength > this.#maxBytes) return;
    this.#pending.set(key, entry);
    this.#pendingBytes += entry.bytes.byteLength;
    if (this.#pendingBytes >= BATCH_BYTES) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), BATCH_EVERY);
  }

  async delete(key: string): Promise<void> {
    this.#pending.delete(key);
    const database = await this.#database();
    if (!database) return;
    const transaction = database.transaction(['contents', 'records'], 'readwrite');
    transaction.objectStore('contents').delete(key);
    transaction.objectStore('records').delete(key);
    await completed(transaction);
  }

  async flush(): Promise<void> {
    this.#write();
    await this.#writing;
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#pending;
    const touched = this.#touched;
    if (batch.size === 0 && touched.size === 0) return;
    this.#pending = new Map();
    this.#pendingBytes = 0;
    this.#touched = new Map();
    this.#writing = this.#writing.then(() => this.#put(batch, touched)).catch(() => {});
  }

  async #put(batch: Map<string, CacheEntry>, touched: Map<string, Record>): Promise<void> {
    const database = await this.#database();
    if (!database) return;
    const size = [...batch.values()].reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
    this.#bytes ??= await measured(database);
    if (this.#bytes + size > this.#maxBytes) await this.#evict(database, this.#maxBytes * 0.9 - size);
    const put = async () => {
      const transaction = database.transaction(['contents', 'records'], 'readwrite');
      for (const [key, entry] of batch) {
        transaction.objectStore('contents').put(entry, key);
        transaction.objectStore('records').put({ key, size: entry.bytes.byteLength, used: Date.now() } satisfies Record);
      }
      for (const record of touched.values()) if (!batch.has(record.key)) transaction.objectStore('records').put(record);
      await completed(transaction);
      this.#bytes! += size;
    };
    try {
      await put();
    } catch (error) {
      if ((error as DOMException | undefined)?.name !== 'QuotaExceededError') throw error;
      // The browser allows less than we were told to use: with half of what there is, this may fit.
      await this.#evict(database, (await measured(database)) / 2);
      await put();
    }
  }

  /** Takes out what wasn't used for longest, until no more than so much is left. Other tabs may have written, so it is measured anew. */
  async #evict(database: IDBDatabase, most: number): Promise<void> {
    const transaction = database.transaction(['contents', 'records'], 'readwrite');
    const store = transaction.objectStore('records');
    const records = await settled<Record[]>(store.index('used').getAll());
    let bytes = records.reduce((sum, { size }) => sum + size, 0);
    for (const { key, size } of records) {
      if (bytes <= most) break;
      store.delete(key);
      transaction.objectStore('contents').delete(key);
      bytes -= size;
    }
    await completed(transaction);
    this.#bytes = bytes;
  }

  #database(): Promise<IDBDatabase | undefined> {
    this.#opening ??= opened(this.#name).then((database) => {
      // Another version of this package wants to change the database, or the browser clears it: the next access opens it anew.
      const gone = () => (this.#opening = undefined);
      database.onversionchange = () => {
        database.close();
        gone();
      };
      database.onclose = gone;
      return database;
    }).catch(() => undefined);
    return this.#opening;
  }
}

async function measured(database: IDBDatabase): Promise<number> {
  const records = await settled<Record[]>(database.transaction('records').objectStore('records').getAll());
  return records.reduce((sum, { size }) => sum + size, 0);
}

async function opened(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, 1);
  request.onupgradeneeded = () => {
    request.result.createObjectStore('contents');
    request.result.createObjectStore('records', { keyPath: 'key' }).createIndex('used', 'used');
  };
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error('another tab holds an older version of the cache'));
  });
}

function settled<T>(request: IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result as T);
    request.onerror = () => reject(request.error);
  });
}

function completed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });
}
