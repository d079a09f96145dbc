import { moneyFormat } from '../../core/money/money-format.ts';

/** Numbers and times in the viewer's language and time zone. */

const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The viewer's IANA time zone, such as `Europe/Berlin`. */
export const viewerTimeZone = () => ZONE;

/** Creates a formatter at its first use, once: creating one costs more than a hundred uses. */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const counts = once(() => new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 }));
const shortCounts = once(
  () => new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 }),
);
/** No more digits than a double holds. */
const exact = once(() => new Intl.NumberFormat(undefined, { maximumFractionDigits: 12 }));
const percents = once(() => new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 }));
const changes = once(
  () =>
    new Intl.NumberFormat(undefined, {
      style: 'percent',
      maximumFractionDigits: 1,
      signDisplay: 'exceptZero',
    }),
);
const instants = once(() => new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' }));
const dates = once(() => new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' }));
const times = once(() => new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }));
const ages = once(() => new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' }));
const countries = once(() => new Intl.DisplayNames(undefined, { type: 'region' }));
const money = new Map<string, Intl.NumberFormat>();

export const formatCount = (count: number) => counts().format(count);

/** With every decimal. */
export const formatExact = (value: number) => exact().format(value);

/** `12.4K`; show the full number in a title or table. */
export const formatShort = (count: number) => shortCounts().format(count);

/** @param rate 0 to 1 */
export const formatPercent = (rate: number) => percents().format(rate);

/** `+152.1%`. @param change relative: 1 is twice as much */
export const formatChange = (change: number) => changes().format(change);

/**
 * @param amount major units
 * @param currency ISO 4217 code in any case; with the currency's own number of decimals, as in the ledger
 */
export function formatMoney(amount: number, currency: string): string {
  const known = money.get(currency);
  if (known) return known.format(amount);
  const made = moneyFormat(currency);
  money.set(currency, made);
  return made.format(amount);
}

/** Returns a function that writes `$12.4K`, for axes. @param currency ISO 4217 code in any case */
export function shortMoney(currency: string): (amount: number) => string {
  const format = new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency: currency.toUpperCase(),
    currencyDisplay: 'narrowSymbol',
    notation: 'compact',
    maximumSignificantDigits: 3,
  });
  return (amount) => format.format(amount);
}

/** Day and time, to the second. @param instant ISO 8601 */
export const formatInstant = (instant: string) => instants().format(new Date(instant));

/** The time of day, to the minute. @param instant ISO 8601 */
export const formatTime = (instant: string) => times().format(new Date(instant));

/** Day and time of a time zone, to the minute. @param instant ISO 8601 */
export const formatInstantIn = (instant: string, timeZone: string) =>
  new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short', timeZone }).format(
    new Date(instant),
  );

/** The day alone, of a time zone. @param instant ISO 8601 */
export const formatDayIn = (instant: string, timeZone: string) =>
  new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone }).format(new Date(instant));

/** The day alone. @param instant ISO 8601 */
export const formatDate = (instant: string) => dates().format(new Date(instant));

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

/** `3 minutes ago`. @param instant ISO 8601 */
export function formatAgo(instant: string, now = Date.now()): string {
  const seconds = Math.round((Date.parse(instant) - now) / 1000);
  const [unit, size] = STEPS.find(([, step]) => Math.abs(seconds) >= step) ?? ['second', 1];
  return ages().format(Math.trunc(seconds / size), unit);
}

/** When something planned takes place: `in 5 minutes`, and `under way` once its time has come. */
export function formatPlanned(instant: string, now = Date.now()): string {
  // Less than a second ahead, `formatAgo` may say "now".
  return Date.parse(instant) < now + 1_000 ? 'under way' : formatAgo(instant, now);
}

/** `1 click`, `2 clicks`. */
export const plural = (count: number, one: string, many: string) =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

/** The name of a two-letter country code; `Unknown` for an empty one. */
export function countryName(code: string): string {
  if (code === '') return 'Unknown';
  try {
    return countries().of(code.toUpperCase()) ?? code;
  } catch {
    return code;
  }
}

const CHANNEL_NAMES: Record<string, string> = {
  linkedin: 'LinkedIn',
  twitter: 'X (Twitter)',
  tiktok: 'TikTok',
  youtube: 'YouTube',
  google_business: 'Google Business',
  devto: 'DEV',
  bio: 'Bio page',
  smart: 'Any channel',
};

/** The display name of a channel's key. */
export const channelName = (key: string) =>
  CHANNEL_NAMES[key] ?? (key === '' ? 'Unknown' : `${key.charAt(0).toUpperCase()}${key.slice(1)}`);
