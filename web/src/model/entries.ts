// What the lockfile says of packages and the graph doesn't: install scripts, engines, platforms. Read when it is asked for.

import type { Tree } from './tree';

export interface Entry {
  readonly hasInstallScript?: boolean;
  readonly engines?: Record<string, string>;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly bin?: Record<string, string>;
  readonly funding?: unknown;
}

type Entries = ReadonlyMap<string, Entry>;

const lockfiles = new WeakMap<Tree, string>();
const read = new WeakMap<Tree, Entries>();
const NONE: Entries = new Map();

/** Says which lockfile a tree came with. */
export function noteLockfile(tree: Tree, lockfile: string): Tree {
  lockfiles.set(tree, lockfile);
  return tree;
}

/** By location; nothing for a tree that still grows. */
export function entriesOf(tree: Tree): Entries {
  const known = read.get(tree);
  const lockfile = lockfiles.get(tree);
  if (known || lockfile === undefined) return known ?? NONE;
  const { packages = {} } = JSON.parse(lockfile) as { packages?: Record<string, Entry> };
  const entries: Entries = new Map(Object.entries(packages));
  read.set(tree, entries);
  return entries;
}

/** Locations of packages with install scripts. */
export function scriptsOf(tree: Tree): { has(location: string): boolean } {
  const entries = entriesOf(tree);
  return { has: (location) => entries.get(location)?.hasInstallScript === true };
}
