/** A value with how often it is picked. */
export type Weighted = readonly [...unknown[], number];

/** Returns the value at a position from 0 to 1, in which each value has its weight's share. */
export function pickAt<const T extends readonly [Weighted, ...Weighted[]]>(from: T, at: number): T[number] {
  const weightOf = (one: Weighted) => Number(one.at(-1));
  let left = at * from.reduce((sum, one) => sum + weightOf(one), 0);
  for (const one of from) {
    left -= weightOf(one);
    if (left < 0) return one;
  }
  return from[0];
}
