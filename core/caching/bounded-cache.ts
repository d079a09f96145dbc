/**
 * A cache that never holds more than `capacity` entries. Two generations instead of a true LRU: a hit costs
 * one map look-up and moves nothing, and eviction drops the older generation at once. What was used within
 * the last `capacity / 2` new keys is still there.
 */
export type BoundedCache<K, V> = {
  get(key: K): V | undefined;
  /** As {@link get}, but no use that keeps it longer. */
  peek(key: K): V | undefined;
  set(key: K, value: V): void;
  delete(key: K): void;
  /** Entries held now, at most `capacity`. */
  size(): number;
};

/**
 * @param capacity most entries ever held; at least 2
 * @throws {RangeError} when `capacity` is below 2
 */
export function createBoundedCache<K, V>(capacity: number): BoundedCache<K, V> {
  if (!(capacity >= 2)) throw new RangeError(`capacity ${capacity}: must be at least 2`);
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
    size: () => young.size + old.size,
  };
}
