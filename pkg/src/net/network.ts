// Documents and tarballs, from the cache or over the network. What Rust asks for, and what is installed, comes from here.

import type { Cache } from '../../index.js';
import type { Network as Asked } from '../glue.js';
import type { Credentials } from './credentials.js';
import { NetFailure, shown } from './failure.js';
import { verified } from './integrity.js';
import { Transport, type Received, type TransportOptions } from './transport.js';

/** How long a document is fresh whose registry doesn't say. Public registries say five minutes. */
const FRESH_FOR = 300;

export interface NetworkOptions extends TransportOptions {
  credentials: Credentials;
  cache: Cache | undefined;
  preferOffline: boolean;
  offline: boolean;
}

/** A document. */
export interface Document {
  url: string;
  bytes: Uint8Array<ArrayBuffer>;
  contentType: string;
  cached: boolean;
}

/** A tarball that is what it was promised to be. */
export interface Tarball {
  url: string;
  bytes: Uint8Array<ArrayBuffer>;
  /** Its own. */
  integrity: string;
  cached: boolean;
}

export class Network implements Asked {
  readonly #transport: Transport;
  /** Tarballs that were looked into while resolving; an installation needs them again. */
  readonly #listed = new Map<string, Promise<Tarball>>();
  /** Tarballs that are being fetched. The same one may be wanted in several places. */
  readonly #flights = new Map<string, Promise<Tarball>>();

  constructor(readonly options: NetworkOptions) {
    this.#transport = new Transport(options);
  }

  async document(url: string, name: string, accept: string, urgent: boolean, anew: boolean): Promise<Document> {
    const authorization = this.options.credentials.authorization(url, name);
    const key = await documentKey(url, accept, authorization);
    const kept = anew ? undefined : await this.#kept(key, (entry) => this.#isUsable(entry.freshUntil));
    if (kept) return { url: shown(url), bytes: kept.bytes, contentType: kept.contentType ?? '', cached: true };
    this.#refuseOffline(url);
    return this.#transport.get({ url, accept, urgent, authorization, anew }, async ({ bytes, headers }) => {
      const contentType = headers.get('content-type') ?? '';
      const freshFor = lifetime(headers);
      if (freshFor !== undefined) this.#keep(key, { bytes, contentType, freshUntil: Date.now() + freshFor * 1000 });
      return { url: shown(url), bytes, contentType, cached: false };
    });
  }

  /** As `fetchTarball`, for Rust, which looks into it. */
  tarball(url: string, name: string, integrity: string | undefined, urgent: boolean): Promise<Tarball> {
    const tarball = this.fetchTarball(url, name, integrity, urgent);
    this.#listed.set(tarballKey(url, integrity), tarball);
    tarball.catch(() => {});
    return tarball;
  }

  /** Fetches a tarball; not a byte of it is given away before it is verified. */
  fetchTarball(url: string, name: string, integrity: string | undefined, urgent: boolean): Promise<Tarball> {
    const key = tarballKey(url, integrity);
    const listed = this.#listed.get(key);
    if (this.#listed.delete(key) && listed) return listed.catch(() => this.fetchTarball(url, name, integrity, urgent));
    let flight = this.#flights.get(key);
    if (!flight) {
      flight = this.#fetched(url, name, integrity, urgent).finally(() => this.#flights.delete(key));
      this.#flights.set(key, flight);
    }
    return flight;
  }

  async #fetched(url: string, name: string, integrity: string | undefined, urgent: boolean): Promise<Tarball> {
    // Without an integrity nothing says what it should be, so nothing can be kept of it.
    const key = integrity === undefined ? undefined : `tarball:${integrity}`;
    const kept = key && (await this.#kept(key, () => true));
    if (key && kept) {
      try {
        return { url: shown(url), bytes: kept.bytes, integrity: await verified(kept.bytes, integrity, shown(url)), cached: true };
      } catch {
        await quietly(() => this.options.cache?.delete(key));
      }
    }
    this.#refuseOffline(url);
    const authorization = this.options.credentials.authorization(url, name);
    const use = async ({ bytes }: Received) => {
      const own = await verified(bytes, integrity, shown(url));
      if (key) this.#keep(key, { bytes });
      return { url: shown(url), bytes, integrity: own, cached: false };
    };
    return this.#transport.get({ url, accept: '*/*', urgent, authorization }, use);
  }

  /** Settles when everything is kept that was to be. */
  async flush(): Promise<void> {
    await quietly(() => this.options.cache?.flush?.());
  }

  async #kept(key: string | undefined, isUsable: (entry: { freshUntil?: number }) => boolean) {
    if (!key || !this.options.cache) return undefined;
    const entry = await quietly(() => this.options.cache?.get(key));
    if (!(entry?.bytes instanceof Uint8Array) || !isUsable(entry)) return undefined;
    this.options.traffic.cached++;
    return entry;
  }

  #keep(key: string | undefined, entry: { bytes: Uint8Array<ArrayBuffer>; contentType?: string; freshUntil?: number }): void {
    if (key) void quietly(() => this.options.cache?.set(key, entry));
  }

  #isUsable(freshUntil = 0): boolean {
    return this.options.offline || this.options.preferOffline || freshUntil > Date.now();
  }

  #refuseOffline(url: string): void {
    if (!this.options.offline) return;
    const message = `${shown(url)} is not in the cache, and nothing may be fetched (\`offline\`)`;
    throw new NetFailure({ code: 'ENOTCACHED', message, url: shown(url) });
  }
}

/** What a cache throws means that there is nothing. */
async function quietly<T>(attempt: () => Promise<T> | undefined): Promise<T | undefined> {
  try {
    return await attempt();
  } catch {
    return undefined;
  }
}

function tarballKey(url: string, integrity: string | undefined): string {
  return `${integrity ?? ''} ${url}`;
}

/** What only a token gives is not for whoever has another one, or none. Where nothing can be hashed, it isn't kept. */
async function documentKey(url: string, accept: string, authorization: string | undefined): Promise<string | undefined> {
  const key = `document:${url} ${accept}`;
  if (authorization === undefined) return key;
  if (globalThis.crypto?.subtle === undefined) return undefined;
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(authorization)));
  return `${key} ${btoa(String.fromCharCode(...digest))}`;
}

/** For how many seconds an answer may be used without asking; `undefined` where it must not be kept. */
function lifetime(headers: Headers): number | undefined {
  const directives = (headers.get('cache-control') ?? '').toLowerCase();
  if (/\bno-store\b/.test(directives)) return undefined;
  if (/\bno-cache\b/.test(directives)) return 0;
  const seconds = /\bmax-age=(\d{1,9})\b/.exec(directives)?.[1];
  return seconds === undefined ? FRESH_FOR : Number(seconds);
}
