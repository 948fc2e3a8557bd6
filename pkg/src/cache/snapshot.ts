// A cache that starts with a snapshot of `espalier snapshot`: documents by address, read from one
// file.
//
// A document in it is not requested from a registry, unless it can have changed and the caller
// considers it too old. The cache behind it has everything else.

import type { Cache, CacheEntry, SnapshotUse } from '../../index.js';
import { EspalierError } from '../errors.js';

/** A document in the first line of the file; `Document` in `espalier-install/src/snapshot.rs`. */
interface SnapshotDocument {
  address: string;
  accept: string;
  /** Whether it can never change. */
  final: boolean;
  contentType: string;
  /** In seconds since the epoch. */
  date: number;
  freshUntil: number;
  length: number;
}

/** A document whose bytes have come or will come. */
interface Arriving extends SnapshotDocument {
  bytes: Uint8Array<ArrayBuffer>;
  isThere: boolean;
  /** The callers that wait for it. */
  waiting: (() => void)[];
}

const FORMAT = 1;
const NEWLINE = 10;
/** The maximum size after decompression. A file that compresses far better isn't a snapshot. */
const LONGEST = 1024 ** 3;
const TOO_LARGE = 'it is larger than 1 GiB';
const NOTHING = new Uint8Array(0);

/** The file, or its address. */
export type Snapshot = Blob | ArrayBuffer | Uint8Array<ArrayBuffer> | string;

/**
 * A document is available as soon as it has come, while the others are downloaded and decompressed.
 * They come in the order of need.
 */
export class SnapshotCache implements Cache {
  /** Rejects with an `EspalierError` if the file isn't a complete snapshot. */
  readonly whole: Promise<void>;
  readonly #documents = new Map<string, Arriving>();
  readonly #listed: Promise<void>;
  readonly #behind: Cache | undefined;
  readonly #since: number;
  readonly #before: number | undefined;
  readonly #used = new Map<string, SnapshotDocument>();
  readonly #closed = new AbortController();

  /** `since` and `before` are in milliseconds since the epoch. */
  constructor(snapshot: Snapshot, behind: Cache | undefined, since: number | undefined, before: number | undefined) {
    this.#behind = behind;
    this.#since = since ?? Number.NEGATIVE_INFINITY;
    this.#before = before;
    let listed: () => void;
    this.#listed = new Promise((resolve) => (listed = resolve));
    this.whole = this.#read(snapshot, () => listed());
    // The callers that wait for it are told.
    this.whole.catch(() => {});
  }

  /** Resolves when the list of documents is known. */
  async ready(): Promise<void> {
    await Promise.race([this.#listed, this.whole]);
  }

  async get(key: string): Promise<CacheEntry | undefined> {
    const found = this.#documents.get(key);
    if (!found || !this.#isGoodEnough(found)) return this.#behind?.get(key);
    // If it never comes, the run ends because of `whole`: nothing is fetched instead.
    if (!found.isThere) await new Promise<void>((arrived) => found.waiting.push(arrived));
    this.#used.set(key, found);
    return { bytes: found.bytes, contentType: found.contentType, freshUntil: Number.MAX_SAFE_INTEGER };
  }

  async set(key: string, entry: CacheEntry): Promise<void> {
    // A damaged document was fetched instead.
    this.#documents.delete(key);
    await this.#behind?.set(key, entry);
  }

  async delete(key: string): Promise<void> {
    this.#documents.delete(key);
    await this.#behind?.delete(key);
  }

  async flush(): Promise<void> {
    await this.#behind?.flush?.();
  }

  /** Stops reading, because nothing more is needed. */
  close(): void {
    this.#closed.abort();
  }

  /** The documents that were taken from it. */
  use(): SnapshotUse {
    const now = Date.now();
    const used = [...this.#used.values()];
    const older = used
      .filter((document) => !this.#cannotChange(document) && document.freshUntil * 1000 <= now)
      .map(({ address, date }) => ({ address, date: date * 1000 }));
    return { documents: used.length, older };
  }

  #isGoodEnough(document: SnapshotDocument): boolean {
    return this.#cannotChange(document) || document.date * 1000 >= this.#since;
  }

  /**
   * A document that only completes a lockfile never changes. With `before`, neither does a document
   * from that moment or later.
   */
  #cannotChange({ final, date }: SnapshotDocument): boolean {
    return final || (this.#before !== undefined && this.#before <= date * 1000);
  }

  /** Reads the file to its end, because its checksum is there. */
  async #read(snapshot: Snapshot, listed: () => void): Promise<void> {
    const base = typeof snapshot === 'string' ? snapshot : undefined;
    const head: Uint8Array<ArrayBuffer>[] = [];
    let documents: Arriving[] | undefined;
    let at = 0;
    let filled = 0;
    for await (let piece of decompressed(await streamOf(snapshot, this.#closed.signal), this.#closed.signal)) {
      if (!documents) {
        const end = piece.indexOf(NEWLINE);
        head.push(end < 0 ? piece : piece.subarray(0, end));
        if (end < 0) continue;
        documents = documentsOf(await new Blob(head).text(), base);
        for (const document of documents)
          this.#documents.set(`document:${document.address} ${document.accept}`, document);
        listed();
        piece = piece.subarray(end + 1);
      }
      for (let document = documents[at]; document; document = documents[++at], filled = 0) {
        if (filled === 0) document.bytes = new Uint8Array(document.length);
        const part = piece.subarray(0, document.length - filled);
        document.bytes.set(part, filled);
        filled += part.byteLength;
        piece = piece.subarray(part.byteLength);
        if (filled < document.length) break;
        document.isThere = true;
        for (const arrived of document.waiting) arrived();
      }
    }
    documents ??= documentsOf(await new Blob(head).text(), base);
    if (at < documents.length) throw refused('it ends too early');
  }
}

/** The documents in the first line. `base` is the snapshot's own address. */
function documentsOf(line: string, base: string | undefined): Arriving[] {
  const head = parsed(line);
  if (head?.snapshot !== FORMAT || !Array.isArray(head.documents))
    throw refused('it is not a snapshot that this version of espalier can read');
  let length = 0;
  return head.documents.map((document) => {
    if (typeof document?.address !== 'string' || !Number.isSafeInteger(document.length) || document.length < 0)
      throw refused('a document in it has no address or no length');
    length += document.length;
    if (length > LONGEST) throw refused(TOO_LARGE);
    return { ...document, address: absolute(document.address, base), bytes: NOTHING, isThere: false, waiting: [] };
  });
}

/** Resolves an address relative to the snapshot's. */
function absolute(address: string, base: string | undefined): string {
  if (/^https?:/.test(address)) return address;
  if (!URL.canParse(address, base)) throw refused(`the address ${address} in it leads nowhere`);
  return new URL(address, base).href;
}

async function streamOf(snapshot: Snapshot, signal: AbortSignal): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  if (typeof snapshot !== 'string') return (snapshot instanceof Blob ? snapshot : new Blob([snapshot])).stream();
  const response = await fetch(snapshot, { signal }).catch((error: Error) => {
    throw refused(`${snapshot} can't be fetched: ${error.message}`);
  });
  if (!response.ok || !response.body) throw refused(`${snapshot} answered with status ${response.status}`);
  return response.body;
}

async function* decompressed(stream: ReadableStream<Uint8Array<ArrayBuffer>>, signal: AbortSignal) {
  let left = LONGEST;
  const reader = stream.pipeThrough(new DecompressionStream('gzip'), { signal }).getReader();
  for (;;) {
    const { done, value } = await reader.read().catch((error: Error) => {
      throw refused(`it can't be decompressed: ${error.message}`);
    });
    if (done) return;
    left -= value.byteLength;
    if (left < 0) throw refused(TOO_LARGE);
    yield value;
  }
}

function parsed(text: string): { snapshot?: number; documents?: SnapshotDocument[] } | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refused(reason: string): EspalierError {
  return new EspalierError({ code: 'EINPUT', message: `\`snapshot\` can't be used: ${reason}` });
}
