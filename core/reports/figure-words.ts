import type { Metric } from '../analytics/dimensions.ts';
import { moneyFormat } from '../money/money-format.ts';

const LOCALE = 'en-US';
const counts = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 2 });
const percents = new Intl.NumberFormat(LOCALE, { style: 'percent', maximumFractionDigits: 1 });
const changes = new Intl.NumberFormat(LOCALE, {
  style: 'percent',
  maximumFractionDigits: 1,
  signDisplay: 'exceptZero',
});

/** Returns a metric's value in words. Null: there is nothing to divide by. */
export function figureText(metric: Metric, value: number | null | undefined, currency: string): string {
  if (value === null || value === undefined) return '–';
  if (metric === 'conversion_rate') return percents.format(value);
  if (metric === 'revenue' || metric === 'revenue_per_click')
    return moneyFormat(currency, LOCALE).format(value);
  return counts.format(value);
}

/** Returns a relative change such as `+12%`; null: there was nothing before. */
export function changeText(now: number | null | undefined, before: number | null | undefined): string | null {
  if (now === null || now === undefined || !before) return null;
  return changes.format((now - before) / before);
}
