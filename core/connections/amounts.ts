import { halfEven, roundToMinor } from '../money/money.ts';
import type { Money } from './connector.ts';
import { EventProblem } from './connector.ts';
import type { Json } from './fields.ts';

/** Amounts of providers that count minor units as ISO 4217 does, or write decimals. */

/**
 * Reads an amount in minor units: an integer, or its digits as text.
 *
 * @throws {EventProblem}
 */
export function minorAt(from: Json, name: string): number {
  const value = from[name];
  const minor = typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value;
  if (typeof minor !== 'number' || !Number.isSafeInteger(minor))
    throw new EventProblem(`\`${name}\` must be an amount in minor units`);
  return minor;
}

/** As {@link minorAt}; 0 when the field is missing or null. @throws {EventProblem} */
export function maybeMinor(from: Json | null, name: string): number {
  const value = from?.[name];
  return from === null || value === undefined || value === null ? 0 : minorAt(from, name);
}

/** Reads a decimal amount such as `"403.00"`. @throws {EventProblem} */
export function decimalAt(from: Json, name: string, currency: string): Money {
  const value = from[name];
  if (typeof value !== 'string' || !/^-?\d{1,15}(\.\d{1,6})?$/.test(value))
    throw new EventProblem(`\`${name}\` must be a decimal amount`);
  return { minor: roundToMinor(value, currency), currency: currency.toLowerCase() };
}

/** As {@link decimalAt}, minor units; 0 when the field is missing or null. @throws {EventProblem} */
export function maybeDecimal(from: Json | null, name: string, currency: string): number {
  const value = from?.[name];
  return from === null || value === undefined || value === null ? 0 : decimalAt(from, name, currency).minor;
}

/**
 * Returns the goods' share of what was paid, when a balance paid the rest: `paid` in proportion of `goods` to `total`.
 */
export function shareOf(paid: number, goods: number, total: number): number {
  if (paid <= 0 || total <= 0) return 0;
  const part = Math.min(Math.max(0, goods), total);
  return Math.min(paid, Number(halfEven(BigInt(paid) * BigInt(part), BigInt(total))));
}
