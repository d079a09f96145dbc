import { exponentOf, halfEven } from '../../money/money.ts';

/**
 * Digits after the point with which Stripe counts amounts, where they differ from ISO 4217. Source:
 * https://docs.stripe.com/currencies ("Zero-decimal currencies", "Special cases").
 */
const STRIPE_DIGITS: Readonly<Record<string, number>> = { mga: 0, isk: 2, ugx: 2 };
/** The last digit of an amount in these must be 0. Source: the same page, "Three-decimal currencies". */
const TENTHS = new Set(['bhd', 'jod', 'kwd', 'omr', 'tnd']);

/**
 * Returns what credits are worth as Stripe counts amounts, rounded half to even at the smallest unit that Stripe takes.
 *
 * @param hundredths of a credit
 * @param creditValue major units of `currency` for one credit
 */
export function stripeAmount(hundredths: number, creditValue: number, currency: string): number {
  const [digits = '0', exponent = '0'] = creditValue.toExponential().split('e');
  const [whole = '0', fraction = ''] = digits.split('.');
  const value = BigInt(whole + fraction);
  const scale = fraction.length - Number(exponent);
  const places = STRIPE_DIGITS[currency] ?? exponentOf(currency);
  const step = TENTHS.has(currency) ? 10n : 1n;
  // hundredths / 100 * value / 10^scale * 10^places
  const numerator = BigInt(hundredths) * value * 10n ** BigInt(places + Math.max(0, -scale));
  const denominator = 100n * 10n ** BigInt(Math.max(0, scale)) * step;
  // A currency without minor units that Stripe writes with two digits takes whole major units only.
  const unit = places > exponentOf(currency) ? 10n ** BigInt(places - exponentOf(currency)) : 1n;
  return Number(halfEven(numerator, denominator * unit) * step * unit);
}
