import { seededRandom } from '../../core/seeded-random.ts';

/** Seeded random choices: the same seed gives the same sequence. */
export type Random = {
  /** Returns a number from `least` to below `most`. */
  between(least: number, most: number): number;
  pick<T>(from: readonly T[]): T;
  /** Returns true with this probability, 0 to 1. */
  happens(probability: number): boolean;
};

export function createRandom(seed: number): Random {
  const next = seededRandom(seed);
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
