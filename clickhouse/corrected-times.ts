import type { ClickHouseClient } from './client.ts';
import { assertNoneRuns } from './running-inserts.ts';

/** Rows of one stream with times in the future. Times are microseconds, `to` is exclusive. */
export type AheadRows = {
  ordinal: number;
  first: bigint;
  before: bigint;
  from: number;
  to: number;
  shift: number;
};

/** The tables are sorted by time, so a row gets another time by a copy. Orders are written from PostgreSQL instead. */
const MOVED = ['clicks', 'identifies'] as const;

const MOST_SECONDS = 600;

/** Marks a copy in ClickHouse's list of what runs. */
const COPY = 'hoplog: clock correction';

const micros = (value: number) => `fromUnixTimestamp64Nano(${BigInt(value) * 1_000n}, 'UTC')`;

/** Returns the condition on the rows as text, because a mutation takes no parameters: every value is a number. */
function rowsOf({ ordinal, first, before }: AheadRows, from: number, to: number): string {
  return `toUnixTimestamp64Nano(ts) % 1000 = ${ordinal} AND sequence >= ${first} AND sequence < ${before}
    AND ts >= ${micros(from)} AND ts < ${micros(to)}`;
}

/**
 * Copies the rows of a slice that have no corrected copy yet. The slice must be shorter than the shift, so that it
 * holds no copies. Safe to repeat.
 *
 * @throws Error when a row has no copy afterwards: then no row of the slice may be dropped; and while a copy whose caller
 *   is gone still runs
 */
export async function copyCorrected(client: ClickHouseClient, rows: AheadRows): Promise<void> {
  const { from, to, shift } = rows;
  const originals = rowsOf(rows, from, to);
  const isCopy = { sql: "Settings['log_comment'] = {comment:String}", params: { comment: COPY } };
  await assertNoneRuns(client, isCopy, 'copy of a clock correction');
  const moved = `ts - toIntervalMicrosecond(${shift}) AS ts`;
  for (const table of MOVED) {
    const copies = `SELECT sequence FROM ${table} WHERE ${rowsOf(rows, from - shift, to - shift)}`;
    // A subquery, because `ts` in a condition beside the REPLACE is the new one.
    const missing = `(SELECT * FROM ${table} WHERE ${originals} AND sequence NOT IN (${copies}))`;
    await client.command({
      query: `INSERT INTO ${table} SELECT * REPLACE (${moved}) FROM ${missing}`,
      clickhouse_settings: { max_execution_time: MOST_SECONDS, wait_end_of_query: 1, log_comment: COPY },
    });
    const result = await client.query({
      query: `SELECT count() AS left FROM ${missing}`,
      format: 'JSONEachRow',
    });
    const [row] = await result.json<{ left: string }>();
    if (row?.left !== '0')
      throw new Error(`${row?.left} rows of ${table} have no corrected copy: the originals must stay`);
  }
}

/** Removes the rows of a slice that was copied. They are in no response when this resolves. Safe to repeat. */
export async function dropCopied(client: ClickHouseClient, rows: AheadRows): Promise<void> {
  for (const table of MOVED) {
    await client.command({
      query: `ALTER TABLE ${table} DELETE WHERE ${rowsOf(rows, rows.from, rows.to)}`,
      clickhouse_settings: { mutations_sync: '2', max_execution_time: MOST_SECONDS },
    });
  }
}

/** Returns the time of the stream's first click in a period, microseconds; null when it has none. */
export async function firstClick(client: ClickHouseClient, rows: AheadRows): Promise<number | null> {
  const result = await client.query({
    query: `SELECT toUnixTimestamp64Micro(min(ts)) AS first, count() AS clicks
      FROM clicks WHERE ${rowsOf(rows, rows.from, rows.to)}`,
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ first: string; clicks: string }>();
  return row && row.clicks !== '0' ? Number(row.first) : null;
}
