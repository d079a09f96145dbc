/** Summary of repeated measurements. */
export type Spread = { median: number; least: number; most: number };

/** Summarizes measurements. @throws {RangeError} without a measurement */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) throw new RangeError('nothing was measured');
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  const median = sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
  return { median, least: sorted[0] ?? 0, most: sorted.at(-1) ?? 0 };
}

/** Returns the quantile of values. @param sorted ascending @param share 0 to 1 */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  if (sorted.length === 0) return Number.NaN;
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? sorted[0] ?? Number.NaN;
}

/** Returns the ratio of two contestants in each round, which cancels disturbances of the round. */
export function ratios(ours: readonly number[], peers: readonly number[]): number[] {
  return ours.map((value, round) => value / (peers[round] ?? Number.NaN));
}
