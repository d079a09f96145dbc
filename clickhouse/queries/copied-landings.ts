import type { ClickHouseClient } from '../client.ts';
import { byVisitorParams, MAY_BE_CLICKS_OF_VISITORS } from '../rollups/clicks-by-visitor.ts';
import { runQuery } from './run-query.ts';

/** A browser that got a visitor's id from the address of a page. Times in microseconds. */
export type Landing = { workspaceId: string; visitorId: string; landedAt: number };

/** An address that is opened later than this after its click is a copy. Microseconds. */
const OPENED_WITHIN = 30 * 60 * 1_000_000;
/** Clocks of the tiers may differ: a click this much newer than its landing may have led to it. Microseconds. */
const SKEW = 60 * 1_000_000;

/**
 * Returns the indexes of the landings with a copied address: the visitor's last click was long before. A visitor
 * without an earlier click does not count as a copy: the click may have been lost. Clicks of prefetches and of bots
 * count too, as a page that is prefetched is opened.
 */
export async function copiedLandings(
  client: ClickHouseClient,
  landings: readonly Landing[],
): Promise<Set<number>> {
  if (landings.length === 0) return new Set();
  const rows = await runQuery<{ position: number }>(client, {
    sql: `SELECT landing.position AS position FROM clicks INNER JOIN (
        SELECT one.1 AS position, one.2 AS workspace_id, one.3 AS visitor_id, one.4 AS landed_at
        FROM (SELECT arrayJoin(arrayZip({positions:Array(UInt32)}, {workspaces:Array(UUID)}, {visitors:Array(UUID)},
          {times:Array(Int64)})) AS one)
      ) AS landing ON clicks.workspace_id = landing.workspace_id AND clicks.visitor_id = landing.visitor_id
      PREWHERE ${MAY_BE_CLICKS_OF_VISITORS} AND clicks.visitor_id IN (SELECT arrayJoin({visitors:Array(UUID)}))
      WHERE clicks.workspace_id IN (SELECT arrayJoin({workspaces:Array(UUID)}))
        AND clicks.ts < fromUnixTimestamp64Micro({latest:Int64}, 'UTC')
        AND toUnixTimestamp64Micro(toDateTime64(clicks.ts, 6, 'UTC')) < landing.landed_at + ${SKEW}
      GROUP BY position, landing.landed_at
      HAVING toUnixTimestamp64Micro(toDateTime64(max(clicks.ts), 6, 'UTC')) < landing.landed_at - ${OPENED_WITHIN}`,
    params: {
      ...(await byVisitorParams(client)),
      positions: landings.map((_, position) => position),
      workspaces: landings.map(({ workspaceId }) => workspaceId),
      visitors: landings.map(({ visitorId }) => visitorId),
      times: landings.map(({ landedAt }) => landedAt),
      latest: landings.reduce((most, { landedAt }) => Math.max(most, landedAt), 0) + SKEW,
    },
    seconds: 30,
  });
  return new Set(rows.map(({ position }) => position));
}
