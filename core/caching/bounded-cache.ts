// Browsers run this file too.
/**
 * A cache of at most `capacity` entries, in two generations. A hit is one map look-up and moves nothing; eviction
 * drops the older generation at once. An entry used within the last `capacity / 2` new keys is still there.
 *
 * It is on the path of every redirect. `lru-cache` relinks its list at each hit, which takes about twice the time.
 */
export type BoundedCache<K, V> = {
  get(key: K): V | undefined;
  /** As {@link get}, but does not count as a use. */
  peek(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
  clear(): void;
  /** Number of entries, at most `capacity`. */
  size(): number;
};

/**
 * Creates an empty cache.
 *
 * @param capacity limit of entries; at least 2
 * @throws {RangeError} when `capacity` is below 2
 */
export function createBoundedCache<K, V>(capacity: number): BoundedCache<K, V> {
  if (!(capacity >= 2)) throw new RangeError(`the capacity must be at least 2, not ${capacity}`);
  const half = Math.floor(capacity / 2);
  let young = new Map<K, V>();
  let old = new Map<K, V>();

  function set(key: K, value: V): void {
    if (young.size >= half && !young.has(key)) {
      old = young;
      young = new Map();
    }
    old.delete(key);
    young.set(key, value);
  }

  return {
    get(key) {
      const found = young.get(key);
      if (found !== undefined) return found;
      const aged = old.get(key);
      if (aged !== undefined) set(key, aged);
      return aged;
    },
    peek: (key) => young.get(key) ?? old.get(key),
    set,
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
    clear() {
      young = new Map();
      old = new Map();
    },
    size: () => young.size + old.size,
  };
}
