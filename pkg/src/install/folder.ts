// A folder of the origin private file system. It has neither modes nor links, so commands and
// workspaces are only described.

import type { Entry } from '../../index.js';
import { type Destination, HIDDEN_LOCKFILE } from './destination.js';

export class FolderDestination implements Destination {
  readonly #root: FileSystemDirectoryHandle;
  readonly #folders = new Map<string, Promise<FileSystemDirectoryHandle>>();

  constructor(root: FileSystemDirectoryHandle) {
    this.#root = root;
  }

  async noted(): Promise<string | undefined> {
    const handle = await this.#file(HIDDEN_LOCKFILE);
    return handle && (await (await handle.getFile()).text());
  }

  async has(path: string): Promise<boolean> {
    return (await this.#file(path)) !== undefined;
  }

  async remove(paths: string[]): Promise<void> {
    this.#folders.clear();
    for (const path of paths) {
      const [folder, name] = split(path);
      await absent(async () => (await this.#folder(folder, false)).removeEntry(name, { recursive: true }));
    }
    this.#folders.clear();
  }

  async write(entries: Entry[]): Promise<void> {
    for (const entry of entries) {
      if (entry.type === 'link') continue;
      const [folder, name] = split(entry.path);
      const handle = await (await this.#folder(folder, true)).getFileHandle(name, { create: true });
      await written(handle, entry.bytes);
    }
  }

  #file(path: string): Promise<FileSystemFileHandle | undefined> {
    const [folder, name] = split(path);
    return absent(async () => (await this.#folder(folder, false)).getFileHandle(name));
  }

  #folder(path: string, create: boolean): Promise<FileSystemDirectoryHandle> {
    if (path === '') return Promise.resolve(this.#root);
    let folder = this.#folders.get(path);
    if (!folder) {
      const [above, name] = split(path);
      folder = this.#folder(above, create).then((handle) => handle.getDirectoryHandle(name, { create }));
      this.#folders.set(path, folder);
      // A missing entry may be created later.
      folder.catch(() => this.#folders.delete(path));
    }
    return folder;
  }
}

/** Some browsers can write on the page, others only in a worker, with an exclusive handle. */
async function written(handle: FileSystemFileHandle, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  if ('createWritable' in handle) {
    const stream = await handle.createWritable();
    await stream.write(bytes);
    return stream.close();
  }
  const access = await (handle as SyncFileHandle).createSyncAccessHandle();
  try {
    access.truncate(0);
    access.write(bytes);
    access.flush();
  } finally {
    access.close();
  }
}

/** The DOM's types have it only for workers. */
interface SyncFileHandle extends FileSystemFileHandle {
  createSyncAccessHandle(): Promise<{
    truncate(size: number): void;
    write(bytes: Uint8Array): number;
    flush(): void;
    close(): void;
  }>;
}

function split(path: string): [folder: string, name: string] {
  const at = path.lastIndexOf('/');
  return [path.slice(0, Math.max(at, 0)), path.slice(at + 1)];
}

async function absent<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look();
  } catch (error) {
    const name = (error as DOMException | undefined)?.name;
    if (name === 'NotFoundError' || name === 'TypeMismatchError') return undefined;
    throw error;
  }
}
