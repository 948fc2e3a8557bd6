// Where a tree's packages came from, by what it says of them.

import { packageName } from '../model/copies';
import type { Tree } from '../model/tree';

/** The address of the public registry, which only the resolver knows: what its tarballs have before the package's name. */
export function registryOf(tree: Tree): string | undefined {
  for (const node of tree.nodes) {
    const at = node.resolved?.indexOf(`/${packageName(node)}/-/`) ?? -1;
    if (at > 0) return node.resolved!.slice(0, at + 1);
  }
  return undefined;
}
