import type { Terms } from '../history.ts';

/** One dollar in yen times a hundred, as in the operator's rate table. */
export const YEN_PER_100_USD = 14_925n;
/** Value of a hundred units of the foreign currency, once its rates are set. */
export const PER_100_FOREIGN = { usd: 125n, jpy: 16_050n };

export const isYen = (program: number) => program === 1;

/** Programs 0 and 2 pay cents, program 1 yen. */
export function commissionOf(
  terms: Terms,
  given: { rate: number; cents: number; program: number; isForeign: boolean },
): number {
  const { rate, cents, program, isForeign } = given;
  if (terms.commission_type === 'flat') return isYen(program) ? rate : rate * 100;
  const part = BigInt(cents) * BigInt(Math.round(rate * 100));
  if (!isYen(program)) return roundHalfEven(part * (isForeign ? PER_100_FOREIGN.usd : 100n), 10_000n * 100n);
  return roundHalfEven(part * (isForeign ? PER_100_FOREIGN.jpy : YEN_PER_100_USD), 10_000n * 10_000n);
}

export function roundHalfEven(numerator: bigint, denominator: bigint): number {
  const whole = numerator / denominator;
  const rest = (numerator % denominator) * 2n;
  const up = rest > denominator || (rest === denominator && whole % 2n === 1n);
  return Number(up ? whole + 1n : whole);
}
