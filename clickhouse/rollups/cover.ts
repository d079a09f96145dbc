import type { Span } from '../queries/visible-clicks.ts';
import type { RolledUpPeriod } from './periods.ts';

type Period = Pick<RolledUpPeriod, 'period' | 'start' | 'generation'>;

/** Splits a window into whole rolled-up periods, and a rest that is read click by click. */
export type Cover<P extends Period = Period> = {
  /** Oldest first. */
  periods: P[];
  /** Oldest first, apart from each other, none of them empty. */
  rest: Span[];
};

const NANOS_PER_MILLI = 1_000_000n;

/** Covers a window with as few whole periods as possible: months first, then days, then the clicks themselves. */
export function coverOf<P extends Period>(window: Span, periods: readonly P[]): Cover<P> {
  const whole = periods
    .map((period) => ({ ...spanOf(period), period, isMonth: period.period === 'month' }))
    .filter(({ from, to }) => from >= window.from && to <= window.to);
  const months = whole.filter(({ isMonth }) => isMonth);
  const days = whole.filter(
    ({ isMonth, from }) => !isMonth && !months.some((month) => month.from <= from && from < month.to),
  );
  const used = [...months, ...days].sort((a, b) => (a.from < b.from ? -1 : 1));
  const rest: Span[] = [];
  let from = window.from;
  for (const next of used) {
    if (next.from > from) rest.push({ from, to: next.from });
    from = next.to;
  }
  if (from < window.to) rest.push({ from, to: window.to });
  return { periods: used.map(({ period }) => period), rest };
}

/** Returns what names the rows of a cover in the roll-ups. */
export const generationsOf = ({ periods }: Cover): bigint[] =>
  periods.map(({ generation }) => BigInt(generation));

/** Returns the span of a period. */
export function spanOf({ period, start }: Period): Span {
  const first = new Date(`${start}T00:00:00Z`);
  const next = new Date(first);
  if (period === 'day') next.setUTCDate(first.getUTCDate() + 1);
  else next.setUTCMonth(first.getUTCMonth() + 1);
  return { from: BigInt(first.getTime()) * NANOS_PER_MILLI, to: BigInt(next.getTime()) * NANOS_PER_MILLI };
}
