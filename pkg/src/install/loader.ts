// Loads a package: its tarball, from the cache or over the network, and its files.

import type { ErrorDetails, GraphEdge, PackedGraph, Requirer } from '../../index.js';
import { guarded } from '../crash.js';
import { releaser } from '../engine.js';
import { EspalierError, isDetails } from '../errors.js';
import { type Network, type PlannedPackage, Unpacker } from '../glue.js';
import { unpackGraph } from '../graph.js';
import { Breather } from './breather.js';

/** How much of a tarball is unpacked at once. */
const PIECE = 64 * 1024;

/** A file of a package. */
export interface PackageFile {
  bytes: Uint8Array<ArrayBuffer>;
  mode: number;
}

/** A package's files by path. If a path occurs twice, the last content counts. */
export interface LoadedPackage {
  files: Map<string, PackageFile>;
  cached: boolean;
}

export class PackageLoader {
  readonly #breather = new Breather();

  constructor(
    readonly network: () => Network,
    readonly graph: PackedGraph,
    readonly signal: AbortSignal,
  ) {}

  /** Fetches a package, verifies it, and unpacks it. `executables` are the files of commands. */
  async load(wanted: PlannedPackage, executables: string[]): Promise<LoadedPackage> {
    const { url, resolved = url, name, integrity } = wanted;
    if (url === undefined || resolved === undefined) throw this.#unreachable(wanted);
    try {
      const tarball = await guarded(() => this.network().fetchTarball(resolved, name, integrity));
      return { files: await this.#unpacked(tarball.bytes, wanted, executables, tarball.url), cached: tarball.cached };
    } catch (error) {
      throw isDetails(error) ? this.#failed(wanted, error) : error;
    }
  }

  async #unpacked(
    bytes: Uint8Array<ArrayBuffer>,
    wanted: PlannedPackage,
    executables: string[],
    url: string,
  ): Promise<Map<string, PackageFile>> {
    const { name, version, ofRegistry, patch } = wanted;
    const release = releaser();
    let unpacker: Unpacker | undefined;
    const files = new Map<string, PackageFile>();
    const take = (complete: unknown[]) => {
      for (let index = 0; index < complete.length; index += 3) {
        const [path, content, mode] = complete.slice(index, index + 3) as [string, Uint8Array<ArrayBuffer>, number];
        files.set(path, { bytes: content, mode });
      }
    };
    try {
      const reading = (unpacker = guarded(() => new Unpacker(bytes.byteLength, executables, patch)));
      for (let start = 0; start < bytes.byteLength; start += PIECE) {
        take(guarded(() => reading.push(bytes.subarray(start, start + PIECE))));
        await this.#breather.breathe();
        this.signal.throwIfAborted();
      }
      take(guarded(() => reading.end()));
      const mistake = ofRegistry && version !== undefined ? reading.mistaken(name, version) : undefined;
      if (mistake !== undefined) throw `its tarball ${mistake}`;
    } catch (problem) {
      if (typeof problem !== 'string') throw problem;
      throw { code: 'EINVALIDRESPONSE', message: `the tarball ${url} can't be used: ${problem}`, url };
    } finally {
      if (unpacker) release(unpacker);
    }
    return files;
  }

  #failed({ name, location }: PlannedPackage, details: ErrorDetails): EspalierError {
    return new EspalierError({ ...details, package: name, location, chain: this.#chain(location) });
  }

  #unreachable({ name, location, resolved = 'nowhere' }: PlannedPackage): EspalierError {
    const message =
      `${name} comes from ${resolved.replace(/\/\/[^/@]*@/, '//')}, which can't be fetched in JavaScript, which reaches only registries and http(s). ` +
      'Use a version from a registry, or the https: address of a tarball whose host allows other origins (CORS).';
    return new EspalierError({ code: 'EUNSUPPORTED', message, package: name, location, chain: this.#chain(location) });
  }

  /** The dependents of a location, from the root downwards, on one of the shortest paths. */
  #chain(location: string): Requirer[] {
    const { nodes, edges } = unpackGraph(this.graph);
    const edgesOf = new Map<number, GraphEdge[]>();
    for (const edge of edges) edgesOf.set(edge.from, [...(edgesOf.get(edge.from) ?? []), edge]);
    // The edge by which each node is reached first. Entries that are added during the iteration are
    // visited, too.
    const ways = new Map<number, GraphEdge | undefined>([[0, undefined]]);
    for (const node of ways.keys()) {
      for (const edge of edgesOf.get(node) ?? [])
        if (edge.to !== undefined && !ways.has(edge.to)) ways.set(edge.to, edge);
    }
    const chain: Requirer[] = [];
    for (let way = ways.get(nodes.findIndex((node) => node.location === location)); way; way = ways.get(way.from)) {
      const { name, packageName, version, location } = nodes[way.from]!;
      chain.unshift({
        name: packageName ?? name,
        ...(version ? { version } : {}),
        location,
        spec: way.spec,
        kind: way.kind,
      });
    }
    return chain;
  }
}
