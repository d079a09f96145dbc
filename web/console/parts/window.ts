import { firstInstantOf } from '../../../core/time/first-instant.ts';
import { zoneClock } from '../../../core/time/zone-clock.ts';
import { viewerTimeZone } from '../formats.ts';

/** Time ranges offered, in days. */
export const WINDOW_DAYS = [1, 7, 30, 90, 365] as const;
const DEFAULT_DAYS = 30;

/** Whether the calendar has the day; it does not have `2026-02-30`. */
function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const midnight = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
}

/** The day in the viewer's time zone, such as `2026-02-28`. */
export const dayOf = (at: Date): string =>
  new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);

/** A time range: the last `days` days, or a range of the viewer's days, both included. */
export type Window = { kind: 'days'; days: number } | { kind: 'range'; from: string; to: string };

/** A time range as parameters of a report. */
export type WindowQuery = { days?: number; from?: string; to?: string };

/** Reads a time range from a page's query; falls back to the default. */
export function windowOf(search: URLSearchParams): Window {
  const from = search.get('from') ?? '';
  const to = search.get('to') ?? '';
  if (isDay(from) && isDay(to) && from <= to) return { kind: 'range', from, to };
  const days = Number(search.get('days') ?? DEFAULT_DAYS);
  return { kind: 'days', days: Number.isInteger(days) && days >= 1 && days <= 365 ? days : DEFAULT_DAYS };
}

/** Rounds the end of a range that includes today, so that its response can be cached. Milliseconds. */
const ROUNDED_TO = 300_000;

/** The API's parameters: `days`, or instants of the viewer's midnights, the last one shortly after now at most. */
export function windowQuery(window: Window): WindowQuery {
  if (window.kind === 'days') return { days: window.days };
  const now = new Date(Math.ceil(Date.now() / ROUNDED_TO) * ROUNDED_TO);
  const zone = viewerTimeZone();
  const end = instantOfDay(window.to, zone, 1);
  return {
    from: instantOfDay(window.from, zone, 0).toISOString(),
    to: (end > now ? now : end).toISOString(),
  };
}

/**
 * The first instant of a day in a time zone, or of the day `later` days after it. Where the clock skips midnight, the
 * day begins when the clock moves on.
 *
 * @param day such as `2026-02-28`
 */
export function instantOfDay(day: string, zone: string, later: number): Date {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(firstInstantOf(zoneClock(zone), { year, month, day: date + later }));
}
