// A cache that begins with a snapshot, as `espalier snapshot` writes it: documents by their addresses, read from one file.
//
// What is in it is not asked of a registry, unless it can have changed since and the caller says that it is too old. What isn't in it,
// and what is put there, is the business of the cache behind it.

import type { Cache, CacheEntry, SnapshotUse } from '../../index.js';
import { EspalierError } from '../errors.js';

/** What the first line of the file says of each document; `Document` in `espalier-install/src/snapshot.rs`. */
interface SnapshotDocument {
  address: string;
  accept: string;
  /** Whether it can never be another. */
  final: boolean;
  contentType: string;
  /** In seconds since the epoch. */
  date: number;
  freshUntil: number;
  length: number;
}

type Documents = Map<string, SnapshotDocument & { bytes: Uint8Array<ArrayBuffer> }>;

const FORMAT = 1;
const NEWLINE = 10;
/** No more than this is decompressed: what compresses far better is no snapshot. */
const LONGEST = 1024 ** 3;

export type Snapshot = Blob | ArrayBuffer | Uint8Array<ArrayBuffer>;

export class SnapshotCache implements Cache {
  readonly #documents: Promise<Documents>;
  readonly #behind: Cache | undefined;
  readonly #since: number;
  readonly #before: number | undefined;
  readonly #used = new Map<string, SnapshotDocument>();

  /** `since` and `before` are in milliseconds since the epoch. */
  constructor(snapshot: Snapshot, behind: Cache | undefined, since: number | undefined, before: number | undefined) {
    this.#documents = documents(snapshot);
    // Whoever reads first is told.
    this.#documents.catch(() => {});
    this.#behind = behind;
    this.#since = since ?? Number.NEGATIVE_INFINITY;
    this.#before = before;
  }

  /** Rejects with an `EspalierError` unless it is a snapshot. */
  async ready(): Promise<void> {
    await this.#documents;
  }

  async get(key: string): Promise<CacheEntry | undefined> {
    const found = (await this.#documents).get(key);
    if (!found || !this.#isGoodEnough(found)) return this.#behind?.get(key);
    this.#used.set(key, found);
    return { bytes: found.bytes, contentType: found.contentType, freshUntil: Number.MAX_SAFE_INTEGER };
  }

  async set(key: string, entry: CacheEntry): Promise<void> {
    // What was damaged was fetched in its place.
    (await this.#documents).delete(key);
    await this.#behind?.set(key, entry);
  }

  async delete(key: string): Promise<void> {
    (await this.#documents).delete(key);
    await this.#behind?.delete(key);
  }

  async flush(): Promise<void> {
    await this.#behind?.flush?.();
  }

  /** What was taken from it. */
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

  /** What was published until a moment before it was written doesn't change. */
  #cannotChange({ final, date }: SnapshotDocument): boolean {
    return final || (this.#before !== undefined && this.#before <= date * 1000);
  }
}

async function documents(snapshot: Snapshot): Promise<Documents> {
  const content = await unpacked(snapshot);
  const end = content.indexOf(NEWLINE);
  const head = parsed(new TextDecoder().decode(content.subarray(0, Math.max(end, 0))));
  if (head?.snapshot !== FORMAT || !Array.isArray(head.documents))
    throw refused('it is not a snapshot that this version of espalier can read');
  const found: Documents = new Map();
  let at = end + 1;
  for (const document of head.documents) {
    if (typeof document?.address !== 'string' || !Number.isSafeInteger(document.length) || document.length < 0)
      throw refused('a document in it has no address or no length');
    const bytes = content.subarray(at, at + document.length);
    if (bytes.byteLength !== document.length) throw refused('it ends too early');
    found.set(`document:${document.address} ${document.accept}`, { ...document, bytes });
    at += document.length;
  }
  return found;
}

async function unpacked(snapshot: Snapshot): Promise<Uint8Array<ArrayBuffer>> {
  const blob = snapshot instanceof Blob ? snapshot : new Blob([snapshot]);
  let left = LONGEST;
  const bounded = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(piece, controller) {
      left -= piece.byteLength;
      if (left < 0) throw new Error('it is larger than 1 GiB');
      controller.enqueue(piece);
    },
  });
  try {
    const stream = blob.stream().pipeThrough(new DecompressionStream('gzip')).pipeThrough(bounded);
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch (error) {
    throw refused(`it can't be decompressed: ${(error as Error).message}`);
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
