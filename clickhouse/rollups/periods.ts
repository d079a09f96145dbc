import type { ClickHouseClient } from '../client.ts';
import { runQuery } from '../queries/run-query.ts';

/** A day or a month (UTC) whose clicks stand rolled up. */
export type RolledUpPeriod = {
  period: 'day' | 'month';
  /** `YYYY-MM-DD`: the day, or the first day of the month. */
  start: string;
  /** Names its rows in `clicks_rolled_up`. Unique. */
  generation: string;
  /** Of all workspaces, without bots. */
  clicks: number;
  /** Of a day: its clicks in `clicks_by_visitor`, with bots. */
  byVisitor: number;
  /** Of the clicks that it was made of, with bots: as many others have another one. */
  fingerprint: string;
};

/** The condition on a click's `ts` that it was on the day of the parameter `start`. */
export const ON_DAY = `ts >= toDateTime64({start:Date}, 9, 'UTC') AND ts < toDateTime64({start:Date} + 1, 9, 'UTC')`;

/** The periods that stand, oldest first; those that touch the days from `from` to `to`, both inclusive, if given. */
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

/** Makes a period stand. Its rows are complete by then. */
export async function setRolledUp(client: ClickHouseClient, rolled: RolledUpPeriod): Promise<void> {
  const { byVisitor, ...row } = rolled;
  await client.insert({
    table: 'rolled_up_periods',
    values: [{ ...row, by_visitor: byVisitor }],
    format: 'JSONEachRow',
  });
}
