import type { ClickHouseClient } from '../client.ts';

/** Names an event of any stream: `<ordinal>/<sequence>`. */
export type EventName = `${number}/${bigint}`;

/**
 * Returns which events of a time range are in the table. Called before a range is inserted again, so that events of an
 * earlier attempt with an unknown outcome are left out.
 *
 * @param range.minTs least event time, microseconds; `maxTs` the greatest
 */
export async function presentSequences(
  client: ClickHouseClient,
  range: {
    table: 'clicks' | 'identifies' | 'removed_clicks';
    minTs: number;
    maxTs: number;
    minSequence: bigint;
    maxSequence: bigint;
  },
): Promise<Set<EventName>> {
  const result = await client.query({
    query: `SELECT toUnixTimestamp64Nano(ts) % 1000 AS ordinal, sequence FROM ${range.table}
      WHERE ts >= fromUnixTimestamp64Micro({from:Int64}, 'UTC')
        AND ts < fromUnixTimestamp64Micro({to:Int64}, 'UTC')
        AND sequence BETWEEN {least:UInt64} AND {greatest:UInt64}`,
    query_params: {
      from: range.minTs,
      to: range.maxTs + 1,
      least: String(range.minSequence),
      greatest: String(range.maxSequence),
    },
    format: 'JSONCompactEachRow',
  });
  const rows = await result.json<[string, string]>();
  return new Set(rows.map(([ordinal, sequence]): EventName => `${Number(ordinal)}/${BigInt(sequence)}`));
}
