/** The results of a variant of a split. `goal`: leads, conversions, or revenue, in one unit for all variants. */
export type VariantResult = { id: string; clicks: number; goal: bigint };

/** A variant with fewer clicks proves nothing. */
const CLICKS_TO_DECIDE = 100;

/**
 * Returns the id of the variant with the most of the goal for each click; among equal ones the first. If a variant has
 * fewer than {@link CLICKS_TO_DECIDE} clicks, returns the first of all.
 *
 * @param results in the order of the split
 * @throws {RangeError} without results
 */
export function winnerOf(results: readonly VariantResult[]): string {
  const [first, ...others] = results;
  if (first === undefined) throw new RangeError('a split must have variants');
  if (results.some(({ clicks }) => clicks < CLICKS_TO_DECIDE)) return first.id;
  // Compared as fractions, which is exact for any amounts.
  const isBetter = (one: VariantResult, other: VariantResult) =>
    one.goal * BigInt(other.clicks) > other.goal * BigInt(one.clicks);
  return others.reduce((best, result) => (isBetter(result, best) ? result : best), first).id;
}
