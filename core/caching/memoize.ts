import { createBoundedCache } from './bounded-cache.ts';

/**
 * The same function, which remembers its newest answers.
 *
 * @param capacity most of them
 */
export function remembered<T extends object | boolean, K = string>(
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
