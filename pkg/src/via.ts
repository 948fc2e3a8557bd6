// Sends requests for registries to another address, such as that of a proxy with CORS headers.

import type { Cache, Fetch } from '../index.js';

/**
 * A `fetch` for which `via` takes the place of the registries' addresses. All addresses end with a
 * slash. The registries are known at the first request.
 */
export function fetchVia(via: string, registries: () => string[], fetch: Fetch = globalFetch): Fetch {
  let known: string[] | undefined;
  return (url, init) => {
    // A registry can be below another one.
    known ??= registries().sort((a, b) => b.length - a.length);
    const registry = known.find((address) => url.startsWith(address));
    return fetch(registry === undefined ? url : via + url.slice(registry.length), init);
  };
}

/**
 * A cache in which documents from `via` are beside those from elsewhere, because the proxy can have
 * users of its own. A tarball is the same wherever it comes from.
 */
export function cacheVia(via: string, cache: Cache): Cache {
  const own = (key: string) => (key.startsWith('document:') ? `${key} via ${via}` : key);
  return {
    get: (key) => cache.get(own(key)),
    set: (key, entry) => cache.set(own(key), entry),
    delete: (key) => cache.delete(own(key)),
    flush: async () => cache.flush?.(),
  };
}

function globalFetch(url: string, init: Parameters<Fetch>[1]): Promise<Response> {
  return globalThis.fetch(url, init);
}
