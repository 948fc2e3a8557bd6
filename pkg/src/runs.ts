// `resolve`, `install`, `mount` and `explain`, in this thread.

import type * as api from '../index.js';
import type { InstallEvent, ResolveEvent } from '../index.js';
import { openCache } from './cache/open.js';
import { guarded } from './crash.js';
import { releaser, withInstance } from './engine.js';
import * as glue from './glue.js';
import { withGraph } from './graph.js';
import { type CheckedInput, checkedExplainInput, checkedInput, checkedInstallInput, forRust, isCache } from './input.js';
import { destinationOf, type Destination } from './install/destination.js';
import { installTree } from './install/install.js';
import { PackageLoader } from './install/loader.js';
import { LazyTree } from './install/mount.js';
import { Credentials, tokenKey } from './net/credentials.js';
import { Network } from './net/network.js';
import type { Traffic } from './net/transport.js';
import { withNpmrc } from './npmrc.js';
import { started, type Progress } from './progress.js';

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

/** Installs to wherever the destination writes; `to` of the input doesn't matter any more. */
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
        const loader = new PackageLoader(context.network, result.packedGraph, context.ended);
        const { concurrency } = checked;
        const order = { tree: tree!, loader, destination, concurrency, isNoted: noted !== undefined, stop: () => context.end() };
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
      const { result, tree } = await context.closing(() => context.resolve(progress, {}));
      const [plan, hiddenLockfile] = guarded(() => [tree!.plan(), tree!.hiddenLockfile()] as const);
      tree!.free();
      // What is read later outlives the run, and with it its signal.
      const reading = new Context(checked, input.fetch, new AbortController().signal);
      const loader = new PackageLoader(reading.network, result.packedGraph, reading.ended);
      const lazy = new LazyTree(plan, checked.files, hiddenLockfile, loader);
      return withGraph(Object.assign(result, plan, { tree: lazy, hiddenLockfile }));
    });
  }, input?.signal);
}

export async function explain(input: api.ExplainInput): Promise<api.Explanation[]> {
  input?.signal?.throwIfAborted();
  const checked = checkedExplainInput(input);
  return withInstance(async () => JSON.parse(guarded(() => glue.explain(forRust(checked), input.package))) as api.Explanation[]);
}

/** What one run shares: its input, and its way to the network. */
class Context {
  readonly network: Network;
  readonly input: CheckedInput;
  readonly #controller = new AbortController();
  readonly #traffic: Traffic = { requests: 0, retries: 0, pending: 0, bytes: 0, cached: 0 };
  readonly #began = performance.now();

  constructor(
    input: CheckedInput,
    fetch: api.Fetch | undefined,
    signal: AbortSignal,
  ) {
    const { input: merged, authorizations } = withNpmrc(input);
    this.input = merged;
    const { registry, registries, tokens, cache, preferOffline = false, offline = false, retries, timeout } = merged;
    const registryOf = (name: string) => (name.startsWith('@') ? registries[name.slice(0, name.indexOf('/'))] : undefined) ?? registry;
    for (const [address, token] of Object.entries(tokens)) authorizations.set(tokenKey(address), `Bearer ${token}`);
    signal.addEventListener('abort', () => this.end(signal.reason), { once: true });
    this.network = new Network({
      fetch: fetch ?? ((url, init) => globalThis.fetch(url, init)),
      credentials: new Credentials(authorizations, registryOf),
      cache: cache && (isCache(cache) ? cache : openCache(cache)),
      signal: this.#controller.signal,
      traffic: this.#traffic,
      ...{ preferOffline, offline, retries, timeout },
    });
  }

  /** Resolves, and plans what is to be installed, if `install` says so. */
  async resolve(
    { observe, signal }: Progress<ResolveEvent>,
    install?: { noted?: string | undefined },
  ): Promise<{ result: api.Result; tree: glue.Tree | undefined }> {
    const { omit = [], frozen } = this.input;
    const omitted = { dev: omit.includes('dev'), optional: omit.includes('optional'), peer: omit.includes('peer') };
    const wanted = install && { omit: omitted, frozen, noted: install.noted };
    const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    signal.throwIfAborted();
    const report = (events: unknown[]) => {
      const { requests, pending, bytes } = this.#traffic;
      observe([...(events as ResolveEvent[]), { type: 'progress', requests, pending, bytes, elapsed: this.#elapsed() }]);
    };
    const { lockfile, packedGraph, warnings, statistics, tree } = await glue.resolve(forRust(this.input, wanted), this.network, report, aborted);
    const { packages, packuments, version_documents: versionDocuments } = statistics;
    const { requests, retries, bytes, cached } = this.#traffic;
    const counts = { packages, packuments, versionDocuments, requests, cached, retries, bytes, elapsed: this.#elapsed() };
    return { result: withGraph({ lockfile, packedGraph, warnings, statistics: counts }), tree };
  }

  /** At the end, whatever it is, nothing is fetched any more, and what is to be kept is. */
  async closing<T>(use: () => Promise<T>): Promise<T> {
    try {
      return await use();
    } finally {
      this.end();
      await this.network.flush();
    }
  }

  /** Nothing is fetched any more. */
  end(reason?: unknown): void {
    this.#controller.abort(reason);
  }

  /** Aborted when nothing is any more. */
  get ended(): AbortSignal {
    return this.#controller.signal;
  }

  #elapsed(): number {
    return performance.now() - this.#began;
  }
}

