import { moneyFormat } from '../../core/money/money-format.ts';

/** Numbers and dates in the reader's locale. */

export const formatCount = (count: number) => new Intl.NumberFormat().format(count);

/** @param rate 0 to 1 */
export const formatRate = (rate: number) =>
  new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 }).format(rate);

/**
 * @param amount major units
 * @param currency ISO 4217 code in any case; formatted with the currency's own number of decimals, as in the ledger
 */
export const formatMoney = (amount: number, currency: string) => moneyFormat(currency).format(amount);

/** A number of credits. */
export const formatAmount = (amount: number) =>
  new Intl.NumberFormat(undefined, {
    minimumFractionDigits: Number.isInteger(amount) ? 0 : 2,
    // The Chilean UF has 4 decimals, the most of any currency.
    maximumFractionDigits: 4,
  }).format(amount);

/** @param instant ISO 8601; the day is a UTC day, as in all statistics */
export const formatDate = (instant: string) =>
  new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(instant));

/** Day and month without the year. */
export const formatDay = (instant: string | number) =>
  new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    new Date(instant),
  );

export function plural(count: number, one: string, many: string): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

const METHOD_NAMES: Record<string, string> = { paypal: 'PayPal', payoneer: 'Payoneer', wise: 'Wise' };
export const methodName = (method: string) => METHOD_NAMES[method] ?? method;

/** `credits` as `Credits`, `free_months` as `Free months`. */
export function kindName(kind: string): string {
  const words = kind.replace(/[_-]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
