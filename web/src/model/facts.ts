// Facts about a version that only documents of its registry have: the publish date, the module
// formats, and whether it includes types.

import { aboutOf } from './about';
import { packageName } from './copies';
import { packagesOf, type Tree } from './tree';

export interface Fact {
  /** Milliseconds since the epoch. */
  readonly published?: number;
  /** `ESM only`, `CommonJS`, or both. */
  readonly modules?: string;
  readonly types?: boolean;
}

/** Facts by `name@version`. */
export type Facts = ReadonlyMap<string, Fact>;

export const NO_FACTS: Facts = new Map();

/** The kinds of facts. Each is in documents of its own. */
export type Subject = 'dates' | 'modules';

const DAY = 86_400_000;
/** Most attacks on packages are noticed within this time. */
export const RECENT_DAYS = 7;
export const OLD_YEARS = 4;

export function factKey(tree: Tree, node: number): string {
  return `${packageName(tree.nodes[node]!)}@${tree.nodes[node]!.version}`;
}

/** The documents to request: by name for dates, by name and version for modules. */
export function questions(tree: Tree, subject: Subject): string[] {
  const asked = packagesOf(tree).flatMap((node) => {
    const { version, inBundle, resolved } = tree.nodes[node]!;
    if (!version || inBundle || !resolved) return [];
    const name = packageName(tree.nodes[node]!).replace('/', '%2f');
    return [subject === 'dates' ? name : `${name}/${encodeURIComponent(version)}`];
  });
  return [...new Set(asked)];
}

/** The facts in a document. */
export function answers(subject: Subject, question: string, document: unknown): [key: string, fact: Fact][] {
  if (typeof document !== 'object' || document === null) return [];
  const [name, version] = question.split('/').map(decodeURIComponent);
  if (subject === 'dates') {
    const { time } = document as { time?: Record<string, string> };
    return Object.entries(time ?? {}).flatMap(([published, date]) => {
      const at = Date.parse(date);
      return Number.isNaN(at) ? [] : [[`${name}@${published}`, { published: at }]];
    });
  }
  const about = aboutOf(document);
  if (!about) return [];
  return [[`${name}@${version}`, { types: about.types, ...(about.modules ? { modules: about.modules } : {}) }]];
}

/** The filters that facts make possible, each without its `is:`. */
const FACT_STATES = {
  recent: (fact: Fact, now: number) => fact.published !== undefined && now - fact.published < RECENT_DAYS * DAY,
  old: (fact: Fact, now: number) => fact.published !== undefined && now - fact.published > OLD_YEARS * 365 * DAY,
  esm: (fact: Fact) => fact.modules === 'ESM only',
  commonjs: (fact: Fact) => fact.modules === 'CommonJS',
  untyped: (fact: Fact) => fact.types === false,
} as const;
export type FactState = keyof typeof FACT_STATES;

export function isFactState(name: string): name is FactState {
  return Object.hasOwn(FACT_STATES, name);
}

export function holds(state: FactState, tree: Tree, facts: Facts, node: number, now: number): boolean {
  const fact = facts.get(factKey(tree, node));
  if (!fact || !FACT_STATES[state](fact, now)) return false;
  // Types of another package count too.
  const name = packageName(tree.nodes[node]!).replace('@', '').replace('/', '__');
  return state !== 'untyped' || !tree.at.has(`node_modules/@types/${name}`);
}
