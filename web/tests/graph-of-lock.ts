// Builds the graph of a package-lock.json for tests: `packages` gives the locations, and Node's
// lookup through `node_modules` gives the edges.

import type { DependencyKind, Graph, GraphEdge, GraphNode } from '../src/engine/types';

export interface LockEntry {
  name?: string;
  version?: string;
  license?: string;
  deprecated?: string;
  resolved?: string;
  link?: boolean;
  hasInstallScript?: boolean;
  engines?: { node?: string };
  dev?: boolean;
  optional?: boolean;
  devOptional?: boolean;
  peer?: boolean;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}

export type Lock = Record<string, LockEntry>;

export function graphOfLock(packages: Lock): Graph {
  const locations = Object.keys(packages);
  const index = new Map(locations.map((location, position) => [location, position]));
  const nodes = locations.map((location) => nodeOf(location, packages[location]!, index));
  const edges = locations.flatMap((location, from) =>
    asked(packages[location]!, location).map(({ name, spec, kind }): GraphEdge => {
      const to = lookUp(index, location, name);
      const missing = to === undefined && kind !== 'optional' && kind !== 'peerOptional';
      return {
        from,
        ...(to === undefined ? {} : { to }),
        name,
        spec,
        kind,
        overridden: false,
        ...(missing ? { error: 'MISSING' as const } : {}),
      };
    }),
  );
  return { nodes, edges };
}

function nodeOf(location: string, entry: LockEntry, index: Map<string, number>): GraphNode {
  const name =
    location === ''
      ? (entry.name ?? 'root project')
      : location.slice(location.lastIndexOf('node_modules/') + 'node_modules/'.length);
  return {
    name,
    ...(entry.name && entry.name !== name ? { packageName: entry.name } : {}),
    ...(entry.version && !entry.link ? { version: entry.version } : {}),
    location,
    ...(entry.link ? { target: index.get(entry.resolved!)! } : {}),
    ...(entry.license ? { license: entry.license } : {}),
    ...(entry.deprecated ? { deprecated: entry.deprecated } : {}),
    ...(entry.engines?.node ? { nodeRange: entry.engines.node } : {}),
    dev: entry.dev ?? false,
    optional: entry.optional ?? false,
    devOptional: entry.devOptional ?? false,
    peer: entry.peer ?? false,
    extraneous: false,
    inert: false,
    inBundle: false,
    hasInstallScript: entry.hasInstallScript ?? false,
  };
}

function asked(entry: LockEntry, location: string): { name: string; spec: string; kind: DependencyKind }[] {
  if (entry.link) return [];
  const list = (specs: Record<string, string> | undefined, kind: (name: string) => DependencyKind) =>
    Object.entries(specs ?? {}).map(([name, spec]) => ({ name, spec, kind: kind(name) }));
  const isProject = !location.includes('node_modules/');
  return [
    ...list(entry.dependencies, () => 'prod'),
    ...list(entry.optionalDependencies, () => 'optional'),
    ...list(entry.peerDependencies, (name) => (entry.peerDependenciesMeta?.[name]?.optional ? 'peerOptional' : 'peer')),
    ...(isProject ? list(entry.devDependencies, () => 'dev') : []),
  ];
}

function lookUp(index: Map<string, number>, from: string, name: string): number | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/')))) {
    const location = `${folder}${folder === '' ? '' : '/'}node_modules/${name}`;
    if (!folder.endsWith('/node_modules') && index.has(location)) return index.get(location);
    if (folder === '') return undefined;
  }
}
