// Findings about the packages of a tree, each with the filter that shows the packages.

import { copiesOf } from './copies';
import { isTooNew } from './engines';
import { holds, NO_FACTS, OLD_YEARS, RECENT_DAYS, type Facts, type FactState, type Subject } from './facts';
import { licenseClass } from './licenses';
import { isUnmet, isUnmetPeer } from './problems';
import { packagesOf, type Tree } from './tree';

export interface Finding {
  readonly name: string;
  /** Short, as a heading. */
  readonly title: string;
  /** The words after the number, in the singular and in the plural. */
  readonly words: readonly [one: string, many: string];
  /** The meaning, and a remedy. */
  readonly about: string;
  readonly nodes: readonly number[];
  /** The search for these packages. Absent if no word of the search finds them. */
  readonly query?: string;
  readonly isBad: boolean;
  /** The facts that have to be looked up first. */
  readonly needs?: Subject;
}

export function health(tree: Tree, nodeVersion: string, facts: Facts = NO_FACTS, now = Date.now()): Finding[] {
  const packages = packagesOf(tree);
  const where = (holds: (node: number) => boolean | undefined) => packages.filter((node) => holds(node));
  const node = (index: number) => tree.nodes[index]!;
  const major = Number.parseInt(nodeVersion, 10);
  return [
    {
      name: 'deprecated',
      title: 'Deprecated',
      words: ['deprecated package', 'deprecated packages'],
      about: 'The authors advise against further use.',
      nodes: where((index) => node(index).deprecated !== undefined),
      query: 'is:deprecated',
      isBad: true,
    },
    {
      name: 'unmet',
      title: 'Unmet dependencies',
      words: ['package with unmet dependencies', 'packages with unmet dependencies'],
      about: 'A dependency is missing, or has a version outside of the range that is asked for.',
      nodes: where((index) => tree.out[index]!.some((edge) => isUnmet(tree.edges[edge]!))),
      query: 'is:problem',
      isBad: true,
    },
    {
      name: 'peers',
      title: 'Unmet peers',
      words: ['package with unmet peers', 'packages with unmet peers'],
      about:
        'No version of the peer that is asked for is in reach. npm accepts that with --force or --legacy-peer-deps.',
      nodes: where((index) => tree.out[index]!.some((edge) => isUnmetPeer(tree.edges[edge]!))),
      query: 'is:unmet-peer',
      isBad: true,
    },
    {
      name: 'engines',
      title: `Not for Node ${major}`,
      words: [`package not for Node ${major}`, `packages not for Node ${major}`],
      about: 'The engines field asks for a newer Node than the tree is resolved for.',
      nodes: where((index) => isTooNew(node(index).nodeRange, major)),
      query: `is:not-for-node-${major}`,
      isBad: true,
    },
    {
      name: 'scripts',
      title: 'Install scripts',
      words: ['package with install scripts', 'packages with install scripts'],
      about:
        'Such scripts run a package’s own code during installation. npm asks for approval, and this page never runs any.',
      nodes: where((index) => node(index).hasInstallScript),
      query: 'is:scripts',
      isBad: false,
    },
    {
      name: 'duplicated',
      title: 'Duplicated',
      words: ['copy of a duplicated package', 'copies of duplicated packages'],
      about: 'Each is installed more than once. The view Duplicates tries remedies.',
      nodes: where((index) => copiesOf(tree, node(index)).length > 1),
      query: 'is:duplicated',
      isBad: false,
    },
    {
      name: 'copyleft',
      title: 'Copyleft licenses',
      words: ['package under a copyleft license', 'packages under copyleft licenses'],
      about: 'The GPL and similar licenses require more than a copyright notice.',
      nodes: where((index) => licenseClass(node(index).license) === 'copyleft'),
      query: 'is:copyleft',
      isBad: true,
    },
    {
      name: 'unlicensed',
      title: 'No license',
      words: ['package without a license', 'packages without a license'],
      about: 'Without a license, nobody has the right to use a package.',
      nodes: where((index) => node(index).license === undefined && !node(index).inBundle),
      query: 'is:unlicensed',
      isBad: true,
    },
    {
      name: 'overridden',
      title: 'Overridden',
      words: ['overridden package', 'overridden packages'],
      about: 'The version comes from the overrides of the project, not from dependents.',
      nodes: where((index) => tree.into[index]!.some((edge) => tree.edges[edge]!.overridden)),
      query: 'is:overridden',
      isBad: false,
    },
    {
      name: 'skipped',
      title: 'For other platforms',
      words: ['package for other platforms', 'packages for other platforms'],
      about: 'In the lockfile, but not installed on this platform.',
      nodes: where((index) => node(index).inert),
      query: 'is:skipped',
      isBad: false,
    },
    ...FACTS.map(({ state, ...finding }) => ({
      ...finding,
      name: state,
      nodes: where((index) => holds(state, tree, facts, index, now)),
      query: `is:${state}`,
    })),
  ];
}

/** Findings that need documents of a registry, by kind of document. */
const FACTS: readonly (Omit<Finding, 'name' | 'nodes' | 'query'> & { state: FactState; needs: Subject })[] = [
  {
    state: 'recent',
    title: 'Published this week',
    words: ['package published this week', 'packages published this week'],
    about: `Stolen accounts are mostly noticed within ${RECENT_DAYS} days. “As of” resolves without anything newer.`,
    isBad: true,
    needs: 'dates',
  },
  {
    state: 'old',
    title: `Older than ${OLD_YEARS} years`,
    words: [`package older than ${OLD_YEARS} years`, `packages older than ${OLD_YEARS} years`],
    about: 'Published that long ago. Some packages are simply finished.',
    isBad: false,
    needs: 'dates',
  },
  {
    state: 'esm',
    title: 'ESM only',
    words: ['package that is ESM only', 'packages that are ESM only'],
    about: 'CommonJS can’t require ES modules before Node 22.12.',
    isBad: false,
    needs: 'modules',
  },
  {
    state: 'commonjs',
    title: 'CommonJS only',
    words: ['package that is CommonJS only', 'packages that are CommonJS only'],
    about: 'Browsers can’t load CommonJS without a bundler.',
    isBad: false,
    needs: 'modules',
  },
  {
    state: 'untyped',
    title: 'No types',
    words: ['package without types', 'packages without types'],
    about: 'No declarations for TypeScript are included, and no @types package is installed.',
    isBad: false,
    needs: 'modules',
  },
];
