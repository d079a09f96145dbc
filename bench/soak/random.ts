/** Seeded random choices: the same seed gives the same sequence. */
export type Random = {
  /** Returns a number from `least` to below `most`. */
  between(least: number, most: number): number;
  pick<T>(from: readonly T[]): T;
  /** Returns true with this probability, 0 to 1. */
  happens(probability: number): boolean;
};

/** Mulberry32, with 32 bits of state. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    between: (least, most) => least + next() * (most - least),
    pick(from) {
      const chosen = from[Math.floor(next() * from.length)];
      if (chosen === undefined) throw new RangeError('nothing to pick from');
      return chosen;
    },
    happens: (probability) => next() < probability,
  };
}
