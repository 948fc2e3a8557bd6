// The counts of the sentence above the views, each with the query that shows the counted packages.

import { copiesOf, duplicatedNames } from './copies';
import { count as number } from './format';
import { isUnmet } from './problems';
import { packagesOf, type Tree } from './tree';

export type Tone = 'plain' | 'ochre' | 'rust' | 'slate';

export interface Figure {
  readonly count: number;
  readonly word: string;
  /** The unit of the count, if the query shows more rows than it states. */
  readonly title?: string;
  /** The query for the search field. */
  readonly query: string;
  readonly tone: Tone;
}

export interface Summary {
  readonly packages: number;
  /** The figures that are not zero, the most urgent first. */
  readonly figures: readonly Figure[];
}

export function summarize(tree: Tree): Summary {
  const packages = packagesOf(tree);
  const count = (holds: (index: number) => boolean | undefined) => packages.filter((index) => holds(index)).length;
  const unmet = tree.edges.filter(isUnmet).length;
  const copied = count((index) => copiesOf(tree, tree.nodes[index]!).length > 1);
  const names = duplicatedNames(tree).length;
  const figures: Figure[] = [
    { count: unmet, word: unmet === 1 ? 'unmet dependency' : 'unmet dependencies', query: 'is:problem', tone: 'rust' },
    {
      count: count((index) => tree.nodes[index]!.deprecated !== undefined),
      word: 'deprecated',
      query: 'is:deprecated',
      tone: 'rust',
    },
    {
      count: names,
      word: `duplicated (${number(copied)} copies)`,
      title: `${names === 1 ? '1 package is' : `${number(names)} packages are`} installed more than once: ${number(copied)} copies in all`,
      query: 'is:duplicated',
      tone: 'ochre',
    },
    { count: count((index) => tree.nodes[index]!.dev), word: 'dev only', query: 'is:dev', tone: 'slate' },
    {
      count: count((index) => tree.nodes[index]!.inert),
      word: 'for other platforms',
      query: 'is:skipped',
      tone: 'plain',
    },
  ];
  return { packages: packages.length, figures: figures.filter((figure) => figure.count > 0) };
}

/** How often each license occurs, most frequent first. */
export function licenses(tree: Tree): [license: string, count: number][] {
  const counts = new Map<string, number>();
  for (const index of packagesOf(tree)) {
    const license = tree.nodes[index]!.license ?? 'none';
    counts.set(license, (counts.get(license) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}
