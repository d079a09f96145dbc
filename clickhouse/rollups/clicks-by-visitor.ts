import { NANOS_PER_SECOND, STORED_MIN_NANOS } from '../../core/time/timestamps.ts';
import type { ClickHouseClient } from '../client.ts';
import { runQuery } from '../queries/run-query.ts';
import { ON_DAY } from './periods.ts';

/**
 * Finds the clicks of a visitor by their key: `clicks_by_visitor` lists their seconds, for every day up to the last
 * that was rolled up. Later clicks are searched.
 */

/** The column `visitor` of a visitor's id. */
const visitorOf = (id: string) => `toUInt32(cityHash64(${id}))`;

/** The insert that lists the clicks of a day. Parameters: `start`, `generation`. */
export const FILL_CLICKS_BY_VISITOR = `
  clicks_by_visitor (workspace_id, visitor, at, generation)
  SELECT workspace_id, ${visitorOf('visitor_id')}, toDateTime(ts), {generation:UInt64} FROM clicks WHERE ${ON_DAY}`;

/** Parameters of the conditions below. */
type ByVisitorParams = { unlisted: bigint };

/** Days are only added, so an outdated value makes more clicks be searched and never hides one. */
const REMEMBERED_MS = 60_000;

const remembered = new WeakMap<ClickHouseClient, { at: number; params: ByVisitorParams }>();

/**
 * Returns the instant from which on `clicks_by_visitor` is incomplete, in nanoseconds. Read it before the query that
 * needs it: then the list of the days before is complete.
 */
export async function byVisitorParams(client: ClickHouseClient): Promise<ByVisitorParams> {
  const known = remembered.get(client);
  if (known && performance.now() - known.at < REMEMBERED_MS) return known.params;
  const at = performance.now();
  // A pass goes from the oldest day to the newest and leaves none out.
  const [row] = await runQuery<{ days: string; ended: number }>(client, {
    sql: `SELECT count() AS days, toUnixTimestamp(toDateTime(max(start) + 1, 'UTC')) AS ended
          FROM rolled_up_periods FINAL WHERE period = 'day'`,
    params: {},
    seconds: 20,
  });
  const isListed = row !== undefined && row.days !== '0';
  const params = { unlisted: isListed ? BigInt(row.ended) * NANOS_PER_SECOND : STORED_MIN_NANOS };
  remembered.set(client, { at, params });
  return params;
}

const UNLISTED = "clicks.ts >= fromUnixTimestamp64Nano({unlisted:Int64}, 'UTC')";

const ofWorkspace = (
  id: string,
  visitor: string,
) => `workspace_id = {workspace:UUID} AND visitor_id ${id} AND (${UNLISTED}
  OR toDateTime(clicks.ts) IN (SELECT at FROM clicks_by_visitor
    WHERE workspace_id = {workspace:UUID} AND visitor ${visitor}))`;

/** The condition on clicks of one visitor. Parameters: `workspace`, `visitor` and {@link ByVisitorParams}. */
export const CLICKS_OF_VISITOR = ofWorkspace('= {visitor:UUID}', `= ${visitorOf('{visitor:UUID}')}`);

/**
 * The condition on clicks of some visitors of a workspace. Parameters: `workspace`, `visitors` and
 * {@link ByVisitorParams}.
 */
export const CLICKS_OF_VISITORS = ofWorkspace(
  'IN {visitors:Array(UUID)}',
  `IN (SELECT ${visitorOf('arrayJoin({visitors:Array(UUID)})')})`,
);

/**
 * The condition on clicks that may be of some visitors, each of a workspace. The caller compares workspace and visitor:
 * a few other clicks match. Parameters: `workspaces` and `visitors`, of one length, and {@link ByVisitorParams}.
 */
export const MAY_BE_CLICKS_OF_VISITORS = `(${UNLISTED}
  OR (clicks.workspace_id, toDateTime(clicks.ts)) IN (SELECT workspace_id, at FROM clicks_by_visitor
    WHERE (workspace_id, visitor) IN (
      SELECT of.1, ${visitorOf('of.2')} FROM (
        SELECT arrayJoin(arrayZip({workspaces:Array(UUID)}, {visitors:Array(UUID)})) AS of))))`;
