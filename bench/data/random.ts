/** Returns a seeded generator of numbers from 0 to below 1 (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a function that draws a value by weight. */
export function weighted<T extends { weight: number }>(values: readonly T[], random: () => number): () => T {
  const sums: number[] = [];
  let total = 0;
  for (const { weight } of values) {
    total += weight;
    sums.push(total);
  }
  return () => {
    const wanted = random() * total;
    let [low, high] = [0, sums.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sums[middle] ?? 0) <= wanted) low = middle + 1;
      else high = middle;
    }
    return values[low] as T;
  };
}
