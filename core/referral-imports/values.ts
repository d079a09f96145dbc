import { instantText } from '../link-imports/values.ts';
import { NANOS_PER_MILLI, parseInstant } from '../time/timestamps.ts';

/** Times and numbers as exports of referral programs and spreadsheets write them. */

/** A value, or the problem of its text, worded as the end of a sentence about the field. */
export type Read<T> = { value: T } | { problem: string };

const MONTHS = [
  ...['january', 'february', 'march', 'april', 'may', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december'],
];
const HOW_TO_WRITE_TIMES = 'must be an ISO 8601 time, such as 2026-11-20T10:00:00Z';

/** Reads a time; one without a zone is of UTC, and a date is its midnight. */
export function readInstant(text: string): Read<Date> {
  const plain = text
    .trim()
    .replace(/\s+(UTC|GMT|Z)$/i, '')
    .replace(/\s+([+-]\d\d:?\d\d)$/, '$1');
  const at = instantOf(plain) ?? secondsOf(plain);
  if (at !== null) return { value: at };
  const written = datesIn(plain);
  const [date, ...others] = [...new Set(written)];
  if (date === undefined) return { problem: HOW_TO_WRITE_TIMES };
  if (others.length > 0) return { problem: `is ambiguous: write ${[date, ...others].join(' or ')}` };
  const time = /\b(\d{1,2}:\d\d(?::\d\d)?)\s*([ap]m)?$/i.exec(plain);
  const [, clock = '0:00', half] = time ?? [];
  const [hour = 0, minute = 0, second = 0] = clock.split(':').map(Number);
  if (half !== undefined && (hour < 1 || hour > 12)) return { problem: HOW_TO_WRITE_TIMES };
  const hours = half === undefined ? hour : (hour % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  const two = (part: number) => String(part).padStart(2, '0');
  const read = instantOf(`${date}T${two(hours)}:${two(minute)}:${two(second)}Z`);
  return read === null ? { problem: HOW_TO_WRITE_TIMES } : { value: read };
}

function instantOf(text: string): Date | null {
  const nanos = parseInstant(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : instantText(text));
  return nanos === null ? null : new Date(Number(nanos / NANOS_PER_MILLI));
}

/** Seconds or milliseconds since the epoch, as some APIs have it. */
function secondsOf(text: string): Date | null {
  if (/^\d{10}$/.test(text)) return new Date(Number(text) * 1_000);
  return /^\d{13}$/.test(text) ? new Date(Number(text)) : null;
}

/** Returns the dates that a text may mean, as `YYYY-MM-DD`. */
function datesIn(text: string): string[] {
  const rest = '(?:,?\\s+(?:at\\s+)?\\d{1,2}:\\d\\d(?::\\d\\d)?\\s*(?:[ap]m)?)?$';
  const named =
    new RegExp(
      `^(?<month>[a-z]{3,9})\\.?\\s+(?<day>\\d{1,2})(?:st|nd|rd|th)?,?\\s+(?<year>\\d{4})${rest}`,
      'i',
    ).exec(text) ??
    new RegExp(
      `^(?<day>\\d{1,2})\\.?[\\s-]+(?<month>[a-z]{3,9})\\.?,?[\\s-]+(?<year>\\d{4})${rest}`,
      'i',
    ).exec(text);
  if (named?.groups) {
    const { year = '', month = '', day = '' } = named.groups;
    return dateOf(year, monthOf(month.toLowerCase()), Number(day));
  }
  const numbers = new RegExp(`^(\\d{1,2})([/.-])(\\d{1,2})\\2(\\d{4})${rest}`, 'i').exec(text);
  if (!numbers) return [];
  const [, one, , other, year = ''] = numbers;
  return [...dateOf(year, Number(one), Number(other)), ...dateOf(year, Number(other), Number(one))];
}

/** Returns the month of an English name, whole or of three letters (`sept` too), from 1; 0 for any other text. */
const monthOf = (name: string): number =>
  MONTHS.findIndex(
    (month) => name === month || name === month.slice(0, 3) || (name === 'sept' && month === 'september'),
  ) + 1;

/** Returns the date, if the calendar has it. */
function dateOf(year: string, month: number, day: number): string[] {
  const date = new Date(Date.UTC(Number(year), month - 1, day));
  const isReal = month >= 1 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isReal ? [date.toISOString().slice(0, 10)] : [];
}

/**
 * Returns a number with a point and without thousands separators, as text. A currency beside it is ignored. One
 * separator before three digits may be of thousands or of decimals; before a zero alone it is of decimals.
 */
export function readDecimal(text: string): Read<string> {
  const value = text.replace(/^[$€£¥]\s*|(?<=\d)\s*[A-Za-z]{3}$/g, '').replaceAll(/[\s\u00a0\u202f]/g, '');
  const whole = value.replaceAll(',', '');
  if (/^-?[1-9]\d{0,2}[.,]\d{3}$/.test(value)) {
    return { problem: `is ambiguous: write ${value.replace(/[.,]/, '')} or ${value.replace(',', '.')}0` };
  }
  if (/^-?\d{1,15}(\.\d{1,6})?$/.test(value)) return { value };
  if (/^-?[1-9]\d{0,2}(\.\d{3}){2,}$/.test(value)) return { value: value.replaceAll('.', '') };
  if (/^-?0,\d{3}$/.test(value)) return { value: value.replace(',', '.') };
  if (/^-?\d{1,3}(,\d{3})+(\.\d{1,6})?$/.test(value)) return { value: whole };
  if (/^-?(\d{1,3}(\.\d{3})+|\d{1,15}),\d{1,6}$/.test(value)) {
    return { value: value.replaceAll('.', '').replace(',', '.') };
  }
  return { problem: 'must be a number with a point, such as 49.90' };
}
