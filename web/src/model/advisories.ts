// Security advisories of npm's bulk endpoint: the packages of a tree that they concern, and
// possible fixes.

import Range from 'semver/classes/range';
import { copiesOf, packageName } from './copies';
import { withChanges, withOverride } from './manifest';
import type { Settings } from './address';
import { packagesOf, type Tree } from './tree';
import { directHolders, type Try } from './tries';

export interface Advisory {
  readonly name: string;
  readonly title: string;
  readonly severity: string;
  readonly range: string;
  /** Absent if it is no web address. */
  readonly url?: string;
}

export interface Hit {
  readonly advisory: Advisory;
  readonly nodes: readonly number[];
}

/** The question: every name with its versions. */
export function question(tree: Tree): string {
  const versions: Record<string, string[]> = {};
  for (const index of packagesOf(tree)) {
    const { version, resolved } = tree.nodes[index]!;
    const name = packageName(tree.nodes[index]!);
    // The registry does not know packages from elsewhere.
    if (!version || !resolved) continue;
    const known = (versions[name] ??= []);
    if (!known.includes(version)) known.push(version);
  }
  return JSON.stringify(versions);
}

const RANKS = ['critical', 'high', 'moderate', 'low'];

/**
 * The advisories in an answer, the most severe first. The answer is untrusted, so anything else in
 * it is ignored.
 */
export function hits(tree: Tree, answer: unknown): Hit[] {
  const found: Hit[] = [];
  const byName = new Map(packagesOf(tree).map((node) => [packageName(tree.nodes[node]!), node]));
  for (const [name, list] of Object.entries((answer ?? {}) as Record<string, unknown>)) {
    const node = byName.get(name);
    if (node === undefined || !Array.isArray(list)) continue;
    for (const entry of list as Record<string, unknown>[]) {
      const advisory = advisoryOf(name, entry);
      const nodes = advisory ? vulnerable(tree, advisory) : [];
      if (advisory && nodes.length > 0) found.push({ advisory, nodes });
    }
  }
  const rank = ({ advisory }: Hit) => (RANKS.indexOf(advisory.severity) + RANKS.length + 1) % (RANKS.length + 1);
  return found.sort((a, b) => rank(a) - rank(b) || (a.advisory.name < b.advisory.name ? -1 : 1));
}

/** The packages of a tree that an advisory is about. */
export function vulnerable(tree: Tree, { name, range }: Advisory): number[] {
  const any = tree.nodes.find((node, index) => index > 0 && packageName(node) === name);
  if (!any) return [];
  const known = new Range(range, { loose: true, includePrerelease: true });
  return copiesOf(tree, any).filter((node) => known.test(tree.nodes[node]!.version ?? ''));
}

/**
 * Updates within the ranges, newer direct dependencies, and an override with the first fixed
 * version.
 */
export function fixesFor(tree: Tree, { advisory, nodes }: Hit, manifest: string, settings: Settings): Try[] {
  const fixes: Try[] = [{ words: 'Update within the ranges', manifest, settings }];
  for (const index of directHolders(tree, nodes)) {
    const { name, spec, kind } = tree.edges[index]!;
    const block = { dev: 'devDependencies', optional: 'optionalDependencies' }[kind as string] ?? 'dependencies';
    const changed = withChanges(manifest, [{ kind: 'range', block, name, from: spec, to: 'latest' }]);
    if (changed !== manifest)
      fixes.push({ words: `Update ${name} to its latest version`, manifest: changed, settings });
  }
  const [, fixed] = /<\s*(\d+\.\d+\.\d+[\w.+-]*)\s*$/.exec(advisory.range) ?? [];
  if (fixed) {
    const changed = withOverride(manifest, advisory.name, `>=${fixed}`);
    if (changed !== manifest)
      fixes.push({ words: `Override ${advisory.name} with >=${fixed}`, manifest: changed, settings });
  }
  return fixes;
}

function advisoryOf(name: string, entry: Record<string, unknown> | null): Advisory | undefined {
  const { title, severity, vulnerable_versions: range, url } = entry ?? {};
  if (typeof title !== 'string' || typeof range !== 'string') return undefined;
  try {
    new Range(range, { loose: true });
  } catch {
    return undefined;
  }
  return {
    name,
    title,
    severity: typeof severity === 'string' ? severity : '',
    range,
    ...(typeof url === 'string' && /^https?:\/\//.test(url) ? { url } : {}),
  };
}
