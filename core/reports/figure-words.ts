import type { Metric } from '../analytics/dimensions.ts';
import { directionOf, type Language, localeOf } from '../languages/languages.ts';
import { moneyFormat } from '../money/money-format.ts';

/** How the figures of reports and alerts are written in a language. */
export type FigureWords = ReturnType<typeof figureWords>;

/** Returns how figures are written in a language. @param currency ISO 4217 code */
export function figureWords(language: Language, currency: string) {
  const locale = localeOf(language);
  const counts = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
  const percents = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });
  const changes = new Intl.NumberFormat(locale, {
    style: 'percent',
    maximumFractionDigits: 1,
    signDisplay: 'exceptZero',
  });
  return {
    /** A metric's value. Null: there is nothing to divide by. */
    figure(metric: Metric, value: number | null | undefined): string {
      if (value === null || value === undefined) return '–';
      if (metric === 'conversion_rate') return percents.format(value);
      if (metric === 'revenue' || metric === 'revenue_per_click')
        return moneyFormat(currency, locale).format(value);
      return counts.format(value);
    },
    /** A relative change such as `+12%`; null: there was nothing before. */
    change(now: number | null | undefined, before: number | null | undefined): string | null {
      if (now === null || now === undefined || !before) return null;
      const text = changes.format((now - before) / before);
      // A sign stays at its side of the number within words from right to left.
      return directionOf(language) === 'rtl' ? `\u2066${text}\u2069` : text;
    },
    percent: (share: number): string => percents.format(share),
  };
}
