import type { ClickHouseClient } from '../client.ts';
import { ELSEWHERE } from './elsewhere.ts';

/** Up to where a stream is known to be stored; see `StreamProgress`. */
export type StreamMark = { ordinal: number; highWater: bigint; visibleBefore: number };

/** Above every sequence: leaves out the streams that are not given. */
const NEVER = 2n ** 64n - 1n;

/**
 * Returns the newest sequence of each stream that is stored above its mark, by ordinal. Such rows come from an insert
 * whose range was never committed, or whose commit PostgreSQL has lost. Reads two columns from the oldest mark on.
 */
export async function storedAbove(
  client: ClickHouseClient,
  streams: readonly StreamMark[],
): Promise<Map<number, bigint>> {
  const newest = new Map<number, bigint>();
  if (streams.length === 0) return newest;
  const size = 1 + Math.max(...streams.map(({ ordinal }) => ordinal));
  const next = new Array<bigint>(size).fill(NEVER);
  // Times of a stream strictly increase: a row above its mark is not older than `visibleBefore`.
  const times = new Array<number>(size).fill(0);
  for (const { ordinal, highWater, visibleBefore } of streams) {
    next[ordinal] = highWater + 1n;
    times[ordinal] = visibleBefore;
  }
  const from = Math.min(...streams.map(({ visibleBefore }) => visibleBefore));
  for (const table of ['clicks', 'identifies']) {
    const result = await client.query({
      query: `SELECT toUnixTimestamp64Nano(ts) % 1000 AS ordinal, max(sequence) AS newest FROM ${table}
        PREWHERE ts >= fromUnixTimestamp64Micro({from:Int64}, 'UTC') AND ordinal < length({next:Array(UInt64)})
          AND ts >= fromUnixTimestamp64Micro({times:Array(Int64)}[ordinal + 1], 'UTC')
        WHERE sequence >= {next:Array(UInt64)}[ordinal + 1] AND sequence < ${ELSEWHERE}
        GROUP BY ordinal`,
      query_params: { from, next, times },
      format: 'JSONCompactEachRow',
    });
    for (const [ordinal, sequence] of await result.json<[string, string]>()) {
      const known = newest.get(Number(ordinal)) ?? -1n;
      if (BigInt(sequence) > known) newest.set(Number(ordinal), BigInt(sequence));
    }
  }
  return newest;
}
