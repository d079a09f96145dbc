import type { ShownClick } from '../../core/clicks/click-record.ts';
import { clampToStored, NANOS_PER_DAY, nowNanos } from '../../core/time/timestamps.ts';
import type { ClickHouseClient } from '../client.ts';
import { byVisitorParams, CLICKS_OF_VISITORS } from '../rollups/clicks-by-visitor.ts';
import { IS_COUNTED } from './click-conditions.ts';
import { runQuery } from './run-query.ts';
import { SHOWN_COLUMNS, type ShownClickRow, toShownClick } from './shown-clicks.ts';
import { NOT_DELETED } from './visible-clicks.ts';

/** Spans that are searched for visitors before all clicks are, as in `newestClicks`. */
const LOOKS_BACK = [NANOS_PER_DAY, 32n * NANOS_PER_DAY];

/**
 * Returns the newest click of each of the visitors who clicked last, newest first, without bots and
 * visits of no link.
 *
 * @param limit most visitors
 */
export async function newestVisitors(
  client: ClickHouseClient,
  workspaceId: string,
  limit: number,
): Promise<ShownClick[]> {
  return newestWithin(client, { workspace: workspaceId, limit, end: '' }, limit);
}

/**
 * Returns the newest click of each visitor whose id ends with these digits, newest first, without bots and visits of no
 * link.
 *
 * @param end lower case, never empty: every id ends with the empty text
 */
export function visitorsWithEnd(
  client: ClickHouseClient,
  workspaceId: string,
  end: string,
  limit: number,
): Promise<ShownClick[]> {
  return newestWithin(client, { workspace: workspaceId, limit, end }, 1);
}

type Wanted = { workspace: string; limit: number; end: string };

/** Looks further back until there are `enough` visitors. */
async function newestWithin(client: ClickHouseClient, wanted: Wanted, enough: number): Promise<ShownClick[]> {
  const now = nowNanos();
  for (const back of LOOKS_BACK) {
    const clicks = await newestSince(client, wanted, clampToStored(now - back));
    if (clicks.length >= enough) return clicks;
  }
  return newestSince(client, wanted, clampToStored(0n));
}

async function newestSince(client: ClickHouseClient, wanted: Wanted, since: bigint): Promise<ShownClick[]> {
  const rows = await runQuery<ShownClickRow>(client, {
    sql: `SELECT ${SHOWN_COLUMNS} FROM clicks
      WHERE workspace_id = {workspace:UUID} AND ts >= fromUnixTimestamp64Nano({since:Int64}, 'UTC') AND ${IS_COUNTED} ${NOT_DELETED}
        ${wanted.end === '' ? '' : 'AND endsWith(toString(visitor_id), {end:String})'}
      ORDER BY ts DESC LIMIT 1 BY visitor_id LIMIT {limit:UInt32}`,
    params: { ...wanted, since },
    seconds: 20,
  });
  return rows.map(toShownClick);
}

/**
 * Returns the newest click of each of these visitors, bots included, in no order. A visitor without clicks is left out.
 */
export async function newestClickOf(
  client: ClickHouseClient,
  workspaceId: string,
  visitorIds: string[],
): Promise<ShownClick[]> {
  if (visitorIds.length === 0) return [];
  const rows = await runQuery<ShownClickRow>(client, {
    sql: `SELECT ${SHOWN_COLUMNS} FROM clicks
      WHERE ${CLICKS_OF_VISITORS} AND NOT is_orphan ${NOT_DELETED}
      ORDER BY ts DESC LIMIT 1 BY visitor_id`,
    params: { workspace: workspaceId, visitors: visitorIds, ...(await byVisitorParams(client)) },
    seconds: 20,
  });
  return rows.map(toShownClick);
}
