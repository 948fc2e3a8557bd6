// Installs packages with Espalier's worker into a map of files. The map stays, and all tabs share a
// cache.

import { createWorkerClient, type Files, type InstallEvent, type InstallResult } from 'espalier/worker';

/** A tree to bundle from. */
export interface Installed {
  /** npm's lock. */
  lockfile: string;
  /** The packages directly in `node_modules`, by name. */
  versions: ReadonlyMap<string, string>;
  /** The result as a sentence. */
  sentence: string;
  read(path: string): Uint8Array<ArrayBuffer> | undefined;
}

export class Packages {
  readonly #client = createWorkerClient();
  readonly #registry: string | undefined;
  /** The installed files. An installation keeps them and fetches only missing packages. */
  readonly #files: Files = new Map();
  #running: AbortController | undefined;

  constructor(registry: string | undefined) {
    this.#registry = registry;
  }

  /**
   * Installs the dependencies of a package.json. A previous installation that is still running ends
   * with an `AbortError`.
   */
  async install(manifest: string, lockfile: string | undefined, say: (text: string) => void): Promise<Installed> {
    this.#running?.abort();
    const { signal } = (this.#running = new AbortController());
    const start = performance.now();
    say('Resolving …');
    const installation = this.#client.install({
      manifest,
      ...(lockfile !== undefined && { lockfile }),
      ...(this.#registry !== undefined && { registry: this.#registry }),
      to: this.#files,
      cache: true,
      signal,
    });
    let [planned, unpacked] = [0, 0];
    const tell = (event: InstallEvent) => {
      if (event.type === 'planned') planned = event.install;
      if (event.type === 'unpacked') unpacked++;
    };
    for await (const batch of installation.batches()) {
      batch.forEach(tell);
      if (planned > 0) say(`Installing: ${unpacked} of ${planned} packages …`);
    }
    const result = await installation.result;
    return {
      lockfile: result.lockfile,
      versions: versionsIn(result),
      sentence: sentence(result, performance.now() - start),
      read: (path) => {
        const entry = this.#files.get(path);
        return entry?.type === 'file' ? entry.bytes : undefined;
      },
    };
  }
}

function versionsIn({ packages }: InstallResult): Map<string, string> {
  const top = packages.filter(({ location }) => location.lastIndexOf('node_modules/') === 0);
  return new Map(top.map(({ location, version = '' }) => [location.slice('node_modules/'.length), version]));
}

/** "5 packages in 0.3 s: 1 fetched, 4 kept." */
function sentence({ packages, installStatistics }: InstallResult, elapsed: number): string {
  const { fetched, cached, kept } = installStatistics;
  const parts = [
    [fetched, 'fetched'],
    [cached, 'from the cache'],
    [kept, 'kept'],
  ] as const;
  const told = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return `${packages.length} packages in ${(elapsed / 1000).toFixed(1)} s${told.length > 0 ? `: ${told.join(', ')}` : ''}.`;
}
