/** Random choices from a seed (mulberry32): the same seed gives the same ones. */
export type Random = {
  /** From 0 to `end` - 1. */
  below(end: number): number;
  pick<T>(from: readonly T[]): T;
  /** Some different ones, between `least` and `most`. */
  some<T>(from: readonly T[], least: number, most: number): T[];
  chance(of: number): boolean;
};

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
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
