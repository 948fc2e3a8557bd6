// `resolve`, `install`, `mount` and `explain`, in this thread.

import type * as api from '../index.js';
import type { InstallEvent, ResolveEvent } from '../index.js';
import { openCache } from './cache/open.js';
import { guarded } from './crash.js';
import { perInstance, releaser, roomForDocuments, whileThere, withInstance } from './engine.js';
import * as glue from './glue.js';
import { withGraph } from './graph.js';
import {
  type CheckedInput,
  checkedExplainInput,
  checkedInput,
  checkedInstallInput,
  forRust,
  isCache,
  withSlash,
} from './input.js';
import type { Destination } from './install/destination.js';
import { destinationOf } from './install/destinations.js';
import { installTree } from './install/install.js';
import { SnapshotCache } from './cache/snapshot.js';
import { PackageLoader } from './install/loader.js';
import { LazyTree } from './install/mount.js';
import { withNpmrc } from './npmrc.js';
import { started, type Progress } from './progress.js';
import { cacheVia, fetchVia } from './via.js';

export function resolve(input: api.ResolveInput): api.Resolution {
  return started((progress) => {
    const checked = checkedInput(input);
    return withInstance(async () => {
      const context = new Context(checked, input.fetch, progress.signal);
      return context.closing(async () => (await context.resolve(progress)).result);
    });
  }, input?.signal);
}

export function install(input: api.InstallInput): api.Installation {
  return started((progress) => installInto(input, destinationOf(input?.to), progress), input?.signal);
}

/** Installs into the destination. The input's `to` is ignored. */
export async function installInto(
  input: api.InstallInput,
  destination: Destination,
  progress: Progress<InstallEvent>,
): Promise<api.InstallResult> {
  const checked = checkedInstallInput(input);
  return withInstance(async () => {
    const context = new Context(checked, input.fetch, progress.signal);
    return context.closing(async () => {
      const noted = await destination.noted();
      const release = releaser();
      const { result, tree } = await context.resolve(progress, { noted });
      try {
        const loader = new PackageLoader(() => context.network, result.packedGraph, context.ended);
        const { concurrency } = checked;
        const order = {
          tree: tree!,
          loader,
          destination,
          concurrency,
          isNoted: noted !== undefined,
          stop: () => context.end(),
        };
        const installed = await installTree(order, progress);
        return withGraph(Object.assign(result, installed, { files: destination.files ?? new Map() }));
      } catch (error) {
        await destination.abort?.(error);
        throw error;
      } finally {
        release(tree!);
      }
    });
  });
}

export function mount(input: api.MountInput): api.Mounting {
  return started((progress: Progress<ResolveEvent>) => {
    const checked = checkedInstallInput(input);
    return withInstance(async () => {
      const context = new Context(checked, input.fetch, progress.signal);
      const release = releaser();
      const { result, tree } = await context.closing(() => context.resolve(progress, {}));
      const [plan, hiddenLockfile] = planned(tree!, release);
      // Later reads outlive the run, with its signal and the instance that made its network.
      const forGood = new AbortController().signal;
      const network = perInstance(() => new Context({ ...checked, snapshot: undefined }, input.fetch, forGood).network);
      const loader = new PackageLoader(network, result.packedGraph, forGood);
      const lazy = new LazyTree(plan, checked.files, hiddenLockfile, loader);
      return withGraph(Object.assign(result, plan, { tree: lazy, hiddenLockfile }));
    });
  }, input?.signal);
}

/** The parts of a plan that a mounted tree needs. */
function planned(tree: glue.TargetTree, release: (tree: glue.TargetTree) => void): [glue.Plan, string] {
  try {
    return guarded(() => [tree.plan(), tree.hiddenLockfile()]);
  } finally {
    release(tree);
  }
}

export async function explain(input: api.ExplainInput): Promise<api.Explanation[]> {
  input?.signal?.throwIfAborted();
  const checked = checkedExplainInput(input);
  return withInstance(async () => guarded(() => glue.explain(forRust(checked), input.package)));
}

/** The state of a run: its input and its network. */
class Context {
  readonly network: glue.Network;
  readonly input: CheckedInput;
  readonly #snapshot: SnapshotCache | undefined;
  readonly #controller = new AbortController();
  readonly #ifThere = whileThere();
  #closed = false;

  constructor(input: CheckedInput, fetch: api.Fetch | undefined, signal: AbortSignal) {
    const { input: merged, credentials, replaceRegistryHost } = withNpmrc(input);
    this.input = merged;
    const { registry, registries, cache, preferOffline = false, offline = false, retries, timeout } = merged;
    const { snapshot, snapshotSince, before, via } = merged;
    const shared = cache && (isCache(cache) ? cache : openCache(cache));
    const opened = shared && via !== undefined ? cacheVia(via, shared) : shared;
    this.#snapshot = snapshot === undefined ? undefined : new SnapshotCache(snapshot, opened, snapshotSince, before);
    const kept = this.#snapshot ?? opened;
    // A snapshot's documents are for this caller only.
    const room = this.#snapshot ? 0 : roomForDocuments();
    const options = {
      registry,
      registries,
      // Whoever is behind `via` must not get the tokens of the registries.
      credentials: via === undefined ? credentials : {},
      replaceRegistryHost,
      preferOffline,
      offline,
      retries,
      timeout,
      room,
      asked: room > 0 ? numberOf([registry, registries, credentials, replaceRegistryHost, via]) : 0,
    };
    const addresses = () => [guarded(() => this.network.registry()), ...Object.values(registries).map(withSlash)];
    const used = via === undefined ? fetch : fetchVia(via, addresses, fetch);
    this.network = guarded(() => new glue.Network(options, used, kept));
    signal.addEventListener('abort', () => this.end(signal.reason), { once: true });
  }

  /** Resolves, and plans an installation if `install` is given. */
  async resolve(
    { observe, signal }: Progress<ResolveEvent>,
    install?: { noted?: string | undefined },
  ): Promise<{ result: api.Result; tree: glue.TargetTree | undefined }> {
    const { omit = [], frozen } = this.input;
    const omitted = { dev: omit.includes('dev'), optional: omit.includes('optional'), peer: omit.includes('peer') };
    const wanted = install && { omit: omitted, frozen, noted: install.noted };
    const snapshot = this.#snapshot;
    const stopped = new Promise((resolve) => {
      signal.addEventListener('abort', resolve, { once: true });
      snapshot?.whole.catch(resolve);
    });
    await snapshot?.ready();
    signal.throwIfAborted();
    const report = (events: ResolveEvent[], { requests, pending, bytes, wireBytes, elapsed }: glue.Traffic) =>
      observe([...events, { type: 'progress', requests, pending, bytes, wireBytes, elapsed }]);
    const resolving = glue.resolve(forRust(this.input, wanted), this.network, report, stopped);
    // Only a run that was stopped rejects with nothing.
    const outcome = await resolving.catch(async (error: unknown) => {
      if (error === undefined) await snapshot?.whole;
      throw error;
    });
    await snapshot?.whole;
    const { lockfile, packedGraph, warnings, statistics, tree } = outcome;
    const { packages, packuments, version_documents: versionDocuments } = statistics;
    const { requests, retries, bytes, wireBytes, cached, elapsed } = guarded(() => this.network.traffic());
    const registry = guarded(() => this.network.registry());
    const counts = { packages, packuments, versionDocuments, requests, cached, retries, bytes, wireBytes, elapsed };
    const used = snapshot && { snapshot: snapshot.use() };
    return { result: withGraph({ lockfile, packedGraph, warnings, registry, statistics: counts, ...used }), tree };
  }

  /** Whatever the end is, all requests end, and all entries are kept. */
  async closing<T>(use: () => Promise<T>): Promise<T> {
    try {
      return await use();
    } finally {
      this.end();
      let flushed: Promise<void> | undefined;
      this.#ifThere(() => (flushed = this.network.flush()));
      await flushed;
      this.#closed = true;
      this.#ifThere(() => this.network.free());
    }
  }

  /** Ends all requests. */
  end(reason?: unknown): void {
    this.#controller.abort(reason);
    this.#snapshot?.close();
    if (!this.#closed) this.#ifThere(() => this.network.end());
  }

  /** Aborted when all requests have ended. */
  get ended(): AbortSignal {
    return this.#controller.signal;
  }
}

/** The registries and users of earlier runs. */
const asked: string[] = [];

function numberOf(whom: unknown[]): number {
  const text = JSON.stringify(whom);
  const known = asked.indexOf(text);
  return known === -1 ? asked.push(text) - 1 : known;
}
