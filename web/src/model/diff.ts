// The effect of an edit on the tree: added and removed packages, and other versions at a location.

import type { Tree } from './tree';
import { packagesOf } from './tree';

export type Mark = 'added' | 'changed';

export interface Diff {
  /** The marks of nodes of the present tree. */
  readonly marks: ReadonlyMap<number, Mark>;
  /** The former versions of changed packages, by location. */
  readonly before: ReadonlyMap<string, string>;
  readonly removed: readonly Place[];
  /** The removed packages, by their nearest ancestor in the present tree; 0 is the project. */
  readonly gone: ReadonlyMap<number, readonly Place[]>;
  readonly added: number;
  readonly changed: number;
}

export interface Place {
  readonly location: string;
  readonly version: string;
}

/** A former tree: versions by location. */
export type Snapshot = ReadonlyMap<string, string>;

export function snapshot(tree: Tree): Snapshot {
  return new Map(packagesOf(tree).map((node) => [tree.nodes[node]!.location, tree.nodes[node]!.version ?? '']));
}

/** The same for the packages of a lockfile. */
export function snapshotOfLock(packages: Record<string, { version?: string; link?: boolean }>): Snapshot {
  return new Map(
    Object.entries(packages)
      .filter(([location, entry]) => location !== '' && !entry.link)
      .map(([location, entry]) => [location, entry.version ?? '']),
  );
}

export function diff(before: Snapshot, tree: Tree): Diff {
  const marks = new Map<number, Mark>();
  const changes = new Map<string, string>();
  const present = new Set<string>();
  for (const node of packagesOf(tree)) {
    const { location, version = '' } = tree.nodes[node]!;
    present.add(location);
    const old = before.get(location);
    if (old === undefined) marks.set(node, 'added');
    else if (old !== version) {
      marks.set(node, 'changed');
      changes.set(location, old);
    }
  }
  const removed = [...before]
    .filter(([location]) => !present.has(location))
    .map(([location, version]) => ({ location, version }));
  return {
    marks,
    before: changes,
    removed,
    gone: byHolder(tree, removed),
    added: marks.size - changes.size,
    changed: changes.size,
  };
}

function byHolder(tree: Tree, removed: readonly Place[]): Map<number, Place[]> {
  const gone = new Map<number, Place[]>();
  for (const place of removed) {
    let folder = place.location;
    let holder: number | undefined;
    while (holder === undefined && folder !== '') {
      folder = folder.slice(0, Math.max(0, folder.lastIndexOf('node_modules/') - 1));
      holder = tree.at.get(folder);
    }
    gone.set(holder ?? 0, [...(gone.get(holder ?? 0) ?? []), place]);
  }
  return gone;
}

export function isEmpty(changes: Diff): boolean {
  return changes.marks.size === 0 && changes.removed.length === 0;
}
