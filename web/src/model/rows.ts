// The rows of the open part of the tree. The dependencies of a package are below one row only; its
// other rows are "deduped". So there are never more rows than edges, although the fully expanded
// tree may have a million.

import { analyze, reaches } from './analysis';
import { isUnmet } from './problems';
import { answer, type Tree } from './tree';

export interface Row {
  /** Identifies the dependency in every graph, by the dependent and the name. */
  readonly key: string;
  /** The edge, or -1 for the root. */
  readonly edge: number;
  /** The package, or -1 if it is missing. */
  readonly node: number;
  /** Counted from 1, which is the root's level. */
  readonly level: number;
  /** Counted from 1, among the dependencies of the same package. */
  readonly position: number;
  readonly setSize: number;
  /** Whether the row is open. Undefined if nothing can be below it. */
  readonly open: boolean | undefined;
  /** Whether the package's dependencies are below another row. */
  readonly deduped: boolean;
  /** For each level above, whether its wire continues below this row. */
  readonly rails: readonly boolean[];
}

export interface Listing {
  isOpen(location: string, level: number): boolean;
  /** If set, only these packages are listed, each with its problems. */
  readonly kept?: ReadonlySet<number> | undefined;
  /** The order of a package's dependencies. Default: by kind and name. */
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

/** Compares two edges. A row without a figure counts as zero. */
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

/** The index of the dependent's row; -1 for the root. */
export function parentRow(rows: readonly Row[], index: number): number {
  const level = rows[index]!.level;
  for (let above = index - 1; above >= 0; above -= 1) if (rows[above]!.level < level) return above;
  return -1;
}
