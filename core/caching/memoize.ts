// Browsers run this file too.
import { createBoundedCache } from './bounded-cache.ts';

/**
 * Returns a function that memoizes the newest results of `read`.
 *
 * @param capacity limit of memoized results
 */
export function memoize<T extends object | boolean, K = string>(
  read: (key: K) => T,
  capacity: number,
): (key: K) => T {
  const cache = createBoundedCache<K, T>(capacity);
  return (key) => {
    const known = cache.get(key);
    if (known !== undefined) return known;
    const fresh = read(key);
    cache.set(key, fresh);
    return fresh;
  };
}
