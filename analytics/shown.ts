import type { RatedFigures } from '../clickhouse/reports/index.ts';
import type { Dimension, Metric } from '../core/analytics/dimensions.ts';
import { RATE_DIGITS } from '../core/analytics/rates.ts';
import { exponentOf, toMajor } from '../core/money/money.ts';
import type { Grouping } from './grouping.ts';
import type { AnalyticsMetrics } from './query.ts';

const NO_ID = '00000000-0000-0000-0000-000000000000';
/** Dimensions whose values are numbers. */
const NUMBERS = new Set<Dimension>(['asn', 'weekday', 'hour_of_day']);

/** Returns the dimensions of a row in the form of a response. */
export function shownDimensions(
  { dimensions }: Grouping,
  keys: readonly string[],
): Record<string, string | number | null> {
  return Object.fromEntries(
    dimensions.map(({ name, key, labels }) => {
      const value = keys[key] ?? '';
      if (labels) return [name, labels.get(value) ?? null];
      if (value === '' || value === NO_ID) return [name, null];
      if (name === 'asn' && value === '0') return [name, null];
      return [name, NUMBERS.has(name) ? Number(value) : value];
    }),
  );
}

/** Returns the metrics of a query in the form of a response. */
export function shownMetrics(
  metrics: readonly Metric[],
  figures: RatedFigures,
  currency: string,
): AnalyticsMetrics {
  const { clicks, visitors, leads, conversions, revenueMinor, conversionRate, revenuePerClick } = figures;
  const all: Required<AnalyticsMetrics> = {
    clicks,
    visitors,
    leads,
    conversions,
    revenue: toMajor(revenueMinor, currency),
    conversion_rate: conversionRate,
    revenue_per_click:
      revenuePerClick === null
        ? null
        : Number((revenuePerClick / 10 ** exponentOf(currency)).toFixed(RATE_DIGITS)),
  };
  return Object.fromEntries(metrics.map((metric) => [metric, all[metric]]));
}
