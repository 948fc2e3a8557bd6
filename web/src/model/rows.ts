// The rows of the tree that are on screen or would be by scrolling: only what is open is ever listed.
// A package stands on one row; everywhere else it is "deduped" and has no rows below it, so there are never
// more rows than edges, although the fully expanded tree may have a million.

import { analyze, reaches } from './analysis';
import { isUnmet } from './problems';
import { answer, type Tree } from './tree';

export interface Row {
  /** The same for the same dependency in every graph: who asks, and for which name. */
  readonly key: string;
  /** The edge, or -1 for the root. */
  readonly edge: number;
  /** The package, or -1 where nothing answers. */
  readonly node: number;
  /** Counted from 1, the root's. */
  readonly level: number;
  /** Counted from 1, among those that the same package asks for. */
  readonly position: number;
  readonly setSize: number;
  /** Whether there are rows below; undefined where there can't be any. */
  readonly open: boolean | undefined;
  /** The package stands on another row. */
  readonly deduped: boolean;
  /** For each level above, whether its wire goes on below this row. */
  readonly rails: readonly boolean[];
}

export interface Listing {
  isOpen(location: string, level: number): boolean;
  /** When given, only these packages, each where it stands, and what is wrong with their dependencies. */
  readonly kept?: ReadonlySet<number> | undefined;
  /** The order of what one package asks for; by kind and name, where it isn't said. */
  readonly order?: Order | undefined;
}

export interface Order {
  readonly by: 'package' | 'only' | 'reaches';
  readonly descending: boolean;
}

export const ROOT_KEY = '';

export function rowKey(tree: Tree, edge: number): string {
  if (edge === -1) return ROOT_KEY;
  const { from, name } = tree.edges[edge]!;
  return `${tree.nodes[from]!.location}>${name}`;
}

export function rowsOf(tree: Tree, listing: Listing): Row[] {
  const rows: Row[] = [];
  if (tree.nodes.length === 0) return rows;
  const compare = listing.order && comparison(tree, listing.order);

  const children = (node: number): readonly number[] => {
    const { kept } = listing;
    const edges = tree.out[node]!;
    const listed = kept
      ? edges.filter((edge) => {
          const to = answer(tree, edge);
          return isUnmet(tree.edges[edge]!) || (kept.has(to) && tree.home[to] === edge);
        })
      : edges;
    return compare ? listed.toSorted(compare) : listed;
  };
  const visit = (edge: number, node: number, level: number, position: number, setSize: number, rails: boolean[]) => {
    const deduped = node !== -1 && tree.home[node] !== edge;
    const edges = node === -1 || deduped ? [] : children(node);
    const open = edges.length === 0 ? undefined : listing.isOpen(tree.nodes[node]!.location, level);
    rows.push({ key: rowKey(tree, edge), edge, node, level, position, setSize, open, deduped, rails });
    if (!open) return;
    const below = level === 1 ? [] : [...rails, position < setSize];
    edges.forEach((child, index) => visit(child, answer(tree, child), level + 1, index + 1, edges.length, below));
  };
  visit(-1, 0, 1, 1, 1, []);
  return rows;
}

/** What has no figure on its row comes after all that have one, or before. */
function comparison(tree: Tree, { by, descending }: Order): (a: number, b: number) => number {
  const direction = descending ? -1 : 1;
  if (by === 'package') {
    const name = (edge: number) => tree.edges[edge]!.name;
    return (a, b) => direction * (name(a) < name(b) ? -1 : 1);
  }
  const figure = (edge: number) => {
    const node = answer(tree, edge);
    if (node <= 0 || tree.home[node] !== edge) return 0;
    return by === 'only' ? analyze(tree).only[node]! : reaches(tree, node);
  };
  return (a, b) => direction * (figure(a) - figure(b));
}

/** The index of the row above that asked for this one; -1 for the root's. */
export function parentRow(rows: readonly Row[], index: number): number {
  const level = rows[index]!.level;
  for (let above = index - 1; above >= 0; above -= 1) if (rows[above]!.level < level) return above;
  return -1;
}
