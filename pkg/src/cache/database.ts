// The database of a cache: packs of entries, and a record of each pack with its content. This
// module has only requests and transactions.

import type { PackRecord } from './packs.js';

const CONTENTS = 'contents';
const RECORDS = 'records';
const VERSION = 2;

/** The stored form of a pack's content. */
interface Content {
  bytes: Uint8Array<ArrayBuffer>;
}

export class Database {
  readonly #database: IDBDatabase;

  /** @param gone What to do when the database can't be used any more. */
  private constructor(database: IDBDatabase, gone: () => void) {
    this.#database = database;
    // Another version of this package wants to change the database, or the browser clears it.
    database.onversionchange = () => {
      database.close();
      gone();
    };
    database.onclose = gone;
  }

  static async open(name: string, gone: () => void): Promise<Database> {
    const request = indexedDB.open(name, VERSION);
    request.onupgradeneeded = () => {
      // The entries of an older version are fetched again.
      for (const store of [...request.result.objectStoreNames]) request.result.deleteObjectStore(store);
      request.result.createObjectStore(CONTENTS);
      request.result.createObjectStore(RECORDS, { keyPath: 'id', autoIncrement: true });
    };
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
      request.onblocked = () => reject(new Error('another tab holds an older version of the cache'));
    });
    return new Database(database, gone);
  }

  /** The records of all packs, oldest first. */
  async records(): Promise<PackRecord[]> {
    return settled(this.#database.transaction(RECORDS).objectStore(RECORDS).getAll());
  }

  /** The content of a pack. */
  async content(id: number): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const content = await settled<Content | undefined>(
      this.#database.transaction(CONTENTS).objectStore(CONTENTS).get(id),
    );
    return content?.bytes;
  }

  /** Adds a pack and removes another one, if it is named. Resolves with its number. */
  async add(record: Omit<PackRecord, 'id'>, bytes: Uint8Array<ArrayBuffer>, instead?: number): Promise<number> {
    const transaction = this.#writing();
    const adding = transaction.objectStore(RECORDS).add(record);
    adding.onsuccess = () => transaction.objectStore(CONTENTS).put({ bytes } satisfies Content, adding.result);
    if (instead !== undefined) remove(transaction, instead);
    await completed(transaction);
    return adding.result as number;
  }

  /** Updates records and deletes packs. A pack that another tab has deleted stays deleted. */
  async change(records: Iterable<PackRecord>, deleted: Iterable<number>): Promise<void> {
    const transaction = this.#writing();
    const store = transaction.objectStore(RECORDS);
    for (const record of records) {
      const known = store.getKey(record.id);
      known.onsuccess = () => known.result !== undefined && store.put(record);
    }
    for (const id of deleted) remove(transaction, id);
    await completed(transaction);
  }

  #writing(): IDBTransaction {
    return this.#database.transaction([CONTENTS, RECORDS], 'readwrite');
  }
}

function remove(transaction: IDBTransaction, id: number): void {
  transaction.objectStore(RECORDS).delete(id);
  transaction.objectStore(CONTENTS).delete(id);
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
