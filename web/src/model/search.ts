// Parses the text of the search field into a predicate. All words have to match: `is:dev eslint`
// requires both.

import type { GraphNode } from '../engine/types';
import { copiesOf, packageName } from './copies';
import { isTooNew } from './engines';
import { holds, isFactState, NO_FACTS, type Facts } from './facts';
import { licenseClass } from './licenses';
import { isUnmet, isUnmetPeer } from './problems';
import { answer, packagesOf, path, type Tree } from './tree';

export interface Matches {
  readonly nodes: ReadonlySet<number>;
  /** The matches, and the nodes that lead to them. */
  readonly kept: ReadonlySet<number>;
}

type Predicate = (node: GraphNode, index: number) => boolean;

/** The words of `is:`, each with its predicate. */
const STATES = [
  'direct',
  'scripts',
  'copyleft',
  'unlicensed',
  'overridden',
  'duplicated',
  'deprecated',
  'dev',
  'optional',
  'peer',
  'nested',
  'skipped',
  'problem',
  'unmet-peer',
] as const;
export type State = (typeof STATES)[number];

/** Returns `undefined` for an empty query, which differs from no results. */
export function search(tree: Tree, query: string, facts: Facts = NO_FACTS): Matches | undefined {
  const predicates = query
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => predicate(tree, word, facts));
  if (predicates.length === 0) return undefined;
  // The root can match too, because it may have the problem.
  const nodes = new Set(
    [0, ...packagesOf(tree)].filter((index) => predicates.every((holds) => holds(tree.nodes[index]!, index))),
  );
  const kept = new Set(nodes);
  for (const node of nodes) for (const edge of path(tree, node)) kept.add(answer(tree, edge));
  return { nodes, kept };
}

/** The number of packages in each state. */
export function stateCounts(tree: Tree): Map<string, number> {
  const packages = packagesOf(tree);
  return new Map(
    STATES.map((name) => {
      const holds = state(tree, name);
      return [`is:${name}`, packages.filter((index) => holds(tree.nodes[index]!, index)).length];
    }),
  );
}

/** The words of a query that match names, for highlighting. */
export function nameWords(query: string): string[] {
  return query
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '' && !word.includes(':'))
    .map((word) => split(exactName(word) ?? word)[0]);
}

/** Adds a word to a query, or removes it. */
export function toggleWord(query: string, word: string): string {
  const words = query.split(/\s+/).filter(Boolean);
  return (words.includes(word) ? words.filter((other) => other !== word) : [...words, word]).join(' ');
}

function predicate(tree: Tree, word: string, facts: Facts): Predicate {
  const [, major] = /^is:not-for-node-(\d+)$/.exec(word) ?? [];
  if (major) return (node) => isTooNew(node.nodeRange, Number(major));
  if (word.startsWith('is:')) {
    const name = word.slice(3);
    const now = Date.now();
    return isFactState(name) ? (_, node) => holds(name, tree, facts, node, now) : state(tree, name);
  }
  if (word.startsWith('license:')) {
    const license = word.slice('license:'.length);
    return (node) => (node.license ?? 'none').toLowerCase().replaceAll(' ', '-') === license;
  }
  const exact = exactName(word);
  if (exact) return (node) => node.name === exact || packageName(node) === exact;
  const [name, version] = split(word);
  return (node) =>
    (node.name.toLowerCase().includes(name) || packageName(node).toLowerCase().includes(name)) &&
    (node.version ?? '').startsWith(version);
}

function state(tree: Tree, name: string): Predicate {
  const states: Record<State, Predicate> = {
    direct: (_, index) => tree.into[index]!.some((edge) => tree.edges[edge]!.from === 0),
    scripts: (node) => node.hasInstallScript,
    copyleft: (node) => licenseClass(node.license) === 'copyleft',
    unlicensed: (node) => node.license === undefined,
    overridden: (_, index) => tree.into[index]!.some((edge) => tree.edges[edge]!.overridden),
    duplicated: (node) => copiesOf(tree, node).length > 1,
    deprecated: (node) => node.deprecated !== undefined,
    dev: (node) => node.dev || node.devOptional,
    optional: (node) => node.optional || node.devOptional,
    peer: (node) => node.peer,
    nested: (node) => node.location.split('node_modules/').length > 2,
    skipped: (node) => node.inert,
    problem: (_, index) => tree.out[index]!.some((edge) => isUnmet(tree.edges[edge]!)),
    'unmet-peer': (_, index) => tree.out[index]!.some((edge) => isUnmetPeer(tree.edges[edge]!)),
  };
  return states[name as State] ?? (() => false);
}

/** A name in quotes matches exactly: `"react"`. */
function exactName(word: string): string | undefined {
  return /^"([^"]+)"$/.exec(word)?.[1];
}

/** `@scope/name@1.2` → the name and the beginning of the version. */
function split(word: string): [string, string] {
  const at = word.lastIndexOf('@');
  return at > 0 ? [word.slice(0, at), word.slice(at + 1)] : [word, ''];
}
