import type { ClickHouseClient } from '../client.ts';
import { runQuery } from '../queries/run-query.ts';
import { OF_THIS_LOG } from './removed-clicks.ts';

/** Longest time of one query, in seconds. */
const SECONDS = 120;

/** Hours since the epoch, the last one included; null: all later ones. */
export type HourRange = { from: number; to: number | null };

/** Clicks of a stream and an hour that ClickHouse has, erased ones included. */
export type StoredHour = { ordinal: number; hour: number; clicks: number; sequences: bigint };

/** Above the sequences of every stream of this log. */
const NEVER = 'toUInt64(18446744073709551615)';
/** SQL: which clicks are in the range, and below the next sequence of their stream. */
const IN_RANGE = `ts >= toDateTime64({from:UInt32} * 3600, 9, 'UTC') AND ts < toDateTime64({to:UInt32} * 3600, 9, 'UTC')
  AND ${OF_THIS_LOG} AND sequence < transform(
    toUInt16(toUnixTimestamp64Nano(ts) % 1000), {ordinals:Array(UInt16)}, {next:Array(UInt64)}, ${NEVER})`;
/** The times of a table are those of clicks, whose last digits are the stream's ordinal. */
const BY_HOUR = `toUnixTimestamp64Nano(ts) % 1000 AS ordinal, intDiv(toUnixTimestamp64Nano(ts), 3600000000000) AS hour,
  count() AS clicks, toString(sum(toUInt32(sequence))) AS sequences`;
const GROUP = 'GROUP BY ordinal, hour';
/** Beyond the times that a table can have. */
const NO_END = 1_000_000;

/**
 * Counts the clicks of a range by stream and hour. Clicks that were removed because they were erased count, and one
 * that is about to be removed counts once. Reads two columns of the range.
 *
 * @param next the sequence after the high-water mark, by ordinal: later clicks are still being stored. All clicks of
 *   other ordinals count.
 */
export async function storedClicks(
  client: ClickHouseClient,
  { from, to }: HourRange,
  next: ReadonlyMap<number, bigint>,
): Promise<StoredHour[]> {
  const params = {
    from,
    to: to === null ? NO_END : to + 1,
    // ClickHouse takes no empty lists: no stream has the ordinal of imports.
    ordinals: [999, ...next.keys()],
    next: [0n, ...next.values()],
  };
  const removed = await rowsOf(client, params, 'removed_clicks FINAL');
  // Those that are about to be removed are in both tables.
  const present =
    removed.length === 0
      ? []
      : await rowsOf(
          client,
          params,
          `(SELECT DISTINCT ts, sequence FROM clicks WHERE (ts, sequence) IN (
              SELECT ts, sequence FROM removed_clicks WHERE ${IN_RANGE}) AND ${IN_RANGE})`,
        );
  const stored = await rowsOf(client, params, 'clicks');
  const hours = new Map<string, StoredHour>();
  const add = (rows: readonly StoredHour[], sign: 1 | -1) => {
    for (const { ordinal, hour, clicks, sequences } of rows) {
      const key = `${ordinal}/${hour}`;
      const known = hours.get(key) ?? { ordinal, hour, clicks: 0, sequences: 0n };
      hours.set(key, {
        ...known,
        clicks: known.clicks + sign * clicks,
        sequences: known.sequences + BigInt(sign) * sequences,
      });
    }
  };
  add(stored, 1);
  add(removed, 1);
  add(present, -1);
  return [...hours.values()];
}

async function rowsOf(
  client: ClickHouseClient,
  params: Record<string, unknown>,
  table: string,
): Promise<StoredHour[]> {
  const rows = await runQuery<{ ordinal: string; hour: string; clicks: string; sequences: string }>(client, {
    sql: `SELECT ${BY_HOUR} FROM ${table} WHERE ${IN_RANGE} ${GROUP}`,
    params,
    seconds: SECONDS,
  });
  return rows.map(({ ordinal, hour, clicks, sequences }) => ({
    ordinal: Number(ordinal),
    hour: Number(hour),
    clicks: Number(clicks),
    sequences: BigInt(sequences),
  }));
}
