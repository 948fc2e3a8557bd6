// Opens caches, one for each name.

import type { Cache, CacheOptions } from '../../index.js';
import { IndexedDbCache } from './indexed-db.js';
import { MemoryCache } from './memory.js';

const NAME = 'espalier';
const MAX_BYTES = 512 * 1024 * 1024;

const open = new Map<string, Cache>();

export function openCache({ name = NAME, maxBytes = MAX_BYTES }: CacheOptions = {}): Cache {
  const key = `${maxBytes} ${name}`;
  let cache = open.get(key);
  if (!cache) {
    cache = globalThis.indexedDB ? new IndexedDbCache(name, maxBytes) : new MemoryCache(maxBytes);
    open.set(key, cache);
  }
  return cache;
}
