// Replays a resolution: a sentence for each decision, and the packages of the tree after it.

import type { ResolveEvent, Trial } from '../engine/types';
import { place } from './copies';
import { counted } from './format';
import type { Tree } from './tree';

export type Decision = Extract<ResolveEvent, { type: 'picked' | 'decided' | 'placed' | 'kept' | 'removed' }>;

const TYPES: ReadonlySet<string> = new Set(['picked', 'decided', 'placed', 'kept', 'removed']);

export function decisions(events: readonly ResolveEvent[]): Decision[] {
  return events.filter((event): event is Decision => TYPES.has(event.type));
}

/**
 * The packages of the tree after the first `steps` decisions. Packages without a decision exist
 * from the beginning.
 */
export function standing(list: readonly Decision[], steps: number, tree: Tree): Set<number> {
  const all = new Set(tree.nodes.keys());
  for (const decision of list) if (decision.type === 'placed') all.delete(tree.at.get(decision.location) ?? -1);
  for (const decision of list.slice(0, steps)) {
    const node = 'location' in decision ? tree.at.get(decision.location) : undefined;
    if (node !== undefined && decision.type === 'placed') all.add(node);
    if (node !== undefined && decision.type === 'removed') all.delete(node);
  }
  return all;
}

/** Whether the package that a decision placed is removed or replaced later. */
export function isPassing(decision: Decision, tree: Tree): boolean {
  if (decision.type !== 'placed') return false;
  const node = tree.nodes[tree.at.get(decision.location) ?? -1];
  return (
    node === undefined || (decision.version !== '' && node.version !== undefined && node.version !== decision.version)
  );
}

/**
 * The step in a detailed list with the same tree as a step in a brief list, which lacks what was
 * tried.
 */
export function sameStep(before: readonly Decision[], step: number, all: readonly Decision[]): number {
  if (step >= before.length) return all.length;
  let left = before.slice(0, step).filter(({ type }) => type !== 'decided').length;
  return left === 0 ? 0 : all.findIndex(({ type }) => type !== 'decided' && (left -= 1) === 0) + 1;
}

/** The step that placed a package at its final location: the last one, if it was placed again. */
export function landing(list: readonly Decision[], location: string): number | undefined {
  const index = list.findLastIndex((event) => event.type === 'placed' && event.location === location);
  return index === -1 ? undefined : index + 1;
}

/** The location that a decision concerns. */
export function subject(decision: Decision): string | undefined {
  if (decision.type === 'picked') return decision.from;
  if (decision.type !== 'decided') return decision.location;
  const { result } = decision;
  return result.type === 'new' || result.type === 'linked' ? result.location : undefined;
}

const REASONS = {
  exact: 'it is the version that the range names',
  tag: 'it is what the tag points to',
  latest: 'it is the latest version, and in the range',
  highest: 'the latest version isn’t in the range, and this is the highest that is',
  compromise: 'every version in the range is deprecated or for another Node, and this is the best of them',
} as const;

export function sentence(decision: Decision): string {
  switch (decision.type) {
    case 'picked':
      return `${by(decision.by)} asks for ${decision.name}@${decision.spec}. npm picks ${decision.version}: ${REASONS[decision.reason]}.`;
    case 'decided':
      return `${by(decision.by)} needs ${decision.name}@${decision.spec}. ${outcome(decision)}`;
    case 'placed':
      return `${decision.name}${decision.version ? ` ${decision.version}` : ''} is placed ${place(decision)}${decision.location.split('node_modules/').length > 2 ? ', because another version is in the way above' : ', as high as it can go'}.`;
    case 'kept':
      return `${asker(decision.from)} asks for ${decision.name}@${decision.spec}. ${decision.version || 'The package'} ${place(decision)} satisfies it, so nothing is added.`;
    case 'removed':
      return `The package ${place(decision)} is removed, because nothing needs it there any more.`;
  }
}

/** A sentence about the result for a candidate. */
function outcome({ result, version, name }: Extract<Decision, { type: 'decided' }>): string {
  const what = `${name}${version ? ` ${version}` : ''}`;
  switch (result.type) {
    case 'met':
      return 'Another package satisfies it in the meantime.';
    case 'kept':
      return 'The package that is already there satisfies it.';
    case 'new':
      return `${what} goes ${place(result)}${result.replaced ? `, in place of ${result.replaced}` : ''}.`;
    case 'linked':
      return 'It would nest in itself, so it becomes a link.';
    case 'refused':
      return 'No folder accepts it.';
  }
}

/** The reason for or against a folder, for the list of tried folders. */
export function verdict({ verdict: answer, why }: Trial): string {
  switch (why.type) {
    case 'free':
      return 'the folder has no such package';
    case 'failed':
      return 'the package there failed to load';
    case 'peerOfFolder':
      return 'no: the package itself has it as a peer';
    case 'same':
      return 'the folder has the same package';
    case 'otherDemand':
      return `no: the package itself asks for ${why.spec}`;
    case 'shadows':
      return `no: ${why.dependent} in this folder asks for ${why.spec}, and would get this one`;
    case 'satisfies':
      return `the folder has ${why.version}, which satisfies it`;
    case 'upgrade':
      return `it replaces ${why.version}, which is older; all dependents accept this one`;
    case 'dedupe':
      return `it replaces ${why.version}, which saves a copy`;
    case 'ownFolder':
      return `it replaces ${why.version} in the package’s own folder`;
    case 'peersMove':
      return `it replaces ${why.version}, which can move with its peers`;
    case 'occupied':
      return `no: the folder has ${why.version}, which cannot be replaced`;
    case 'peerRefused':
      return `no: there is no place for its peer ${why.name}@${why.spec}`;
    default:
      return answer;
  }
}

const PASSED_OVER = {
  outOfRange: 'outside the range',
  tooNew: 'published too late',
  engines: 'for another Node',
  deprecated: 'deprecated',
  aboveLatest: 'above latest',
} as const;

/** The available versions, and the reasons against higher ones. */
export function choice({ versions }: Extract<Decision, { type: 'picked' }>): string | undefined {
  if (!versions) return undefined;
  const higher = versions.passedOver.map(({ version, why }) => `${version} (${PASSED_OVER[why]})`);
  return `${counted(versions.total, 'version')}, ${versions.fitting} in the range${higher.length > 0 ? `; passed over: ${higher.join(', ')}` : ''}.`;
}

function by(name: string): string {
  return name === '' ? 'The project' : name;
}

function asker(location: string): string {
  return location === ''
    ? 'The project'
    : location.slice(location.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
