import type { ClickHouseClient } from '../client.ts';
import { ask } from '../questions/ask.ts';

/** A day or a month (UTC) whose clicks stand rolled up. */
export type RolledUpPeriod = {
  period: 'day' | 'month';
  /** `YYYY-MM-DD`: the day, or the first day of the month. */
  start: string;
  /** Names its rows in `clicks_rolled_up`. Unique. */
  generation: string;
  /** Of all workspaces, without bots. */
  clicks: number;
};

/** The periods that stand, oldest first; those that touch the days from `from` to `to`, both inclusive, if given. */
export async function rolledUpPeriods(
  client: ClickHouseClient,
  touching?: { from: string; to: string },
): Promise<RolledUpPeriod[]> {
  const rows = await ask<Omit<RolledUpPeriod, 'clicks'> & { clicks: string }>(client, {
    sql: `SELECT period, start, toString(generation) AS generation, clicks FROM rolled_up_periods FINAL
          ${touching ? 'WHERE start BETWEEN toStartOfMonth({from:Date32}) AND {to:Date32}' : ''}
          ORDER BY start, period`,
    params: touching ?? {},
    seconds: 20,
  });
  return rows.map((row) => ({ ...row, clicks: Number(row.clicks) }));
}

/** Makes a period stand. Its rows are complete by then. */
export async function setRolledUp(client: ClickHouseClient, rolled: RolledUpPeriod): Promise<void> {
  await client.insert({
    table: 'rolled_up_periods',
    values: [{ ...rolled, clicks: String(rolled.clicks) }],
    format: 'JSONEachRow',
  });
}
