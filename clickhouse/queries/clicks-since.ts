import type { ShownClick } from '../../core/clicks/click-record.ts';
import type { ClickHouseClient } from '../client.ts';
import { type Condition, conditionsSql, IS_OWN, type Orphans, orphansSql } from './click-conditions.ts';
import { runQuery } from './run-query.ts';
import { SHOWN_COLUMNS, type ShownClickRow, toShownClick } from './shown-clicks.ts';
import { NOT_DELETED } from './visible-clicks.ts';

/** Selects the clicks that a poller has not seen. Times are nanoseconds since the epoch. */
export type ClicksSince = {
  workspaceId: string;
  /** Inclusive. */
  since: bigint;
  /**
   * Times of clicks not before `since`, at most one of each stream. That click and all before it in its stream are left
   * out.
   */
  given: readonly bigint[];
  /** Null: all links. Ids of other workspaces match nothing. */
  linkIds: readonly string[] | null;
  orphans: Orphans;
  /** More conditions on the clicks. */
  conditions: readonly Condition[];
  /** Whether clicks of bots are included. */
  bots: boolean;
};

/** Most streams: a click's stream is the last three digits of its time. */
const STREAMS = 1_000n;

/**
 * Returns the visible clicks that the poller has not got, oldest first, without imported ones. The clicks of a stream
 * become visible in the order of their times, so one time of each stream tells known clicks from new ones.
 */
export async function clicksSince(
  client: ClickHouseClient,
  { workspaceId, since, given, linkIds, orphans, conditions: filters, bots }: ClicksSince,
  limit: number,
): Promise<ShownClick[]> {
  const conditions = [
    'workspace_id = {workspace:UUID}',
    IS_OWN,
    "ts >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')",
    ...(given.length > 0 ? [NOT_GIVEN] : []),
    ...(linkIds ? ['link_id IN {links:Array(UUID)}'] : []),
    ...(bots ? [] : ['NOT is_bot']),
  ];
  const own = conditionsSql(filters);
  const rows = await runQuery<ShownClickRow>(client, {
    sql: `SELECT ${SHOWN_COLUMNS} FROM clicks WHERE ${conditions.join(' AND ')} ${orphansSql(orphans)} ${own.sql} ${NOT_DELETED}
          ORDER BY ts LIMIT {limit:UInt32}`,
    params: {
      workspace: workspaceId,
      since,
      limit,
      ...(given.length > 0 && { given, streams: given.map((time) => time % STREAMS) }),
      ...(linkIds && { links: linkIds }),
      ...own.params,
    },
    seconds: 20,
  });
  return rows.map(toShownClick);
}

const NOT_GIVEN = `toUnixTimestamp64Nano(ts) > transform(toUnixTimestamp64Nano(ts) % 1000, {streams:Array(Int64)},
  {given:Array(Int64)}, toInt64(-1))`;

/** Returns the time of the newest visible click of each stream that has one not before `since`. */
export async function newestOfStreams(
  client: ClickHouseClient,
  workspaceId: string,
  since: bigint,
): Promise<bigint[]> {
  const rows = await runQuery<{ newest: string }>(client, {
    sql: `SELECT max(toUnixTimestamp64Nano(ts)) AS newest FROM clicks
          WHERE workspace_id = {workspace:UUID} AND ts >= fromUnixTimestamp64Nano({since:Int64}, 'UTC') AND ${IS_OWN}
          GROUP BY toUnixTimestamp64Nano(ts) % 1000`,
    params: { workspace: workspaceId, since },
    seconds: 20,
  });
  return rows.map((row) => BigInt(row.newest));
}
