// The classes of each colouring: their names, and the class of every package. The style sheet
// defines the colours.

import { analyze } from './analysis';
import { copiesOf } from './copies';
import { factKey, NO_FACTS, type Facts } from './facts';
import { licenseClass } from './licenses';
import { packagesOf, type Tree } from './tree';

export const COLOURINGS = [
  ['kind', 'Kind'],
  ['duplicates', 'Duplicates'],
  ['size', 'Size'],
  ['depth', 'Depth'],
  ['license', 'License'],
  ['age', 'Age'],
] as const;

export type Colouring = (typeof COLOURINGS)[number][0];

/** Names of colours in the style sheet. */
export type Colour =
  | 'leaf'
  | 'slate'
  | 'ochre'
  | 'rust'
  | 'faint'
  | 'step-1'
  | 'step-2'
  | 'step-3'
  | 'step-4'
  | 'step-5';

export interface Class {
  readonly colour: Colour;
  readonly words: string;
}

export interface Coloured {
  readonly classes: readonly Class[];
  /** For each node, its class. */
  readonly of: Uint8Array;
  /** How many packages each class has. */
  readonly counts: readonly number[];
}

export function colour(tree: Tree, by: Colouring, facts: Facts = NO_FACTS, now = Date.now()): Coloured {
  const [classes, classify] = rules[by](tree, facts, now);
  const of = new Uint8Array(tree.nodes.length);
  const counts = classes.map(() => 0);
  for (const node of packagesOf(tree)) {
    of[node] = classify(node);
    counts[of[node]!]! += 1;
  }
  return { classes, of, counts };
}

type Rule = (tree: Tree, facts: Facts, now: number) => [readonly Class[], (node: number) => number];

const DAY = 86_400_000;

const rules: Record<Colouring, Rule> = {
  kind: (tree) => [
    [
      { colour: 'leaf', words: 'production' },
      { colour: 'slate', words: 'development' },
      { colour: 'ochre', words: 'a copy, nested' },
      { colour: 'rust', words: 'deprecated' },
      { colour: 'faint', words: 'not on this platform' },
    ],
    (index) => {
      const node = tree.nodes[index]!;
      if (node.inert) return 4;
      if (node.deprecated) return 3;
      if (isGraft(node.location) && copiesOf(tree, node).length > 1) return 2;
      return node.dev || node.devOptional ? 1 : 0;
    },
  ],
  duplicates: (tree) => [
    [
      { colour: 'faint', words: 'one copy' },
      { colour: 'ochre', words: 'two copies' },
      { colour: 'rust', words: 'three or more' },
    ],
    (node) => Math.min(2, copiesOf(tree, tree.nodes[node]!).length - 1),
  ],
  size: (tree) => [
    [
      { colour: 'step-1', words: 'under 10 kB' },
      { colour: 'step-2', words: '10 to 100 kB' },
      { colour: 'step-3', words: '100 kB to 1 MB' },
      { colour: 'step-4', words: '1 to 5 MB' },
      { colour: 'step-5', words: 'over 5 MB' },
      { colour: 'faint', words: 'not known or not installed' },
    ],
    (node) => {
      const { unpackedSize, inert } = tree.nodes[node]!;
      return unpackedSize === undefined || inert ? 5 : step(unpackedSize, [10e3, 100e3, 1e6, 5e6]);
    },
  ],
  depth: (tree) => [
    [
      { colour: 'step-5', words: 'direct' },
      { colour: 'step-4', words: '2 steps away' },
      { colour: 'step-3', words: '3 steps' },
      { colour: 'step-2', words: '4 or 5' },
      { colour: 'step-1', words: '6 or more' },
    ],
    (node) => step(analyze(tree).depth[node]!, [2, 3, 4, 6]),
  ],
  license: (tree) => [
    [
      { colour: 'leaf', words: 'permissive' },
      { colour: 'ochre', words: 'weak copyleft' },
      { colour: 'rust', words: 'copyleft' },
      { colour: 'slate', words: 'other' },
      { colour: 'faint', words: 'none given' },
    ],
    (node) => ['permissive', 'weak', 'copyleft', 'other', 'none'].indexOf(licenseClass(tree.nodes[node]!.license)),
  ],
  age: (tree, facts, now) => [
    [
      { colour: 'step-5', words: 'this month' },
      { colour: 'step-4', words: 'this year' },
      { colour: 'step-3', words: '1 to 3 years' },
      { colour: 'step-2', words: '3 to 6 years' },
      { colour: 'step-1', words: 'older' },
      { colour: 'faint', words: 'not known' },
    ],
    (node) => {
      const date = facts.get(factKey(tree, node))?.published;
      return date === undefined ? 5 : step((now - date) / DAY, [31, 365, 3 * 365, 6 * 365]);
    },
  ],
};

/** A copy inside of another package. */
export function isGraft(location: string): boolean {
  return location.indexOf('node_modules/') !== location.lastIndexOf('node_modules/');
}

function step(number: number, limits: readonly number[]): number {
  const index = limits.findIndex((limit) => number < limit);
  return index === -1 ? limits.length : index;
}
