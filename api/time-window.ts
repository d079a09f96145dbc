import { badRequest } from '../core/errors.ts';
import {
  formatInstantShort,
  INSTANT_MIN_NANOS,
  NANOS_PER_DAY,
  requireInstant,
} from '../core/time/timestamps.ts';

/** A half-open span of time `[from, to)` in nanoseconds since the epoch, and how it is shown. */
export type TimeWindow = {
  from: bigint;
  to: bigint;
  /** The answer's `window`. */
  shown: { from: string; to: string };
};

/** The query parameters of a window, as text. */
export type WindowQuery = {
  days?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
};

export type WindowRules = { now: bigint; minDays?: number; maxDays?: number; defaultDays?: number };

/**
 * Resolves `days`, `from` and `to`: `from` and `to` win over `days`, `to` defaults to now, `to` without `from`
 * counts `days` back from `to`. Every parameter that is given must be valid, also one that decides nothing.
 *
 * @param rules `days` is 1 to 365 and 30 by default unless said otherwise
 * @throws {AppError} `bad_request` that names the parameter
 */
export function resolveWindow(query: WindowQuery, rules: WindowRules): TimeWindow {
  const days = daysOf(query.days, rules);
  const given = query.from === undefined ? null : requireInstant('from', query.from);
  const to = query.to === undefined ? rules.now : requireInstant('to', query.to);
  const from = given ?? to - BigInt(days) * NANOS_PER_DAY;
  if (from < INSTANT_MIN_NANOS) throw badRequest('to', `must be ${days} days after the year 0000 begins`);
  if (from >= to) throw badRequest('from', 'must be before to');
  return { from, to, shown: { from: formatInstantShort(from), to: formatInstantShort(to) } };
}

/**
 * The `days` parameter alone.
 *
 * @throws {AppError} `bad_request` when it is no integer in range; never clamped
 */
export function daysOf(text: string | undefined, rules: Omit<WindowRules, 'now'>): number {
  const { minDays = 1, maxDays = 365, defaultDays = 30 } = rules;
  if (text === undefined) return defaultDays;
  const days = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(days >= minDays && days <= maxDays)) {
    throw badRequest('days', `must be an integer from ${minDays} to ${maxDays}`);
  }
  return days;
}
