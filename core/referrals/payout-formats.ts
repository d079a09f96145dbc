import { exponentOf } from '../money/money.ts';
import type { PayoutFormat, PayoutMethod } from './terms.ts';

/** The limits of PayPal's and Wise's payout files. */

/** The only method of the lines of a format; null: any. */
export const METHOD_OF_FORMAT: Record<PayoutFormat, PayoutMethod | null> = {
  csv: null,
  paypal: 'paypal',
  wise: 'wise',
};

/**
 * Currencies in which PayPal accepts only whole amounts. Source: developer.paypal.com/api/rest/reference/currency-codes
 */
const PAYPAL_WITHOUT_DECIMALS = new Set(['huf', 'jpy', 'twd']);

/** Returns the least amount that a format can write, in minor units. Amounts are multiples of it. */
export function unitOf(format: PayoutFormat, currency: string): number {
  return format === 'paypal' && PAYPAL_WITHOUT_DECIMALS.has(currency) ? 10 ** exponentOf(currency) : 1;
}

/** SQL: the same as {@link unitOf}, of SQL for a format and a currency. */
export const unitSql = (sql: { format: string; currency: string }) => {
  const units = [...PAYPAL_WITHOUT_DECIMALS].map(
    (currency) => `WHEN 'paypal/${currency}' THEN ${unitOf('paypal', currency)}`,
  );
  return `CASE ${sql.format}::text || '/' || ${sql.currency} ${units.join(' ')} ELSE 1 END`;
};

/** Returns the pattern of names that Wise accepts. @param letter matches a letter of any alphabet */
function wiseName(letter: string): string {
  const word = `\\S*${letter}\\S*${letter}\\S*`;
  return `^(?!.*@)(?=${letter})(.*\\s)?${word}\\s(.*\\s)?${word}(\\s.*)?$`;
}

const WISE_NAME = new RegExp(wiseName('\\p{L}'), 'su');

/**
 * Returns whether Wise accepts this name for a recipient: it begins with a letter, and two words have two letters or
 * more. An email is not a name. Source: wise.com/help/articles/2663302 ("full name"), and refusals that users of its
 * batch files report.
 */
export const isWiseName = (name: string): boolean => WISE_NAME.test(name.trim());

/**
 * SQL: the same as {@link isWiseName}, of SQL for a name. PostgreSQL has no `\p{L}`; its letters are those of the
 * collation, and the database's own may know ASCII only.
 */
export const wiseNameSql = (name: string): string =>
  `btrim(${name}, E' \\t\\r\\n') COLLATE "und-x-icu" ~ '${wiseName('[[:alpha:]]')}'`;
