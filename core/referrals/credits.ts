/** Credits are kept as whole hundredths, so that sums of them are exact. */
const HUNDREDTHS = 100;

/** Most credits that one reward can be. */
export const CREDIT_LIMIT = 1_000_000_000;

/** Credits as hundredths, or null when there are more than two decimals. */
export function toHundredths(credits: number): number | null {
  const hundredths = Math.round(credits * HUNDREDTHS);
  // The quotient is the double nearest to the decimal: equal only if nothing was rounded away.
  return hundredths / HUNDREDTHS === credits ? hundredths : null;
}

/** Hundredths as the number of credits that prints the same digits. */
export function toCredits(hundredths: number): number {
  return hundredths / HUNDREDTHS;
}
