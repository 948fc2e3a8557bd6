// One package in the middle: all shortest paths from the project and the dependents on the left,
// the dependencies on the right.

import { analyze } from './analysis';
import { answer, type Tree } from './tree';

export interface Focus {
  /** From the project to the dependents, then the package, then its dependencies. */
  readonly columns: readonly Column[];
  readonly links: readonly Link[];
}

export interface Column {
  readonly nodes: readonly number[];
  /** The number of packages without room. */
  readonly more: number;
}

export interface Link {
  /** The edge of the tree, whose range is the label. */
  readonly edge: number;
  readonly from: number;
  readonly to: number;
  /** Whether it is on a shortest path from the project. */
  readonly isWay: boolean;
}

export function focus(tree: Tree, node: number, most: number): Focus {
  const { depth, only } = analyze(tree);
  const shown = new Set<number>([node]);
  const columns: Column[] = [];
  const take = (nodes: readonly number[], room = most): Column => {
    const kept = nodes.slice(0, room);
    for (const one of kept) shown.add(one);
    return { nodes: kept, more: nodes.length - kept.length };
  };

  // Backwards from the package, a step nearer to the project each time.
  let ring = [node];
  for (let at = depth[node]! - 1; at >= 0; at -= 1) {
    const nearer = askers(tree, ring).filter((from) => depth[from] === at);
    const isNext = at === depth[node]! - 1;
    const others = isNext ? askers(tree, [node]).filter((from) => depth[from]! > at && from !== node) : [];
    const column = take(
      [...nearer, ...others.sort((a, b) => depth[a]! - depth[b]!)],
      isNext ? most : Math.ceil(most / 2),
    );
    columns.unshift(column);
    ring = nearer.filter((one) => shown.has(one));
  }
  columns.push({ nodes: [node], more: 0 });
  const asked = [...new Set(tree.out[node]!.map((edge) => answer(tree, edge)))].filter(
    (to) => to > 0 && !shown.has(to),
  );
  if (asked.length > 0) columns.push(take(asked.sort((a, b) => only[b]! - only[a]!)));

  const links: Link[] = [];
  for (const to of shown) {
    for (const edge of tree.into[to]!) {
      const { from } = tree.edges[edge]!;
      if (!shown.has(from) || from === to) continue;
      const isWay = depth[from]! + 1 === depth[to] && (depth[to]! < depth[node]! || to === node);
      if (isWay || from === node || to === node) links.push({ edge, from, to, isWay });
    }
  }
  return { columns, links };
}

/**
 * The links on the paths through a shown package: from the project to it, and from it to the
 * package in the middle. For a dependency of that package, the paths lead through the middle.
 */
export function through({ links }: Focus, middle: number, node: number): ReadonlySet<Link> {
  const found = new Set<Link>();
  const back = (from: number) => follow(from, (link, at) => link.isWay && link.to === at && link.from);
  const follow = (start: number, next: (link: Link, at: number) => number | false) => {
    const seen = new Set([start]);
    for (const at of seen) {
      for (const link of links) {
        const to = next(link, at);
        if (to === false) continue;
        found.add(link);
        seen.add(to);
      }
    }
  };
  for (const link of links) {
    const isBeside = (link.from === node && link.to === middle) || (link.from === middle && link.to === node);
    if (!isBeside) continue;
    found.add(link);
  }
  const isAsked = links.some((link) => link.from === middle && link.to === node);
  back(isAsked && !links.some((link) => link.from === node && link.to === middle) ? middle : node);
  follow(node, (link, at) => link.isWay && link.from === at && link.to !== node && link.to);
  return found;
}

function askers(tree: Tree, nodes: readonly number[]): number[] {
  const { depth } = analyze(tree);
  const found = new Set(nodes.flatMap((node) => tree.into[node]!.map((edge) => tree.edges[edge]!.from)));
  return [...found].filter((from) => depth[from] !== -1);
}
