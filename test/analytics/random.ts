import { seededRandom } from '../../core/seeded-random.ts';

/** Random choices from a seed: the same seed gives the same ones. */
export type Random = {
  /** From 0 to `end` - 1. */
  below(end: number): number;
  pick<T>(from: readonly T[]): T;
  /** Returns a random number of distinct choices, between `least` and `most`. */
  some<T>(from: readonly T[], least: number, most: number): T[];
  chance(of: number): boolean;
};

export function randomFrom(seed: number): Random {
  const next = seededRandom(seed);
  const below = (end: number) => Math.floor(next() * end);
  const pick = <T>(from: readonly T[]): T => {
    const found = from[below(from.length)];
    if (found === undefined) throw new Error('there is nothing to pick from');
    return found;
  };
  return {
    below,
    pick,
    chance: (of) => next() < of,
    some(from, least, most) {
      const left = [...from];
      const count = Math.min(left.length, least + below(most - least + 1));
      return Array.from({ length: count }, () => left.splice(below(left.length), 1)).flat();
    },
  };
}
