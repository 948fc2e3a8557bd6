// Explains why copies of a package cannot be merged: for each copy, the one that its dependents
// would find without it, and the dependents that this one does not satisfy. npm's own semver judges
// the ranges.

import Range from 'semver/classes/range';
import { copiesOf, packageName } from './copies';
import type { Tree } from './tree';

export interface Apart {
  readonly copy: number;
  /** The copy further up. Absent if there is none. */
  readonly above: number | undefined;
  /** The edges to the copy that the one further up does not satisfy. */
  readonly refusing: readonly number[];
}

/** The nested copies. Those that could be merged come last. */
export function apart(tree: Tree, name: string): Apart[] {
  const any = tree.nodes.findIndex((node, index) => index > 0 && packageName(node) === name);
  if (any === -1) return [];
  return copiesOf(tree, tree.nodes[any]!)
    .flatMap((copy): Apart[] => {
      const above = copyAbove(tree, copy);
      if (above === undefined) return [];
      const version = tree.nodes[above]!.version ?? '';
      const refusing = tree.into[copy]!.filter((edge) => !answers(version, tree.edges[edge]!.spec));
      return [{ copy, above, refusing }];
    })
    .sort((a, b) => b.refusing.length - a.refusing.length);
}

/** The packages of the same name in the folders above, nearest first. */
function copyAbove(tree: Tree, copy: number): number | undefined {
  const { location } = tree.nodes[copy]!;
  const at = location.lastIndexOf('node_modules/');
  if (at <= 0) return undefined;
  const folder = location.slice(at);
  for (let parent = location.slice(0, at - 1); parent !== ''; ) {
    const end = parent.lastIndexOf('node_modules/');
    const rest = end === -1 ? '' : parent.slice(0, end);
    const found = tree.at.get(`${rest}${folder}`);
    if (found !== undefined) return found;
    parent = rest.replace(/\/$/, '');
  }
  return undefined;
}

/** Whether a version satisfies a range. Nothing satisfies a spec that is no range. */
export function answers(version: string, spec: string): boolean {
  const range = spec.replace(/^npm:(?:@[^/]+\/)?[^@]+@?/, '') || '*';
  try {
    return new Range(range, { loose: true }).test(version);
  } catch {
    return false;
  }
}
