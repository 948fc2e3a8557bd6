// The types of installations: `install` writes all files at once, and `mount` fetches a package
// when it is first read.

import type { ResolveEvent, ResolveInput, Result, Run } from './index.js';

/**
 * Resolves, fetches, verifies and unpacks, like `npm install` without scripts, which can't run
 * here. Every tarball is verified before a byte of it is used.
 */
export function install(input: InstallInput): Installation;

/**
 * Resolves and returns the tree without fetching a package. A package is fetched, verified and
 * unpacked when one of its files is first read, and then stays in memory.
 */
export function mount(input: MountInput): Mounting;

/** What to install, and where. */
export interface InstallInput extends ResolveInput, InstallOptions {
  /**
   * The destination: a `Map` (default: a new one), a folder of the origin private file system, or a
   * stream. A stream's backpressure pauses unpacking.
   *
   * What a map or folder already has, according to its hidden lockfile, stays. What no longer
   * belongs there is removed. A stream gets everything.
   */
  to?: Files | FileSystemDirectoryHandle | WritableStream<Entry>;
}

/** The input of `mount`. */
export type MountInput = ResolveInput & InstallOptions;

/** The options of `install` and `mount` beside those of `resolve`. */
export interface InstallOptions {
  /** npm's `--omit`: the kinds of dependencies that are in the lockfile but aren't installed. */
  omit?: ('dev' | 'optional' | 'peer')[];
  /**
   * Like `npm ci`: requires a lockfile that matches package.json (otherwise the error is `EUSAGE`),
   * and installs it.
   */
  frozen?: boolean;
}

/** A tree in memory, by path relative to the project: `node_modules/react/index.js`. */
export type Files = Map<string, FileEntry | LinkEntry>;

/** An entry of the tree. */
export type Entry = FileEntry | LinkEntry;

/** A file of a package: bytes, whether they are text or not. */
export interface FileEntry {
  type: 'file';
  path: string;
  bytes: Uint8Array<ArrayBuffer>;
  /** Its permissions, which npm sets with a umask of 022. Commands are executable. */
  mode: number;
}

/**
 * A symbolic link: a command in `.bin`, or a workspace. A folder of the private file system has
 * none; `result` lists them.
 */
export interface LinkEntry {
  type: 'link';
  path: string;
  /** Its text, relative to its folder: `../typescript/bin/tsc`. */
  target: string;
}

/** An installation under way; see `Run`. */
export type Installation = Run<InstallEvent, InstallResult>;

/** The result of an installation. */
export interface InstallResult extends Result, Layout {
  /** The map that was written to. Empty for other destinations. */
  files: Files;
  /**
   * The text of `node_modules/.package-lock.json`, which lists the installed packages. It is one of
   * the files.
   */
  hiddenLockfile: string;
  /** Optional packages that could not be fetched, and packages that only those needed. */
  leftOut: { location: string; reason: string }[];
  installStatistics: InstallStatistics;
}

/** The target state. */
export interface Layout {
  /** The packages in npm's order of building: by depth, then by path. */
  packages: PackagePlace[];
  /** Links to folders of the project. */
  links: LinkEntry[];
  /** Commands. */
  bins: BinEntry[];
}

/** A package and its folder. */
export interface PackagePlace {
  /** `node_modules/a/node_modules/b`. */
  location: string;
  /** The package's own name. */
  name: string;
  version?: string;
  /** Whether it is in the tarball of the package above. */
  bundled: boolean;
  /** Whether it has install scripts, which don't run here. */
  hasInstallScript: boolean;
  /** Whether an installation continues without it. */
  optional: boolean;
}

/** A command in a `.bin` folder. */
export interface BinEntry extends LinkEntry {
  /** The location of the package whose tarball contains the file. */
  package: string;
  /** The file in that package. */
  file: string;
}

/** Counts and times after the resolution. */
export interface InstallStatistics {
  /** The number of packages that were installed. */
  installed: number;
  /** The number of packages that were in place. */
  kept: number;
  /** The number of tarballs from the network. */
  fetched: number;
  /** The number of tarballs from the cache. */
  cached: number;
  /** The number of written files. */
  files: number;
  /** The number of written bytes. */
  bytes: number;
  /** The time from the resolved tree to the last file, in milliseconds. */
  elapsed: number;
}

/** An event of an installation. Those of the resolution come first. */
export type InstallEvent = ResolveEvent | PlannedEvent | UnpackedEvent | LeftOutEvent;

/** The tree is complete. These are the numbers of the plan. */
export interface PlannedEvent {
  type: 'planned';
  /** Packages to fetch and unpack. */
  install: number;
  /** Packages that stay. */
  keep: number;
  /** Packages that are removed. */
  remove: number;
}

/** A package is in place. */
export interface UnpackedEvent {
  type: 'unpacked';
  location: string;
  name: string;
  version?: string;
  files: number;
  bytes: number;
  /** Whether its tarball came from the cache. */
  cached: boolean;
}

/** An optional package could not be fetched. */
export interface LeftOutEvent {
  type: 'leftOut';
  location: string;
  reason: string;
}

/** A mounting under way. */
export type Mounting = Run<ResolveEvent, Mounted>;

/** The result of mounting. */
export interface Mounted extends Result, Layout {
  /** The tree to read from. */
  tree: MountedTree;
  /** The text of `node_modules/.package-lock.json`. */
  hiddenLockfile: string;
}

/**
 * A tree whose packages are fetched when they are first read. Paths are relative to the project.
 * Links are followed. Outside `node_modules`, there are the `files` of the input. A missing path
 * rejects with `ENOENT`, a file in place of a folder with `ENOTDIR`, and a folder in place of a
 * file with `EISDIR`. A package that can't be fetched rejects as in `install`, and the next read
 * tries again.
 */
export interface MountedTree {
  /** The content of a file. The array is shared by all readers: copy it before changing it. */
  readFile(path: string, options?: ReadOptions): Promise<Uint8Array<ArrayBuffer>>;
  /** The names in a folder. */
  readdir(path: string, options?: ReadOptions): Promise<string[]>;
  /** The type of a path. A link at its end isn't followed. */
  lstat(path: string, options?: ReadOptions): Promise<Stat>;
  /** Fetches the packages at these locations in the background. */
  load(locations: string[], options?: ReadOptions): Promise<void>;
  /** Frees the fetched packages. Later reads fetch them again, from the cache if there is one. */
  release(): void;
}

/** How to read. */
export interface ReadOptions {
  signal?: AbortSignal;
}

/** The type of a path. */
export type Stat = { type: 'file'; size: number; mode: number } | { type: 'folder' } | { type: 'link'; target: string };
