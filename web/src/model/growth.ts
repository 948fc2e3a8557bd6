// The tree during a resolution, made of events: each package is below the dependent that it was
// placed for. The final graph adds the other edges. It has the same locations, so rows keep their
// keys.

import type { Graph, GraphEdge, GraphNode, ResolveEvent } from '../engine/types';

type Placed = Extract<ResolveEvent, { type: 'placed' }>;

/** A moment of the run: the numbers of fetched and of placed packages, for the strip of time. */
export interface Moment {
  readonly elapsed: number;
  readonly fetched: number;
  readonly placed: number;
}

export class Growth {
  readonly moments: Moment[] = [];
  fetched = 0;
  requests = 0;
  pending = 0;
  bytes = 0;
  readonly #placed = new Map<string, Placed>();

  get size(): number {
    return this.#placed.size;
  }

  apply(events: readonly ResolveEvent[], elapsed: number): void {
    for (const event of events) this.#apply(event);
    // Documents of single versions are requests too, and packuments of a snapshot are not.
    this.moments.push({ elapsed, fetched: Math.max(this.fetched, this.requests), placed: this.size });
  }

  graph(rootName: string, rootVersion?: string): Graph {
    const placed = [...this.#placed.values()];
    const index = new Map(placed.map(({ location }, position) => [location, position + 1]));
    const nodes = [
      node(rootName, rootVersion, ''),
      ...placed.map((event) => node(event.name, event.version, event.location, event.kind)),
    ];
    const edges = placed.flatMap((event, position): GraphEdge[] => {
      const from = event.from === '' ? 0 : index.get(event.from);
      // The dependent may be removed by now. Then another one needs the package, or the package is
      // removed too.
      if (from === undefined) return [];
      return [{ from, to: position + 1, name: event.name, spec: event.spec, kind: event.kind, overridden: false }];
    });
    return { nodes, edges };
  }

  #apply(event: ResolveEvent): void {
    switch (event.type) {
      case 'fetched':
        this.fetched += 1;
        break;
      case 'placed':
        this.#placed.set(event.location, event);
        break;
      case 'removed':
        this.#placed.delete(event.location);
        break;
      case 'progress':
        ({ requests: this.requests, pending: this.pending, bytes: this.bytes } = event);
    }
  }
}

function node(name: string, version: string | undefined, location: string, kind?: Placed['kind']): GraphNode {
  return {
    name,
    ...(version ? { version } : {}),
    location,
    dev: kind === 'dev',
    optional: kind === 'optional' || kind === 'peerOptional',
    devOptional: false,
    peer: kind === 'peer' || kind === 'peerOptional',
    extraneous: false,
    inert: false,
    inBundle: false,
    hasInstallScript: false,
  };
}
