// Carries out a plan: removes what is outdated, fetches and unpacks what is missing, links, and
// writes the hidden lockfile.
//
// The hidden lockfile is removed first and written last, so an interrupted installation never looks
// complete.

import type { Entry, InstallEvent, InstallResult, InstallStatistics } from '../../index.js';
import { guarded } from '../crash.js';
import { EspalierError } from '../errors.js';
import type { Plan, PlannedPackage, TargetTree } from '../glue.js';
import type { Progress } from '../progress.js';
import { type Destination, HIDDEN_LOCKFILE } from './destination.js';
import type { LoadedPackage, PackageLoader } from './loader.js';

/**
 * The maximum number of concurrent packages. Tarballs are large: more of them would fill the memory
 * and hardly come sooner.
 */
const MOST_AT_ONCE = 24;

export interface Order {
  tree: TargetTree;
  loader: PackageLoader;
  destination: Destination;
  concurrency: number;
  /** Stops all fetching and unpacking. */
  stop(): void;
  /** Whether the destination has a hidden lockfile. */
  isNoted: boolean;
}

export type Installed = Pick<
  InstallResult,
  'packages' | 'links' | 'bins' | 'hiddenLockfile' | 'leftOut' | 'installStatistics'
>;

export async function installTree(order: Order, progress: Progress<InstallEvent>): Promise<Installed> {
  return new Installer(order, progress).run();
}

class Installer {
  readonly #order: Order;
  readonly #progress: Progress<InstallEvent>;
  readonly #executables = new Map<string, string[]>();
  /** Bundled packages by the location of their bundle. Those that are found are removed from it. */
  readonly #bundled = new Map<string, Set<string>>();
  readonly #written = new Set<string>();
  readonly #leftOut: InstallResult['leftOut'] = [];
  readonly #statistics: InstallStatistics = {
    installed: 0,
    kept: 0,
    fetched: 0,
    cached: 0,
    files: 0,
    bytes: 0,
    elapsed: 0,
  };

  constructor(order: Order, progress: Progress<InstallEvent>) {
    this.#order = order;
    this.#progress = progress;
  }

  async run(): Promise<Installed> {
    const began = performance.now();
    const { tree, destination } = this.#order;
    const plan = guarded(() => tree.plan());
    for (const { package: location, file } of plan.bins) append(this.#executables, location, file);
    const missing = await this.#clear(plan);
    await this.#each(missing.filter(({ bundled }) => !bundled));
    await this.#each(this.#notInBundles(plan));
    const final = this.#leftOut.length > 0 ? guarded(() => tree.plan()) : plan;
    const bins: Plan['bins'] = [];
    for (const bin of final.bins) if (await this.#exists(`${bin.package}/${bin.file}`)) bins.push(bin);
    const hiddenLockfile = guarded(() => tree.hiddenLockfile());
    const note = {
      type: 'file',
      path: HIDDEN_LOCKFILE,
      bytes: new TextEncoder().encode(hiddenLockfile),
      mode: 0o644,
    } as const;
    await this.#write([...final.links, ...bins.map(({ path, target }) => ({ type: 'link', path, target }) as const)]);
    if (final.packages.length + final.links.length > 0) await this.#write([note]);
    await destination.close?.();
    this.#statistics.elapsed = performance.now() - began;
    const packages = final.packages.map(({ location, name, version, bundled, hasInstallScript, optional }) => {
      return { location, name, ...(version === undefined ? {} : { version }), bundled, hasInstallScript, optional };
    });
    return {
      packages,
      links: final.links,
      bins,
      hiddenLockfile,
      leftOut: this.#leftOut,
      installStatistics: this.#statistics,
    };
  }

  /** Removes what doesn't belong there. Returns the packages that are then missing. */
  async #clear(plan: Plan): Promise<PlannedPackage[]> {
    const { tree, destination, isNoted } = this.#order;
    const locations = [...plan.packages.map(({ location }) => location), ...plan.links.map(({ path }) => path)];
    const outdated = isNoted ? guarded(() => tree.outdated()) : [];
    // Files without a hidden lockfile could be anything.
    const anything = isNoted
      ? []
      : locations.map((location) => location.slice(0, location.indexOf('node_modules/') + 12));
    const commands = locations.map(
      (location) => `${location.slice(0, location.lastIndexOf('node_modules/') + 12)}/.bin`,
    );
    await destination.remove([HIDDEN_LOCKFILE]);
    await destination.remove([...new Set([...outdated, ...anything, ...commands])]);

    const gone = new Set(outdated);
    const isGone = (location: string) => folders(location).some((folder) => gone.has(folder));
    const missing = plan.packages.filter(({ location, kept }) => !kept || isGone(location));
    const byLocation = new Map(plan.packages.map((planned) => [planned.location, planned]));
    for (const { location, bundled } of missing) {
      const bundler =
        bundled &&
        folders(location)
          .reverse()
          .find((folder) => byLocation.get(folder)?.bundled === false);
      if (bundler) this.#bundled.set(bundler, (this.#bundled.get(bundler) ?? new Set()).add(location));
    }
    this.#statistics.kept = plan.packages.length - missing.length;
    this.#observe({ type: 'planned', install: missing.length, keep: this.#statistics.kept, remove: outdated.length });
    return missing;
  }

  /** Installs packages, several at a time. */
  async #each(packages: PlannedPackage[]): Promise<void> {
    const waiting = packages[Symbol.iterator]();
    const failures: unknown[] = [];
    const hand = async () => {
      for (const planned of waiting) {
        if (failures.length > 0) return;
        await this.#one(planned).catch((error: unknown) => {
          // One failure ends everything, and the work of the others is lost.
          if (failures.push(error) === 1) this.#order.stop();
        });
      }
    };
    const hands = Math.min(this.#order.concurrency, MOST_AT_ONCE, packages.length);
    await Promise.all(Array.from({ length: hands }, hand));
    if (failures.length > 0) throw failures[0];
  }

  async #one(planned: PlannedPackage): Promise<void> {
    const { location, name, version, optional } = planned;
    this.#progress.signal.throwIfAborted();
    if (this.#isLeftOut(location)) return;
    let loaded: LoadedPackage;
    try {
      loaded = await this.#order.loader.load(planned, this.#executables.get(location) ?? []);
    } catch (error) {
      if (
        !optional ||
        !(error instanceof EspalierError) ||
        error.code.startsWith('EPATCH') ||
        this.#progress.signal.aborted
      )
        throw error;
      return this.#leave(location, error.message);
    }
    // In the meantime, the package that needed it may have been left out.
    if (this.#isLeftOut(location)) return;
    const entries: Entry[] = [];
    let size = 0;
    for (const [path, { bytes, mode }] of loaded.files) {
      entries.push({ type: 'file', path: `${location}/${path}`, bytes, mode });
      size += bytes.byteLength;
      if (path.includes('node_modules/')) this.#foundInBundle(location, `${location}/${path}`);
    }
    await this.#write(entries);
    this.#statistics.installed++;
    this.#statistics[loaded.cached ? 'cached' : 'fetched']++;
    this.#observe({
      type: 'unpacked',
      location,
      name,
      ...(version === undefined ? {} : { version }),
      files: entries.length,
      bytes: size,
      cached: loaded.cached,
    });
  }

  #foundInBundle(bundler: string, path: string): void {
    const expected = this.#bundled.get(bundler);
    for (const folder of folders(path)) if (expected?.delete(folder)) this.#statistics.installed++;
  }

  /**
   * Packages that the lock calls bundled, but that their bundle lacks. They come from the address
   * that the lock gives for them.
   */
  #notInBundles({ packages }: Plan): PlannedPackage[] {
    const absent = new Set([...this.#bundled.values()].flatMap((locations) => [...locations]));
    const missing = packages.filter(({ location }) => absent.has(location));
    const nowhere = missing.filter(({ url, location }) => url === undefined && !this.#isLeftOut(location));
    for (const { location } of nowhere) {
      this.#leftOut.push({ location, reason: 'it is not in the bundle that the lockfile says it is in' });
    }
    const elsewhere = missing.find(({ url, ofRegistry }) => url !== undefined && !ofRegistry);
    if (elsewhere) {
      const { name, location } = elsewhere;
      const message = `${name} is not in the bundle that the lockfile says it is in, and would come from elsewhere than its registry`;
      throw new EspalierError({ code: 'EALLOWREMOTE', message, package: name, location });
    }
    return missing.filter(({ url }) => url !== undefined);
  }

  /** Removes an optional package that can't be fetched, with everything that only it needed. */
  async #leave(location: string, reason: string): Promise<void> {
    const set = guarded(() => this.#order.tree.leaveOut(location));
    for (const gone of new Set([location, ...set])) {
      this.#leftOut.push({ location: gone, reason });
      this.#observe({ type: 'leftOut', location: gone, reason });
    }
    await this.#order.destination.remove(set);
  }

  #isLeftOut(location: string): boolean {
    return this.#leftOut.some((left) => folders(location).includes(left.location));
  }

  async #exists(path: string): Promise<boolean> {
    return this.#written.has(path) || this.#order.destination.has(path);
  }

  async #write(entries: Entry[]): Promise<void> {
    this.#progress.signal.throwIfAborted();
    await this.#order.destination.write(entries);
    for (const entry of entries) {
      this.#written.add(entry.path);
      this.#statistics.files++;
      if (entry.type === 'file') this.#statistics.bytes += entry.bytes.byteLength;
    }
  }

  #observe(event: InstallEvent): void {
    this.#progress.observe([event]);
  }
}

/** A path and the folders that contain it, the shortest first. */
function folders(path: string): string[] {
  const ends = [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index));
  return [...ends, path];
}

function append(map: Map<string, string[]>, key: string, value: string): void {
  map.set(key, [...(map.get(key) ?? []), value]);
}
