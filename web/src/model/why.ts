// Explains why a package is installed: a tree of dependents from the package up to the project,
// with their ranges. A package on several paths is followed once, and other rows refer to it.

import { analyze } from './analysis';
import type { Tree } from './tree';

export interface Step {
  /** The edge from `node` to the step before; -1 for the package itself. */
  readonly edge: number;
  /** The dependent. */
  readonly node: number;
  readonly level: number;
  /** Whether another row follows it. */
  readonly isRepeated: boolean;
  /** The number of dependents without room at this level. */
  readonly more: number;
}

/** The number of dependents to follow at each step, nearest to the project first. */
export interface Limits {
  readonly each: number;
  readonly all: number;
}

export function whyTree(tree: Tree, node: number, { each, all }: Limits): Step[] {
  const { depth, dominator } = analyze(tree);
  /** A package that exists only because of another is no reason for it. */
  const isOwn = (from: number, target: number) => {
    for (let at = from; at > 0; at = dominator[at]!) if (at === target) return true;
    return false;
  };
  const steps: Step[] = [];
  const followed = new Set([node]);
  const visit = (target: number, level: number) => {
    const edges = tree.into[target]!.filter((edge) => {
      const { from } = tree.edges[edge]!;
      return depth[from]! >= 0 && !isOwn(from, target) && !isOwn(from, node);
    });
    edges.sort((a, b) => depth[tree.edges[a]!.from]! - depth[tree.edges[b]!.from]! || compareNames(tree, a, b));
    const shown = edges.slice(0, each);
    shown.forEach((edge, index) => {
      if (steps.length >= all) return;
      const { from } = tree.edges[edge]!;
      const isRepeated = from !== 0 && followed.has(from);
      steps.push({
        edge,
        node: from,
        level,
        isRepeated,
        more: index === shown.length - 1 ? edges.length - shown.length : 0,
      });
      if (isRepeated || from === 0) return;
      followed.add(from);
      visit(from, level + 1);
    });
  };
  visit(node, 0);
  return steps;
}

/**
 * The levels whose guide line runs past each of these rows to a later sibling, for a list of the
 * rows' levels.
 */
export function railsOf(levels: readonly number[]): number[][] {
  const open = new Set<number>();
  return levels
    .toReversed()
    .map((level) => {
      // Deeper lines that are open belong to another parent, further down.
      for (const other of open) if (other > level) open.delete(other);
      const rails = [...open].sort((a, b) => a - b);
      // Rows of the first level have no line, because the package itself has no row.
      if (level > 0) open.add(level);
      return rails;
    })
    .reverse();
}

function compareNames(tree: Tree, a: number, b: number): number {
  const name = (edge: number) => tree.nodes[tree.edges[edge]!.from]!.name;
  return name(a) < name(b) ? -1 : 1;
}
