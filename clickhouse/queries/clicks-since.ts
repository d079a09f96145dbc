import type { ShownClick } from '../../core/clicks/click-record.ts';
import type { ClickHouseClient } from '../client.ts';
import { runQuery } from './run-query.ts';
import { SHOWN_COLUMNS, type ShownClickRow, toShownClick } from './shown-clicks.ts';
import { NOT_DELETED } from './visible-clicks.ts';

/** Which clicks follow. Times are nanoseconds since 1970 and later. */
export type ClicksSince = {
  workspaceId: string;
  /** Inclusive. */
  since: bigint;
  /** Times of clicks not before `since`: of the stream of each, it and all before it are left out. */
  given: readonly bigint[];
  /** Null: of all links. Ids of other workspaces match nothing. */
  linkIds: readonly string[] | null;
  channel: string | null;
  country: string | null;
  /** Whether bots' clicks are in. */
  bots: boolean;
};

/** Streams that there can be: a click's stream is its time's last three digits. */
const STREAMS = 1_000n;

/**
 * The clicks that are visible and not yet given, oldest first. A stream's clicks become visible in the order of their
 * times, so that one time for each stream says which were given.
 */
export async function clicksSince(
  client: ClickHouseClient,
  { workspaceId, since, given, linkIds, channel, country, bots }: ClicksSince,
  limit: number,
): Promise<ShownClick[]> {
  const conditions = [
    'workspace_id = {workspace:UUID}',
    "ts >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')",
    ...(given.length > 0 ? [NOT_GIVEN] : []),
    ...(linkIds ? ['link_id IN {links:Array(UUID)}'] : []),
    ...(channel === null ? [] : ['channel = {channel:String}']),
    ...(country === null ? [] : ['country = {country:String}']),
    ...(bots ? [] : ['NOT is_bot']),
  ];
  const rows = await runQuery<ShownClickRow>(client, {
    sql: `SELECT ${SHOWN_COLUMNS} FROM clicks WHERE ${conditions.join(' AND ')} ${NOT_DELETED}
          ORDER BY ts LIMIT {limit:UInt32}`,
    params: {
      workspace: workspaceId,
      since,
      limit,
      ...(given.length > 0 && { given, streams: given.map((time) => time % STREAMS) }),
      ...(linkIds && { links: linkIds }),
      ...(channel !== null && { channel }),
      ...(country !== null && { country }),
    },
    seconds: 20,
  });
  return rows.map(toShownClick);
}

const NOT_GIVEN = `toUnixTimestamp64Nano(ts) > transform(toUnixTimestamp64Nano(ts) % 1000, {streams:Array(Int64)},
  {given:Array(Int64)}, toInt64(-1))`;

/** The time of the newest visible click of each stream that has any not before `since`. */
export async function newestOfStreams(
  client: ClickHouseClient,
  workspaceId: string,
  since: bigint,
): Promise<bigint[]> {
  const rows = await runQuery<{ newest: string }>(client, {
    sql: `SELECT max(toUnixTimestamp64Nano(ts)) AS newest FROM clicks
          WHERE workspace_id = {workspace:UUID} AND ts >= fromUnixTimestamp64Nano({since:Int64}, 'UTC')
          GROUP BY toUnixTimestamp64Nano(ts) % 1000`,
    params: { workspace: workspaceId, since },
    seconds: 20,
  });
  return rows.map((row) => BigInt(row.newest));
}
