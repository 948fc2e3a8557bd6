// Why copies of a package can't be one: for each, the copy that its dependents would find if it weren't there, and who of them
// asks for something else. Ranges are judged by npm's own semver.

import Range from 'semver/classes/range';
import { copiesOf, packageName } from './copies';
import type { Tree } from './tree';

export interface Apart {
  readonly copy: number;
  /** The copy further up; absent where there is none on the way. */
  readonly above: number | undefined;
  /** Edges to the copy that the one further up doesn't answer. */
  readonly refusing: readonly number[];
}

/** The copies that aren't the uppermost on their way, those that nothing keeps apart last. */
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

/** What the folders above have under the same name, nearest first. */
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

/** Whether a version is in a range; what is no range answers nothing. */
export function answers(version: string, spec: string): boolean {
  const range = spec.replace(/^npm:(?:@[^/]+\/)?[^@]+@?/, '') || '*';
  try {
    return new Range(range, { loose: true }).test(version);
  } catch {
    return false;
  }
}
