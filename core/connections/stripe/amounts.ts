import { exponentOf, halfEven } from '../../money/money.ts';
import type { Money } from '../connector.ts';

/**
 * Decimals of currencies in Stripe's amounts, where they are not two: https://docs.stripe.com/currencies, sections
 * "Zero-decimal currencies" and "Three-decimal currencies". ISK and UGX have none by ISO 4217 and two here ("Special
 * cases"), MGA has two by ISO 4217 and none here.
 */
const DECIMALS: ReadonlyMap<string, number> = new Map([
  ...'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'
    .split(' ')
    .map((code) => [code, 0] as const),
  ...'bhd jod kwd omr tnd'.split(' ').map((code) => [code, 3] as const),
]);

/** Converts an amount of Stripe to minor units of ISO 4217. @throws {MoneyError} for an unknown currency */
export function moneyOf(amount: number, currency: string): Money {
  const code = currency.toLowerCase();
  const shift = exponentOf(code) - (DECIMALS.get(code) ?? 2);
  const minor =
    shift >= 0 ? BigInt(amount) * 10n ** BigInt(shift) : halfEven(BigInt(amount), 10n ** BigInt(-shift));
  return { minor: Number(minor), currency: code };
}
