import type { Metric } from '../analytics/dimensions.ts';

export const ALERT_TYPES = ['over', 'under', 'change', 'none'] as const;

/** When an alert fires. */
export type AlertCondition = {
  metric: Metric;
  type: (typeof ALERT_TYPES)[number];
  /** Limit of `over` and `under`. */
  value?: number;
  /** Least difference of `change`, up or down. */
  percent?: number;
  /** Hours that are looked at, up to the last whole one. */
  window_hours: number;
};

/** Metrics of `change`: counts, whose chance is known. */
export const COUNTED_METRICS: readonly Metric[] = ['clicks', 'visitors', 'leads', 'conversions'];

/** What an alert found. `expected`: of `change`, the mean of the same hours of the weeks before. */
export type Finding = { holds: boolean; value: number | null; expected: number | null };

/** Weeks that `change` compares with. */
export const WEEKS = 4;
/** Fewer are too few to tell a change from chance. */
const LEAST_EXPECTED = 10;
/** Standard deviations beyond which a change is not chance: one in 16,000 hours. */
const BEYOND = 4;
/** Part of the expected count by which days differ without a cause, such as weather. */
const DAILY_NOISE = 0.12;

/**
 * Returns whether a condition holds.
 *
 * A change counts if it reaches `percent`, and if it is larger than chance explains: counts of independent visits are as
 * those of Poisson, days differ a little, and the weeks before differ as they did.
 *
 * @param value of the window; null: a rate without clicks
 * @param before the same hours of the last {@link WEEKS} weeks; of `change` alone
 */
export function findingOf(
  condition: AlertCondition,
  value: number | null,
  before: readonly number[] = [],
): Finding {
  const { type, value: limit = 0, percent = 0 } = condition;
  if (type !== 'change') {
    const holds =
      value !== null && (type === 'over' ? value > limit : type === 'under' ? value < limit : value === 0);
    // A rate without clicks says nothing, and no clicks are no conversions.
    return { holds: holds || (type === 'none' && value === null), value, expected: null };
  }
  const now = value ?? 0;
  const expected = before.reduce((sum, count) => sum + count, 0) / WEEKS;
  if (before.length < WEEKS || expected < LEAST_EXPECTED) return { holds: false, value, expected };
  const spread = before.reduce((sum, count) => sum + (count - expected) ** 2, 0) / (WEEKS - 1);
  // Of the difference between a count and the mean of four others.
  const chance = Math.max(expected + (DAILY_NOISE * expected) ** 2, spread) * (1 + 1 / WEEKS);
  const change = Math.abs(now - expected);
  const holds = change >= (percent / 100) * expected && change > BEYOND * Math.sqrt(chance);
  return { holds, value, expected };
}
