// Browsers run this file too.
/** 97.5% quantile of the standard normal distribution: both sides of it leave out 5%. */
const Z = 1.959_963_984_540_054;

/** A share, 0 to 1, from and to. */
export type Interval = { low: number; high: number };

/**
 * Returns the 95% Wilson score interval of a share: of repeated samples of this size, 95 in 100 have an interval that
 * holds the true share. It is right for few trials and for shares near 0 and 1, where the usual one is not.
 *
 * Source: E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22 (1927).
 *
 * @param hits of the trials; more than the trials count as all
 * @param trials such as clicks
 * @returns null without trials
 */
export function wilsonInterval(hits: number, trials: number): Interval | null {
  if (trials <= 0) return null;
  const share = Math.min(Math.max(hits, 0), trials) / trials;
  const square = Z ** 2 / trials;
  const center = share + square / 2;
  const reach = Z * Math.sqrt((share * (1 - share)) / trials + square / (4 * trials));
  return {
    low: share === 0 ? 0 : Math.max(0, (center - reach) / (1 + square)),
    high: share === 1 ? 1 : Math.min(1, (center + reach) / (1 + square)),
  };
}
