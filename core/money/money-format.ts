/**
 * Currencies whose digits after the point are not two, from the package `currency-codes` as in `money.ts`, which is too
 * large for a browser. `money-format.test.ts` holds them against each other.
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
 * How an amount of the ledger is written: `Intl.NumberFormat` by itself leaves out digits that CLDR finds not worth
 * writing, such as all three of an Iraqi dinar's, and rounds what is owed.
 *
 * @param currency ISO 4217 code in any case
 */
export function moneyFormat(currency: string): Intl.NumberFormat {
  const code = currency.toUpperCase();
  const count = digits.get(code) ?? 2;
  return new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency: code,
    minimumFractionDigits: count,
    maximumFractionDigits: count,
  });
}
