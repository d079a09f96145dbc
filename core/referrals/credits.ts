/** Hundredths of a credit: credits are stored as integers, so that sums are exact. */
const HUNDREDTHS = 100;

/** Largest reward, in credits. */
export const CREDIT_LIMIT = 1_000_000_000;

/** Converts credits to hundredths; null when there are more than two decimals. */
export function toHundredths(credits: number): number | null {
  const hundredths = Math.round(credits * HUNDREDTHS);
  // The quotient is the double nearest to the decimal: equal only if nothing was rounded away.
  return hundredths / HUNDREDTHS === credits ? hundredths : null;
}

/** Converts hundredths to the number of credits with the same digits. */
export function toCredits(hundredths: number): number {
  return hundredths / HUNDREDTHS;
}
