import currencyCodes from 'currency-codes';

/**
 * Money is an integer count of a currency's minor units, with the currency's own exponent (ISO 4217, from the package
 * `currency-codes`). Major units exist at the edge only. Currencies are in lower case.
 */

export type MoneyProblem = 'unknown_currency' | 'not_finite' | 'too_many_decimals' | 'out_of_range';

/** Thrown for an amount or a currency that can't be used; `problem` is the reason, the message has the value. */
export class MoneyError extends Error {
  readonly problem: MoneyProblem;

  constructor(problem: MoneyProblem, message: string) {
    super(message);
    this.name = 'MoneyError';
    this.problem = problem;
  }
}

/**
 * Largest amount of an order, in minor units of any currency: 10^10 dollars. A sum of nine thousand of them is within
 * 2^53.
 */
export const AMOUNT_LIMIT = 1_000_000_000_000;

/** ISO 4217 codes that are not money: metals, bonds, funds of account, tests, "none". */
const NOT_MONEY = new Set('XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX'.split(' '));

/** Since amendment 176 of ISO 4217 (2025), which the package does not have: the Caribbean guilder. */
const ADDED = [{ code: 'XCG', digits: 2 }];

const exponents = new Map(
  [...currencyCodes.data, ...ADDED]
    .filter(({ code }) => !NOT_MONEY.has(code))
    .map(({ code, digits }) => [code.toLowerCase(), digits]),
);

/** Returns whether `currency` is an ISO 4217 code of money, in either case. */
export function isCurrency(currency: string): boolean {
  return exponents.has(currency.toLowerCase());
}

/**
 * Returns the digits after the point: 2 for usd, 0 for jpy, 3 for kwd.
 *
 * @throws {MoneyError} `unknown_currency`
 */
export function exponentOf(currency: string): number {
  const exponent = exponents.get(currency.toLowerCase());
  if (exponent === undefined)
    throw new MoneyError('unknown_currency', `currency ${JSON.stringify(currency)}`);
  return exponent;
}

/** A rest below this part of a minor unit comes from binary arithmetic (`0.1 + 0.2`), not from the amount. */
const BINARY_REST = 1_000_000n;

/**
 * Converts major units to minor units, exactly. It moves the digits of the number's shortest decimal form, so 19.99
 * is 1999 and never 1998. Drops a rest below a millionth of the minor unit.
 *
 * @param major may be negative
 * @throws {MoneyError} `too_many_decimals` (0.5 jpy, 1.005 usd), `out_of_range` (beyond 2^53 minor units),
 *   `not_finite`, `unknown_currency`
 */
export function toMinor(major: number, currency: string): number {
  const exponent = exponentOf(currency);
  const { digits, scale } = decimalOf(major);
  if (scale <= exponent) return safe(digits * 10n ** BigInt(exponent - scale), `${major} ${currency}`);
  const unit = 10n ** BigInt(scale - exponent);
  const minor = halfEven(digits, unit);
  const rest = digits - minor * unit;
  if ((rest < 0n ? -rest : rest) * BINARY_REST >= unit) {
    throw new MoneyError('too_many_decimals', `${major} ${currency}: at most ${exponent} decimals`);
  }
  return safe(minor, `${major} ${currency}`);
}

/**
 * Converts major units to minor units, rounded half to even at the minor unit.
 *
 * @param major a finite number, or a decimal text such as `49.90`
 * @throws {MoneyError} `out_of_range`, `not_finite`, `unknown_currency`
 */
export function roundToMinor(major: number | string, currency: string): number {
  const exponent = exponentOf(currency);
  const { digits, scale } = typeof major === 'string' ? decimalOfText(major) : decimalOf(major);
  const minor =
    scale > exponent
      ? halfEven(digits, 10n ** BigInt(scale - exponent))
      : digits * 10n ** BigInt(exponent - scale);
  return safe(minor, `${major} ${currency}`);
}

/**
 * Converts minor units to the number of major units with the same digits.
 *
 * @param minor may be a sum beyond 2^53, whose result is the nearest number
 * @throws {MoneyError} `unknown_currency`; `out_of_range` when `minor` is not an integer
 */
export function toMajor(minor: number | bigint, currency: string): number {
  const exponent = exponentOf(currency);
  if (typeof minor === 'number' && !Number.isInteger(minor)) {
    throw new MoneyError('out_of_range', `${minor} minor units`);
  }
  const count = BigInt(minor);
  if (exponent === 0) return Number(count);
  const sign = count < 0n ? '-' : '';
  const text = (count < 0n ? -count : count).toString().padStart(exponent + 1, '0');
  const value = Number(`${sign}${text.slice(0, -exponent)}.${text.slice(-exponent)}`);
  return value === 0 ? 0 : value;
}

/**
 * Returns the quotient of two integers, rounded half to even: 5/2 is 2, 7/2 is 4, -5/2 is -2.
 *
 * @throws {RangeError} when `denominator` is zero
 */
export function halfEven(numerator: bigint, denominator: bigint): bigint {
  if (denominator === 0n) throw new RangeError('halfEven: denominator is zero');
  const negative = numerator < 0n !== denominator < 0n;
  const n = numerator < 0n ? -numerator : numerator;
  const d = denominator < 0n ? -denominator : denominator;
  const floor = n / d;
  const twice = (n % d) * 2n;
  const rounded = twice > d || (twice === d && floor % 2n === 1n) ? floor + 1n : floor;
  return negative ? -rounded : rounded;
}

/**
 * Returns `percent` of an amount, rounded once, half to even, at the minor unit.
 *
 * @param percent 20 is 20 percent, 12.5 is an eighth
 * @throws {MoneyError} `not_finite`, `out_of_range`
 */
export function percentOf(minor: number | bigint, percent: number): number {
  const rate = decimalOf(percent);
  const exact = halfEven(integer(minor) * rate.digits, 100n * 10n ** BigInt(rate.scale));
  return safe(exact, `${percent} percent of ${minor}`);
}

/**
 * Converts an amount to another currency, rounded once, half to even.
 *
 * @param rate major units of `to` for one major unit of `from`
 * @throws {MoneyError} `unknown_currency`, `not_finite`, `out_of_range`
 */
export function convertMinor(minor: number | bigint, from: string, to: string, rate: number): number {
  return safe(convertSum(integer(minor), from, to, rate), `${minor} ${from} in ${to}`);
}

/**
 * {@link convertMinor} of a sum, which may be beyond the range of exact numbers.
 *
 * @throws {MoneyError} `unknown_currency`, `not_finite`
 */
export function convertSum(minor: bigint, from: string, to: string, rate: number): bigint {
  const { digits, scale } = decimalOf(rate);
  const numerator = minor * digits * 10n ** BigInt(exponentOf(to));
  return halfEven(numerator, 10n ** BigInt(scale + exponentOf(from)));
}

/**
 * Returns `percent` of an amount in another currency: converted and rounded once, half to even, at the minor unit of
 * `to`.
 *
 * @param rate major units of `to` for one major unit of `from`; 1 within one currency
 * @throws {MoneyError} `unknown_currency`, `not_finite`, `out_of_range`
 */
export function percentOfConverted(
  minor: number | bigint,
  percent: number,
  from: string,
  to: string,
  rate: number,
): number {
  const share = decimalOf(percent);
  const price = decimalOf(rate);
  const numerator = integer(minor) * share.digits * price.digits * 10n ** BigInt(exponentOf(to));
  const denominator = 100n * 10n ** BigInt(share.scale + price.scale + exponentOf(from));
  return safe(halfEven(numerator, denominator), `${percent} percent of ${minor} ${from} in ${to}`);
}

/**
 * Splits an amount in proportion to weights, by largest remainder. The parts are integers that sum to `total`
 * exactly, each less than one unit off its exact share. Ties go to the earlier part, so equal input splits equally.
 *
 * @param total minor units, may be negative
 * @param weights non-negative integers, at least one of them positive
 * @throws {RangeError} when the weights are invalid
 */
export function splitByLargestRemainder(total: number, weights: readonly number[]): number[] {
  const parts = weights.map((weight) => {
    if (!Number.isSafeInteger(weight) || weight < 0) throw new RangeError(`weight ${weight}`);
    return BigInt(weight);
  });
  const sum = parts.reduce((left, right) => left + right, 0n);
  if (sum === 0n) throw new RangeError('splitByLargestRemainder: no positive weight');
  const amount = integer(total);
  const size = amount < 0n ? -amount : amount;
  const floors = parts.map((part) => (size * part) / sum);
  let left = Number(size - floors.reduce((a, b) => a + b, 0n));
  const byRemainder = parts
    .map((part, index) => ({ index, remainder: (size * part) % sum }))
    .sort((a, b) => (a.remainder === b.remainder ? a.index - b.index : a.remainder > b.remainder ? -1 : 1));
  for (const { index } of byRemainder) {
    if (left === 0) break;
    floors[index] = (floors[index] ?? 0n) + 1n;
    left -= 1;
  }
  return floors.map((part) => Number(amount < 0n ? -part : part) || 0);
}

/** Returns a number as the integer `digits` over 10^`scale`, from its shortest decimal form. */
function decimalOf(value: number): { digits: bigint; scale: number } {
  if (!Number.isFinite(value)) throw new MoneyError('not_finite', `${value}`);
  return decimalOfText(String(value));
}

function decimalOfText(text: string): { digits: bigint; scale: number } {
  const [mantissa = '', exponent = '0'] = text.split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const shift = fraction.length - Number(exponent);
  const digits = BigInt(whole + fraction);
  return shift >= 0 ? { digits, scale: shift } : { digits: digits * 10n ** BigInt(-shift), scale: 0 };
}

function integer(minor: number | bigint): bigint {
  if (typeof minor === 'bigint') return minor;
  if (!Number.isSafeInteger(minor)) throw new MoneyError('out_of_range', `${minor} minor units`);
  return BigInt(minor);
}

function safe(minor: bigint, what: string): number {
  const value = Number(minor);
  if (!Number.isSafeInteger(value)) throw new MoneyError('out_of_range', what);
  return value;
}
