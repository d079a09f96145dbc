import { moneyFormat } from '../../core/money/money-format.ts';
import { locale, words } from './words.ts';

/** Numbers and dates in the page's language. */

export const formatCount = (count: number) => new Intl.NumberFormat(locale()).format(count);

/** @param rate 0 to 1 */
export const formatRate = (rate: number) =>
  new Intl.NumberFormat(locale(), { style: 'percent', maximumFractionDigits: 1 }).format(rate);

/**
 * @param amount major units
 * @param currency ISO 4217 code in any case; formatted with the currency's own number of decimals, as in the ledger
 */
export const formatMoney = (amount: number, currency: string) =>
  moneyFormat(currency, locale()).format(amount);

/** @param percent up to four digits after the point, as the API takes them */
export const formatPercent = (percent: number) =>
  new Intl.NumberFormat(locale(), { style: 'percent', maximumFractionDigits: 4 }).format(percent / 100);

/** A number of credits. */
export const formatAmount = (amount: number) =>
  new Intl.NumberFormat(locale(), {
    minimumFractionDigits: Number.isInteger(amount) ? 0 : 2,
    // The Chilean UF has 4 decimals, the most of any currency.
    maximumFractionDigits: 4,
  }).format(amount);

/** @param instant ISO 8601; the day is a UTC day, as in all statistics */
export const formatDate = (instant: string) =>
  new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(instant));

/** Day and month without the year. */
export const formatDay = (instant: string | number) =>
  new Intl.DateTimeFormat(locale(), { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    new Date(instant),
  );

/** `30 days`, in the page's language. */
export const formatSpan = (count: number, unit: 'day' | 'month') =>
  new Intl.NumberFormat(locale(), { style: 'unit', unit, unitDisplay: 'long' }).format(count);

/** `credits` in the page's language; `free_months`, the name that a workspace gave, as `Free months`. */
export function kindName(kind: string): string {
  if (kind === 'credits') return words('credits');
  const name = kind.replace(/[_-]+/g, ' ').trim();
  return name.charAt(0).toUpperCase() + name.slice(1);
}
