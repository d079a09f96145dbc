import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseInstant } from '../../core/time/timestamps.ts';
import { coverOf } from './cover.ts';
import type { RolledUpPeriod } from './periods.ts';

const at = (text: string) => parseInstant(text) ?? 0n;
const rolledUp = (period: RolledUpPeriod['period'], start: string): RolledUpPeriod => ({
  period,
  start,
  generation: `${period[0]}${start}`,
  clicks: 1,
  byVisitor: 0,
  fingerprint: '0',
});
const day = (start: string) => rolledUp('day', start);
const month = (start: string) => rolledUp('month', start);

describe('a window', () => {
  test('is covered by its months, then its days, and its edges click by click', () => {
    const days = ['2026-01-30', '2026-01-31', '2026-02-01', '2026-02-02', '2026-03-01'].map(day);
    const cover = coverOf({ from: at('2026-01-30T12:00:00Z'), to: at('2026-03-02T00:00:01Z') }, [
      ...days,
      month('2026-01-01'),
      month('2026-02-01'),
    ]);
    expect(cover.periods).toEqual([day('2026-01-31'), month('2026-02-01'), day('2026-03-01')]);
    expect(cover.rest).toEqual([
      { from: at('2026-01-30T12:00:00Z'), to: at('2026-01-31') },
      { from: at('2026-03-02'), to: at('2026-03-02T00:00:01Z') },
    ]);
  });

  test('has days that are not rolled up click by click', () => {
    const cover = coverOf({ from: at('2026-01-01'), to: at('2026-01-04') }, [
      day('2026-01-01'),
      day('2026-01-03'),
    ]);
    expect(cover.rest).toEqual([{ from: at('2026-01-02'), to: at('2026-01-03') }]);
  });

  test('without a rolled-up day in it is its own rest', () => {
    const window = { from: at('2026-01-01T00:00:01Z'), to: at('2026-01-02') };
    expect(coverOf(window, [])).toEqual({ periods: [], rest: [window] });
    expect(coverOf(window, [day('2026-01-01')])).toEqual({ periods: [], rest: [window] });
    expect(coverOf({ from: at('2026-01-01'), to: at('2026-01-02') }, [day('2026-01-01')]).rest).toEqual([]);
  });

  test('is covered without gap or overlap, whatever is rolled up', () => {
    const origin = Date.parse('2026-01-01');
    const days = fc
      .uniqueArray(fc.nat(120))
      .map((numbers) =>
        numbers.map((n) => day(new Date(origin + n * 86_400_000).toISOString().slice(0, 10))),
      );
    const months = fc
      .subarray(['2026-01-01', '2026-02-01', '2026-03-01', '2026-04-01'])
      .map((all) => all.map(month));
    const instant = fc.integer({ min: 0, max: 120 * 24 });
    fc.assert(
      fc.property(days, months, instant, instant, (someDays, someMonths, a, b) => {
        const hour = (n: number) => BigInt(origin + n * 3_600_000) * 1_000_000n;
        const window = { from: hour(Math.min(a, b)), to: hour(Math.max(a, b) + 1) };
        const cover = coverOf(window, [...someDays, ...someMonths]);
        const pieces = [...cover.rest];
        for (const { generation } of cover.periods) {
          const from = at(generation.slice(1));
          const first = new Date(Number(from / 1_000_000n));
          const next =
            generation[0] === 'd'
              ? first.setUTCDate(first.getUTCDate() + 1)
              : first.setUTCMonth(first.getUTCMonth() + 1);
          pieces.push({ from, to: BigInt(next) * 1_000_000n });
        }
        pieces.sort((one, other) => (one.from < other.from ? -1 : 1));
        let end = window.from;
        for (const piece of pieces) {
          expect(piece.from).toBe(end);
          expect(piece.to).toBeGreaterThan(piece.from);
          end = piece.to;
        }
        expect(end).toBe(window.to);
      }),
    );
  });
});
