// A tree to read from, whose packages are fetched when they are first read. It never requests paths
// that it doesn't know.

import type { LinkEntry, MountedTree, ReadOptions, Stat } from '../../index.js';
import { withInstance } from '../engine.js';
import type { Plan, PlannedPackage } from '../glue.js';
import { raced } from '../progress.js';
import { HIDDEN_LOCKFILE } from './destination.js';
import type { LoadedPackage, PackageFile, PackageLoader } from './loader.js';

/** The maximum number of links in a row. */
const MOST_LINKS = 40;

type Found =
  | { type: 'file'; file: PackageFile }
  | { type: 'folder'; names: Set<string> }
  | { type: 'link'; target: string };

export class LazyTree implements MountedTree {
  readonly #packages = new Map<string, PlannedPackage>();
  readonly #links = new Map<string, LinkEntry>();
  readonly #executables = new Map<string, string[]>();
  /** The entries that need no package: names by folder. */
  readonly #skeleton = new Map<string, Set<string>>();
  readonly #own = new Map<string, PackageFile>();
  readonly #loader: PackageLoader;
  #loaded = new Map<string, Promise<LoadedPackage>>();

  constructor(plan: Plan, files: Record<string, string>, hiddenLockfile: string, loader: PackageLoader) {
    this.#loader = loader;
    const encoder = new TextEncoder();
    const own = Object.entries(files).filter(([path]) => !/(^|\/)node_modules\//.test(path) && !path.startsWith('..'));
    for (const [path, text] of [...own, [HIDDEN_LOCKFILE, hiddenLockfile] as const]) {
      this.#own.set(path, { bytes: encoder.encode(text), mode: 0o644 });
      this.#grow(path);
    }
    for (const planned of plan.packages) {
      // A bundled package comes with its bundle.
      if (planned.bundled) continue;
      this.#packages.set(planned.location, planned);
      this.#grow(planned.location);
    }
    for (const link of [...plan.links, ...plan.bins]) {
      this.#links.set(link.path, link);
      this.#grow(link.path);
    }
    for (const { package: location, file } of plan.bins) {
      this.#executables.set(location, [...(this.#executables.get(location) ?? []), file]);
    }
  }

  async readFile(path: string, { signal }: ReadOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const found = await this.#find(path, true, signal);
    if (found.type !== 'file') throw failure('EISDIR', 'is a folder', path);
    return found.file.bytes;
  }

  async readdir(path: string, { signal }: ReadOptions = {}): Promise<string[]> {
    const found = await this.#find(path, true, signal);
    if (found.type !== 'folder') throw failure('ENOTDIR', 'is not a folder', path);
    return [...found.names].sort();
  }

  async lstat(path: string, { signal }: ReadOptions = {}): Promise<Stat> {
    const found = await this.#find(path, false, signal);
    if (found.type === 'file') return { type: 'file', size: found.file.bytes.byteLength, mode: found.file.mode };
    return found.type === 'link' ? found : { type: 'folder' };
  }

  async load(locations: string[], { signal }: ReadOptions = {}): Promise<void> {
    const unknown = locations.find((location) => !this.#packages.has(location));
    if (unknown !== undefined) throw failure('ENOENT', 'is no package of the tree', unknown);
    await Promise.all(locations.map((location) => this.#package(location, signal)));
  }

  release(): void {
    this.#loaded = new Map();
  }

  async #find(given: string, follow: boolean, signal: AbortSignal | undefined): Promise<Found> {
    signal?.throwIfAborted();
    let path = normalized(given);
    for (let links = 0; links < MOST_LINKS; links++) {
      const link = this.#linkOn(path, follow);
      if (link) {
        path = normalized(`${parent(link.path)}/${link.target}${path.slice(link.path.length)}`);
        continue;
      }
      const there = this.#links.get(path);
      if (there) return { type: 'link', target: there.target };
      return this.#at(path, given, signal);
    }
    throw failure('ELOOP', 'leads from link to link', given);
  }

  /** The first link on the way. With `follow`, the last component counts, too. */
  #linkOn(path: string, follow: boolean): LinkEntry | undefined {
    for (const folder of ancestry(path)) {
      const link = this.#links.get(folder);
      if (link && (follow || folder !== path)) return link;
    }
    return undefined;
  }

  async #at(path: string, given: string, signal: AbortSignal | undefined): Promise<Found> {
    const own = this.#own.get(path);
    if (own) return { type: 'file', file: own };
    const names = new Set(this.#skeleton.get(path));
    const location = ancestry(path)
      .reverse()
      .find((folder) => this.#packages.has(folder));
    if (location !== undefined) {
      const { files } = await this.#package(location, signal);
      const inside = path.slice(location.length + 1);
      const file = files.get(inside);
      if (file) return { type: 'file', file };
      for (const other of files.keys()) {
        if (inside === '' || other.startsWith(`${inside}/`))
          names.add(other.slice(inside === '' ? 0 : inside.length + 1).split('/')[0]!);
      }
    }
    if (names.size === 0) throw failure('ENOENT', 'does not exist', given);
    return { type: 'folder', names };
  }

  /** The request for a package. A failed one is dropped, so that the next read tries again. */
  #package(location: string, signal: AbortSignal | undefined): Promise<LoadedPackage> {
    let loading = this.#loaded.get(location);
    if (!loading) {
      const planned = this.#packages.get(location)!;
      loading = withInstance(() => this.#loader.load(planned, this.#executables.get(location) ?? []));
      const into = this.#loaded;
      into.set(location, loading);
      loading.catch(() => into.delete(location));
    }
    return signal ? raced(loading, signal) : loading;
  }

  #grow(path: string): void {
    for (let at = path; at !== ''; at = parent(at)) {
      const folder = parent(at);
      const names = this.#skeleton.get(folder) ?? new Set();
      this.#skeleton.set(folder, names.add(at.slice(folder === '' ? 0 : folder.length + 1)));
    }
  }
}

/** An error like those of Node's file system. */
function failure(code: string, words: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path} ${words}`), { code, path });
}

function parent(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

/** A path and the folders that contain it, the outermost first. */
function ancestry(path: string): string[] {
  const steps = path.split('/');
  return steps.map((_, index) => steps.slice(0, index + 1).join('/'));
}

/** A path without `.`, `..` and repeated slashes. A path out of the project leads nowhere. */
function normalized(path: string): string {
  const steps: string[] = [];
  for (const step of path.split('/')) {
    if (step === '' || step === '.') continue;
    if (step !== '..') steps.push(step);
    else if (steps.pop() === undefined) throw failure('ENOENT', 'is outside of the project', path);
  }
  return steps.join('/');
}
