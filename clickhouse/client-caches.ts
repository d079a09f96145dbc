import { type BoundedCache, createBoundedCache } from '../core/caching/bounded-cache.ts';
import type { ClickHouseClient } from './client.ts';

/**
 * A cache for each client: what is remembered of one store says nothing of another.
 *
 * @param capacity most entries of each
 */
export function createClientCaches<K, V>(capacity: number): (client: ClickHouseClient) => BoundedCache<K, V> {
  const caches = new WeakMap<ClickHouseClient, BoundedCache<K, V>>();
  return (client) => {
    let cache = caches.get(client);
    if (cache === undefined) {
      cache = createBoundedCache<K, V>(capacity);
      caches.set(client, cache);
    }
    return cache;
  };
}
