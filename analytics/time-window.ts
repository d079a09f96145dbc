import { badRequest } from '../core/errors.ts';
import {
  formatInstantShort,
  INSTANT_MIN_NANOS,
  NANOS_PER_DAY,
  requireInstant,
} from '../core/time/timestamps.ts';

/** A half-open time span `[from, to)` in nanoseconds since the epoch, and its shown form. */
export type TimeWindow = {
  from: bigint;
  to: bigint;
  /** The `window` of the response. */
  shown: { from: string; to: string };
};

/** The query parameters of a window, as text. */
export type WindowQuery = {
  days?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
};

export type WindowRules = {
  /** Name of the object that has the parameters, for errors. */
  within?: string;
  now: bigint;
  minDays?: number;
  maxDays?: number;
  defaultDays?: number;
};

/**
 * Resolves `days`, `from` and `to`. `from` and `to` override `days`, `to` defaults to now, and `to` without `from`
 * counts `days` back from `to`. Every given parameter must be valid, even an overridden one.
 *
 * @param rules `days` is 1 to 365 and 30 by default unless set here
 * @throws {AppError} `bad_request` that names the parameter
 */
export function resolveWindow(query: WindowQuery, rules: WindowRules): TimeWindow {
  const path = (name: string) => pathOf(name, rules);
  const days = daysOf(query.days, rules);
  const given = query.from === undefined ? null : requireInstant(path('from'), query.from);
  const to = query.to === undefined ? rules.now : requireInstant(path('to'), query.to);
  const from = given ?? to - BigInt(days) * NANOS_PER_DAY;
  if (from < INSTANT_MIN_NANOS)
    throw badRequest(path('to'), `must be ${days} days after the year 0000 begins`);
  if (from >= to) throw badRequest(path('from'), 'must be before to');
  return { from, to, shown: { from: formatInstantShort(from), to: formatInstantShort(to) } };
}

/**
 * Parses the `days` parameter.
 *
 * @throws {AppError} `bad_request` when it is not an integer in range; it is never clamped
 */
export function daysOf(text: string | undefined, rules: Omit<WindowRules, 'now'>): number {
  const { minDays = 1, maxDays = 365, defaultDays = 30 } = rules;
  if (text === undefined) return defaultDays;
  const days = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(days >= minDays && days <= maxDays)) {
    throw badRequest(pathOf('days', rules), `must be an integer from ${minDays} to ${maxDays}`);
  }
  return days;
}

function pathOf(name: string, { within }: Pick<WindowRules, 'within'>): string {
  return within === undefined ? name : `${within}.${name}`;
}
