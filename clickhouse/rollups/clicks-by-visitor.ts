import { NANOS_PER_SECOND, STORED_MIN_NANOS } from '../../core/time/timestamps.ts';
import type { ClickHouseClient } from '../client.ts';
import { runQuery } from '../queries/run-query.ts';
import { ON_DAY } from './periods.ts';

/**
 * Where in the table of clicks those of a visitor are: their seconds stand in `clicks_by_visitor`, of every day up to one. The
 * clicks since are searched.
 */

/** `visitor` in `clicks_by_visitor`, of a visitor's id. */
const visitorOf = (id: string) => `toUInt32(cityHash64(${id}))`;

/** Inserts the clicks of a day: the parameters `start` and `generation`. */
export const FILL_CLICKS_BY_VISITOR = `
  clicks_by_visitor (workspace_id, visitor, at, generation)
  SELECT workspace_id, ${visitorOf('visitor_id')}, toDateTime(ts), {generation:UInt64} FROM clicks WHERE ${ON_DAY}`;

/** Goes with the conditions below. */
type ByVisitorParams = { unlisted: bigint };

/** Days are added, so an older answer only has more clicks searched than need be. */
const KEPT_MS = 60_000;

const asked = new WeakMap<ClickHouseClient, { at: number; params: ByVisitorParams }>();

/**
 * From which click on `clicks_by_visitor` is not complete, in nanoseconds. To be had before the condition is asked, so that
 * the days before it have been written whole.
 */
export async function byVisitorParams(client: ClickHouseClient): Promise<ByVisitorParams> {
  const known = asked.get(client);
  if (known && performance.now() - known.at < KEPT_MS) return known.params;
  const at = performance.now();
  // A pass goes from day to day, so that of all days up to the newest none is missing.
  const [row] = await runQuery<{ days: string; ended: number }>(client, {
    sql: `SELECT count() AS days, toUnixTimestamp(toDateTime(max(start) + 1, 'UTC')) AS ended
          FROM rolled_up_periods FINAL WHERE period = 'day' AND by_visitor > 0`,
    params: {},
    seconds: 20,
  });
  const isListed = row !== undefined && row.days !== '0';
  const params = { unlisted: isListed ? BigInt(row.ended) * NANOS_PER_SECOND : STORED_MIN_NANOS };
  asked.set(client, { at, params });
  return params;
}

const UNLISTED = "clicks.ts >= fromUnixTimestamp64Nano({unlisted:Int64}, 'UTC')";

const ofWorkspace = (
  id: string,
  visitor: string,
) => `workspace_id = {workspace:UUID} AND visitor_id ${id} AND (${UNLISTED}
  OR toDateTime(clicks.ts) IN (SELECT at FROM clicks_by_visitor
    WHERE workspace_id = {workspace:UUID} AND visitor ${visitor}))`;

/** The clicks of one visitor: the parameters `workspace` and `visitor`. */
export const CLICKS_OF_VISITOR = ofWorkspace('= {visitor:UUID}', `= ${visitorOf('{visitor:UUID}')}`);

/** The clicks of some visitors of a workspace: the parameters `workspace` and `visitors`. */
export const CLICKS_OF_VISITORS = ofWorkspace(
  'IN {visitors:Array(UUID)}',
  `IN (SELECT ${visitorOf('arrayJoin({visitors:Array(UUID)})')})`,
);

/**
 * The clicks that may be of some visitors, each of a workspace: the parameters `workspaces` and `visitors`, of one length. Among
 * what is listed few others are; which visitor's of which workspace they are is for the caller to compare.
 */
export const MAY_BE_CLICKS_OF_VISITORS = `(${UNLISTED}
  OR (clicks.workspace_id, toDateTime(clicks.ts)) IN (SELECT workspace_id, at FROM clicks_by_visitor
    WHERE (workspace_id, visitor) IN (
      SELECT of.1, ${visitorOf('of.2')} FROM (
        SELECT arrayJoin(arrayZip({workspaces:Array(UUID)}, {visitors:Array(UUID)})) AS of))))`;
