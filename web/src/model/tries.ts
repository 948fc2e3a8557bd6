// Changes that may remove a duplicate: to package.json or to npm's flags, the most promising first.
// These are guesses, and the resolver tries them.

import type { Settings } from './address';
import { copiesOf, packageName } from './copies';
import { withChanges, withOverride } from './manifest';
import { totals } from './analysis';
import { answer, packagesOf, type Tree } from './tree';

export interface Try {
  readonly words: string;
  /** The whole package.json with the change. */
  readonly manifest: string;
  readonly settings: Settings;
}

export interface Outcome {
  readonly packages: number;
  /** Absent unless the size of every installed package is known. */
  readonly bytes: number | undefined;
  readonly copies: number;
}

const MOST = 6;

export function triesFor(
  tree: Tree,
  name: string,
  copies: readonly number[],
  manifest: string,
  settings: Settings,
): Try[] {
  const tries: Try[] = [];
  const versions = [...new Set(copies.map((node) => tree.nodes[node]!.version ?? ''))].filter(Boolean).sort(descending);
  if (versions.length > 1) {
    for (const version of versions.slice(0, 2)) {
      const edited = withOverride(manifest, name, version);
      if (edited !== manifest) tries.push({ words: `Override ${name} with ${version}`, manifest: edited, settings });
    }
  }
  // The project's own dependencies that lead to a copy. A newer version may need the version that
  // the others have.
  for (const parent of directHolders(tree, copies)) {
    const edge = tree.edges[parent]!;
    const block =
      { dev: 'devDependencies', optional: 'optionalDependencies', peer: 'peerDependencies' }[edge.kind as string] ??
      'dependencies';
    const changed = withChanges(manifest, [{ kind: 'range', block, name: edge.name, from: edge.spec, to: 'latest' }]);
    if (edge.spec !== 'latest' && changed !== manifest)
      tries.push({ words: `Update ${edge.name} to its latest version`, manifest: changed, settings });
  }
  if (!settings.preferDedupe) {
    tries.push({
      words: 'Prefer versions that are already in the tree (--prefer-dedupe)',
      manifest,
      settings: { ...settings, preferDedupe: true },
    });
  }
  return tries.slice(0, MOST);
}

export function outcomeOf(tree: Tree, name: string): Outcome {
  const { bytes, sized, installed } = totals(tree);
  const node = tree.nodes.findIndex(
    (candidate, index) => index > 0 && candidate.target === undefined && packageName(candidate) === name,
  );
  return {
    packages: packagesOf(tree).length,
    bytes: sized === installed ? bytes : undefined,
    copies: node === -1 ? 0 : copiesOf(tree, tree.nodes[node]!).length,
  };
}

/** The project's edges that lead to the copies. */
export function directHolders(tree: Tree, copies: readonly number[]): number[] {
  const found = new Set<number>();
  for (const copy of copies) {
    for (const edge of tree.into[copy]!) {
      let at = tree.edges[edge]!.from;
      let first = edge;
      while (at > 0 && tree.home[at] !== -1) {
        first = tree.home[at]!;
        at = tree.edges[first]!.from;
      }
      if (at === 0 && answer(tree, first) > 0) found.add(first);
    }
  }
  return [...found];
}

function descending(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(/[.+-]/).map(Number));
  for (let index = 0; index < 3; index += 1) {
    const order = (right![index] || 0) - (left![index] || 0);
    if (order !== 0) return order;
  }
  return 0;
}
