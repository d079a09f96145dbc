// Browsers run this file too.
import { badRequest } from '../errors.ts';

/** Instants are bigint nanoseconds since the Unix epoch, so that nine-digit cursors survive a round trip. */

export const NANOS_PER_MICRO = 1_000n;
export const NANOS_PER_MILLI = 1_000_000n;
export const NANOS_PER_SECOND = 1_000_000_000n;
export const NANOS_PER_DAY = 86_400n * NANOS_PER_SECOND;

/**
 * Range of ClickHouse's `DateTime64(9)`. Clamp an instant before it is compared with stored ones, see {@link
 * clampToStored}.
 */
export const STORED_MIN_NANOS = -2_208_988_800n * NANOS_PER_SECOND; // 1900-01-01T00:00:00Z
export const STORED_MAX_NANOS = 9_223_372_036n * NANOS_PER_SECOND; // 2262-04-11T23:47:16Z

/** The years 0000 to 9999 in UTC, half-open: the range of ISO 8601 and RFC 3339 with four digits. */
export const INSTANT_MIN_NANOS = -62_167_219_200n * NANOS_PER_SECOND; // 0000-01-01T00:00:00Z
export const INSTANT_END_NANOS = 253_402_300_800n * NANOS_PER_SECOND; // 9999-12-31T24:00:00Z

const INSTANT =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)$/;
const BASIC_INSTANT =
  /^(\d{4})(\d\d)(\d\d)[Tt](\d\d)(\d\d)(?:(\d\d)(?:[.,](\d{1,9}))?)?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)$/;
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;

/**
 * Parses an ISO 8601 instant with `Z` or an offset, in the extended or basic form, with up to nine fraction digits. A
 * date alone is its midnight UTC; seconds are optional, and `t` and `z` may be in lower case, as in RFC 3339. A leap
 * second, 23:59:60 in UTC since 1970, is the second after it. Anything else is rejected: a local time, a day that the
 * month lacks, 24:00, a number, and instants outside the years 0000 to 9999 in UTC.
 *
 * @returns nanoseconds since the epoch, or null
 */
export function parseInstant(text: string): bigint | null {
  const date = DATE.exec(text);
  if (date !== null) return seconds(date[1], date[2], date[3], '0', '0', '0');
  const parts = INSTANT.exec(text) ?? BASIC_INSTANT.exec(text);
  if (parts === null) return null;
  const [
    ,
    year,
    month,
    day,
    hour,
    minute,
    second = '0',
    fraction = '',
    sign,
    offsetHour = '0',
    offsetMinute = '0',
  ] = parts;
  const isLeap = second === '60';
  const local = seconds(year, month, day, hour, minute, isLeap ? '59' : second);
  if (local === null || Number(offsetHour) > 23 || Number(offsetMinute) > 59) return null;
  const offset = BigInt(Number(offsetHour) * 3600 + Number(offsetMinute) * 60) * NANOS_PER_SECOND;
  const shown = local + BigInt(fraction.padEnd(9, '0'));
  const listed = sign === '-' ? shown + offset : shown - offset;
  const nanos = isLeap ? listed + NANOS_PER_SECOND : listed;
  if (isLeap && (nanos < 0n || nanos % NANOS_PER_DAY >= NANOS_PER_SECOND)) return null;
  return nanos >= INSTANT_MIN_NANOS && nanos < INSTANT_END_NANOS ? nanos : null;
}

const hintOf = (hint: string | null) => (hint === null ? {} : { hint });

/** A `+` that was not encoded in a query arrives as a blank. */
const BLANK_OFFSET = /^\S+[Tt]\S+ \d\d(:?\d\d)?$/;

/** Returns a hint for a text that would be an instant if its `+` had not become a blank; else null. */
export function blankOffsetHint(text: string): string | null {
  const isMeant = BLANK_OFFSET.test(text) && parseInstant(text.replace(' ', '+')) !== null;
  return isMeant ? 'a `+` in a query is a blank: write %2B, or use Z' : null;
}

/**
 * {@link parseInstant} for input from outside.
 *
 * @param path name of the field or parameter
 * @throws {AppError} `bad_request` that names it
 */
export function requireInstant(path: string, text: string): bigint {
  const nanos = parseInstant(text);
  if (nanos === null) {
    throw badRequest(
      path,
      'must be an ISO 8601 date, or a date and time with Z or an offset, in the years 0000 to 9999 in UTC',
      hintOf(blankOffsetHint(text)),
    );
  }
  return nanos;
}

/**
 * Formats an instant as ISO 8601 in UTC with `Z` and the given number of fraction digits. Finer digits are cut, never
 * rounded up, so a printed time is never after the event.
 *
 * @param nanos from year 0 to 9999
 */
export function formatInstant(nanos: bigint, digits: 3 | 6 | 9): string {
  const rest = ((nanos % NANOS_PER_SECOND) + NANOS_PER_SECOND) % NANOS_PER_SECOND;
  const whole = new Date(Number((nanos - rest) / NANOS_PER_MILLI)).toISOString();
  return `${whole.slice(0, -4)}${rest.toString().padStart(9, '0').slice(0, digits)}Z`;
}

/** Like {@link formatInstant}, with the fewest of 3, 6 and 9 digits that lose nothing. */
export function formatInstantShort(nanos: bigint): string {
  if (nanos % NANOS_PER_MILLI === 0n) return formatInstant(nanos, 3);
  return formatInstant(nanos, nanos % NANOS_PER_MICRO === 0n ? 6 : 9);
}

/** Returns the UTC day of an instant, `YYYY-MM-DD`. */
export function formatDay(nanos: bigint): string {
  return new Date(Number(nanos / NANOS_PER_MILLI)).toISOString().slice(0, 10);
}

/** Returns the nearest instant that ClickHouse can compare with. */
export function clampToStored(nanos: bigint): bigint {
  if (nanos < STORED_MIN_NANOS) return STORED_MIN_NANOS;
  return nanos > STORED_MAX_NANOS ? STORED_MAX_NANOS : nanos;
}

/** Returns the current time, in nanoseconds, at the millisecond. */
export function nowNanos(): bigint {
  return BigInt(Date.now()) * NANOS_PER_MILLI;
}

/** Returns the seconds of a UTC date and time; null when the calendar or the clock lacks it. */
function seconds(
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
  hour: string | undefined,
  minute: string | undefined,
  second: string | undefined,
): bigint | null {
  const [y, mo, d, h, mi, s] = [year, month, day, hour, minute, second].map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (mo < 1 || mo > 12 || d < 1 || h > 23 || mi > 59 || s > 59) return null;
  const date = new Date(0);
  date.setUTCFullYear(y, mo - 1, d);
  // A day past the month's end rolls into the next month.
  if (date.getUTCMonth() !== mo - 1 || date.getUTCDate() !== d) return null;
  date.setUTCHours(h, mi, s);
  return BigInt(date.getTime()) * NANOS_PER_MILLI;
}
