// Browsers run this file too.
/**
 * Currencies with other than two digits after the point, from the package `currency-codes`, which is too large for a
 * browser. A test compares this list with `money.ts`.
 */
const NOT_TWO: Record<number, string> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

const digits = new Map(
  Object.entries(NOT_TWO).flatMap(([count, codes]) => codes.split(' ').map((code) => [code, Number(count)])),
);

/**
 * Returns the format of a ledger's amount with all of its digits. By default, `Intl.NumberFormat` omits digits by
 * CLDR, such as the three of an Iraqi dinar, and rounds the amount.
 *
 * @param currency ISO 4217 code in any case
 * @param locale left out: that of the viewer
 */
export function moneyFormat(currency: string, locale?: string): Intl.NumberFormat {
  const code = currency.toUpperCase();
  const count = digits.get(code) ?? 2;
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: code,
    minimumFractionDigits: count,
    maximumFractionDigits: count,
  });
}
