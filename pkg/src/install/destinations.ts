// The destinations of an installation: a map, a folder or a stream.

import type { Entry, Files } from '../../index.js';
import { EspalierError } from '../errors.js';
import { type Destination, HIDDEN_LOCKFILE } from './destination.js';
import { FolderDestination } from './folder.js';

export function destinationOf(to: Files | FileSystemDirectoryHandle | WritableStream<Entry> = new Map()): Destination {
  if (to instanceof Map) return new MapDestination(to);
  if (typeof WritableStream !== 'undefined' && to instanceof WritableStream) return new StreamDestination(to);
  if ('getDirectoryHandle' in to) return new FolderDestination(to);
  throw new EspalierError({
    code: 'EINPUT',
    message: '`to` has to be a Map, a FileSystemDirectoryHandle or a WritableStream',
  });
}

class MapDestination implements Destination {
  constructor(readonly files: Files) {}

  async noted(): Promise<string | undefined> {
    const entry = this.files.get(HIDDEN_LOCKFILE);
    return entry?.type === 'file' ? new TextDecoder().decode(entry.bytes) : undefined;
  }

  async has(path: string): Promise<boolean> {
    return this.files.has(path);
  }

  async remove(paths: string[]): Promise<void> {
    const removed = new Set(paths);
    const isRemoved = (path: string): boolean => {
      for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
        if (removed.has(path.slice(0, end))) return true;
      return false;
    };
    for (const path of this.files.keys()) if (isRemoved(path)) this.files.delete(path);
  }

  async write(entries: Entry[]): Promise<void> {
    for (const entry of entries) this.files.set(entry.path, entry);
  }
}

/** A stream is empty and gets everything. It is closed at the end, and aborted after a failure. */
class StreamDestination implements Destination {
  readonly #writer: WritableStreamDefaultWriter<Entry>;

  constructor(stream: WritableStream<Entry>) {
    this.#writer = stream.getWriter();
    this.#writer.closed.catch(() => {});
  }

  async noted(): Promise<undefined> {}

  async has(): Promise<boolean> {
    return false;
  }

  async remove(): Promise<void> {}

  async write(entries: Entry[]): Promise<void> {
    for (const entry of entries) {
      await this.#writer.ready;
      // A write that fails makes the next `ready` reject.
      this.#writer.write(entry).catch(() => {});
    }
    await this.#writer.ready;
  }

  close(): Promise<void> {
    return this.#writer.close();
  }

  async abort(reason: unknown): Promise<void> {
    await this.#writer.abort(reason).catch(() => {});
  }
}
