// The types of installing: `install` puts everything somewhere at once, `mount` fetches a package when it is first read.

import type { ResolveEvent, ResolveInput, Result, Run } from './index.js';

/**
 * Resolves, fetches, verifies and unpacks: what `npm install` does to `node_modules`, without its scripts, which can't run
 * here. Every tarball is checked against its integrity before a byte of it is used.
 */
export function install(input: InstallInput): Installation;

/**
 * Resolves, and gives the tree without fetching a package. A package is fetched, verified and unpacked when one of its
 * files is read for the first time, and then kept in memory.
 */
export function mount(input: MountInput): Mounting;

/** What to install, and where. */
export interface InstallInput extends ResolveInput, InstallOptions {
  /**
   * Where to: a `Map` (default: a new one), a folder of the origin private file system, or a stream, whose backpressure
   * is honoured: nothing is unpacked that it doesn't want yet.
   *
   * What a map or a folder already has, by the hidden lockfile in it, is left alone, and what doesn't belong there any more
   * is removed. A stream gets everything.
   */
  to?: Files | FileSystemDirectoryHandle | WritableStream<Entry>;
}

/** What to mount. */
export type MountInput = ResolveInput & InstallOptions;

/** What `install` and `mount` know besides what `resolve` knows. */
export interface InstallOptions {
  /** npm's `--omit`: kinds of dependencies that are in the lockfile but not installed. */
  omit?: ('dev' | 'optional' | 'peer')[];
  /** As `npm ci`: insists on a lockfile that fits package.json (`EUSAGE` where it doesn't), and installs what it says. */
  frozen?: boolean;
}

/** A tree in memory, by path relative to the project: `node_modules/react/index.js`. */
export type Files = Map<string, FileEntry | LinkEntry>;

/** Something that is put into the tree. */
export type Entry = FileEntry | LinkEntry;

/** A file, as it is in the package: bytes, whether they are text or not. */
export interface FileEntry {
  type: 'file';
  path: string;
  bytes: Uint8Array<ArrayBuffer>;
  /** Its permissions as npm makes them with a umask of 022; commands are executable. */
  mode: number;
}

/** A symbolic link: a command in `.bin`, a workspace. In a folder of the private file system there are none; `result` lists them. */
export interface LinkEntry {
  type: 'link';
  path: string;
  /** What it says, relative to its folder: `../typescript/bin/tsc`. */
  target: string;
}

/** An installation under way; see `Run`. */
export type Installation = Run<InstallEvent, InstallResult>;

/** What came out of an installation. */
export interface InstallResult extends Result, Layout {
  /** The map that was written to; empty where `to` was something else. */
  files: Files;
  /** The text of `node_modules/.package-lock.json`, which says what is installed. It is among the files. */
  hiddenLockfile: string;
  /** Optional packages that could not be had, and those that only they needed. */
  leftOut: { location: string; reason: string }[];
  installStatistics: InstallStatistics;
}

/** What shall be on disk. */
export interface Layout {
  /** By npm's order of building: by depth, then by path. */
  packages: PackagePlace[];
  /** Links to folders of the project. */
  links: LinkEntry[];
  /** Commands. */
  bins: BinEntry[];
}

/** A package in its folder. */
export interface PackagePlace {
  /** `node_modules/a/node_modules/b`. */
  location: string;
  /** The package's own name. */
  name: string;
  version?: string;
  /** Whether it comes in the tarball of the package above it. */
  bundled: boolean;
  /** Whether it has install scripts, which are not run here. */
  hasInstallScript: boolean;
  /** Whether an installation goes on without it. */
  optional: boolean;
}

/** A command in a `.bin` folder. */
export interface BinEntry extends LinkEntry {
  /** The location of the package whose tarball holds the file. */
  package: string;
  /** The file in it. */
  file: string;
}

/** Counts and times of what came after resolving. */
export interface InstallStatistics {
  /** Packages that were put into place. */
  installed: number;
  /** Packages that were there already. */
  kept: number;
  /** Tarballs that came over the network. */
  fetched: number;
  /** Tarballs that came from the cache. */
  cached: number;
  /** Files that were written. */
  files: number;
  /** Bytes that were written. */
  bytes: number;
  /** Milliseconds from the resolved tree to the last file. */
  elapsed: number;
}

/** Something that happened while installing. First come those of resolving. */
export type InstallEvent = ResolveEvent | PlannedEvent | UnpackedEvent | LeftOutEvent;

/** The tree stands; this is what is to be done. */
export interface PlannedEvent {
  type: 'planned';
  /** Packages to fetch and unpack. */
  install: number;
  /** Packages that are there already. */
  keep: number;
  /** Packages that are taken out. */
  remove: number;
}

/** A package is in its place. */
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

/** An optional package could not be had. */
export interface LeftOutEvent {
  type: 'leftOut';
  location: string;
  reason: string;
}

/** A mounting under way. */
export type Mounting = Run<ResolveEvent, Mounted>;

/** What came out of a mounting. */
export interface Mounted extends Result, Layout {
  /** The tree to read from. */
  tree: MountedTree;
  /** The text of `node_modules/.package-lock.json`. */
  hiddenLockfile: string;
}

/**
 * A tree whose packages are fetched when they are first read. Paths are relative to the project. Links are followed. Outside
 * `node_modules` are the `files` of the input. What isn't there rejects with `ENOENT`; what is no folder, with `ENOTDIR`; what
 * is one, with `EISDIR`. A package that can't be had rejects as `install` does, and is tried again by the next read.
 */
export interface MountedTree {
  /** The content of a file. The array is shared by all readers: copy it before changing it. */
  readFile(path: string, options?: ReadOptions): Promise<Uint8Array<ArrayBuffer>>;
  /** The names in a folder. */
  readdir(path: string, options?: ReadOptions): Promise<string[]>;
  /** What a path is; a link is not followed if it is the last step. */
  lstat(path: string, options?: ReadOptions): Promise<Stat>;
  /** Fetches the packages at these locations ahead, in the background of everything else. */
  load(locations: string[], options?: ReadOptions): Promise<void>;
  /** Frees what was fetched. Later reads fetch again, from the cache where there is one. */
  release(): void;
}

/** How to read. */
export interface ReadOptions {
  signal?: AbortSignal;
}

/** What a path is. */
export type Stat = { type: 'file'; size: number; mode: number } | { type: 'folder' } | { type: 'link'; target: string };
