import currencyCodes from 'currency-codes';
import { expect, test } from 'vitest';
import { exponentOf, isCurrency, toMajor } from './money.ts';
import { moneyFormat } from './money-format.ts';

/** Digits after the point. */
const digitsOf = (format: Intl.NumberFormat, amount: number) =>
  format.formatToParts(amount).find(({ type }) => type === 'fraction')?.value.length ?? 0;

test("an amount is written with the ledger's digits in any currency", () => {
  const money = currencyCodes.codes().filter(isCurrency);
  expect(money.length).toBeGreaterThan(150);
  for (const currency of [...money, ...money.map((code) => code.toLowerCase())]) {
    const format = moneyFormat(currency);
    for (const minor of [0, 100_000, 123_456]) {
      expect([currency, digitsOf(format, toMajor(minor, currency))]).toEqual([
        currency,
        exponentOf(currency),
      ]);
    }
  }
});
