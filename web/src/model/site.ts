// The page that npm's web site has about a package. The site is beside the public registry, whose address only the resolver knows;
// of any other registry nothing is known.

import type { GraphNode } from '../engine/types';
import { packageName } from './copies';

const REGISTRY = /^registry\./;

/** Absent for what didn't come from that registry. */
export function pageOnSite(registry: string, node: GraphNode): string | undefined {
  const { protocol, hostname } = new URL(registry);
  if (!REGISTRY.test(hostname) || !node.resolved?.startsWith(registry)) return undefined;
  return new URL(`${protocol}//${hostname.replace(REGISTRY, 'www.')}/package/${packageName(node)}`).href;
}
