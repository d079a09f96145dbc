import type { ClickHouseClient } from '../client.ts';
import { runQuery } from '../queries/run-query.ts';

/** A rolled-up day or month (UTC). */
export type RolledUpPeriod = {
  period: 'day' | 'month';
  /** `YYYY-MM-DD`: the day, or the first day of the month. */
  start: string;
  /** Names its rows in `clicks_rolled_up`. Unique. */
  generation: string;
  /** Clicks of all workspaces, without bots and visits of no link. */
  clicks: number;
  /** Rows of a day in `clicks_by_visitor`, with bots and visits of no link. */
  byVisitor: number;
  /** A hash of the clicks that the period was built from, bots included. */
  fingerprint: string;
};

/** The condition on `ts` that it is on the day of the parameter `start`. */
export const ON_DAY = `ts >= toDateTime64({start:Date}, 9, 'UTC') AND ts < toDateTime64({start:Date} + 1, 9, 'UTC')`;

/**
 * Returns the rolled-up periods, oldest first. `touching` restricts them to those that overlap the days from `from` to
 * `to`, both inclusive.
 */
export async function rolledUpPeriods(
  client: ClickHouseClient,
  touching?: { from: string; to: string },
): Promise<RolledUpPeriod[]> {
  const rows = await runQuery<
    Omit<RolledUpPeriod, 'clicks' | 'byVisitor'> & { clicks: string; by_visitor: string }
  >(client, {
    sql: `SELECT period, start, toString(generation) AS generation, clicks, by_visitor, toString(fingerprint) AS fingerprint
          FROM rolled_up_periods FINAL
          ${touching ? 'WHERE start BETWEEN toStartOfMonth({from:Date32}) AND {to:Date32}' : ''}
          ORDER BY start, period`,
    params: touching ?? {},
    seconds: 20,
  });
  return rows.map(({ clicks, by_visitor, ...row }) => ({
    ...row,
    clicks: Number(clicks),
    byVisitor: Number(by_visitor),
  }));
}

/** Puts a period into effect. Its rows must be complete. */
export async function commitPeriod(client: ClickHouseClient, rolled: RolledUpPeriod): Promise<void> {
  const { byVisitor, ...row } = rolled;
  await client.insert({
    table: 'rolled_up_periods',
    values: [{ ...row, by_visitor: byVisitor }],
    format: 'JSONEachRow',
  });
}
