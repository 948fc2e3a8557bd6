// The page about a package on npm's web site. The site belongs to the public registry, whose
// address only the resolver knows. Sites of other registries are unknown.

import type { GraphNode } from '../engine/types';
import { packageName } from './copies';

const REGISTRY = /^registry\./;

/** Absent for packages that did not come from that registry. */
export function pageOnSite(registry: string, node: GraphNode): string | undefined {
  const { protocol, hostname } = new URL(registry);
  if (!REGISTRY.test(hostname) || !node.resolved?.startsWith(registry)) return undefined;
  return new URL(`${protocol}//${hostname.replace(REGISTRY, 'www.')}/package/${packageName(node)}`).href;
}
