/** Returns a function with numbers from 0 to 1, the same for a seed in every run (mulberry32). */
export function numbersOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A value with how often it is picked. */
export type Weighted = readonly [...unknown[], number];

/** Returns the value at a place from 0 to 1, each with its weight. */
export function pickAt<T extends Weighted>(from: readonly [T, ...T[]], at: number): T {
  const weightOf = (one: T) => Number(one.at(-1));
  let left = at * from.reduce((sum, one) => sum + weightOf(one), 0);
  for (const one of from) {
    left -= weightOf(one);
    if (left < 0) return one;
  }
  return from[0];
}
