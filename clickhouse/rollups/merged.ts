import type { ClickHouseClient } from '../client.ts';
import {
  insertMerged,
  type MergedParams,
  nameOf,
  noteAsked,
  OF_COVER,
  READABLE,
  STILL_NEW,
} from './asked-again.ts';

const OF_PERIODS = 'workspace_id = {workspace:UUID} AND generation IN {generations:Array(UInt64)}';

const isMerged = (rows: string) => `(SELECT count() > 0 FROM merged_roll_ups WHERE ${rows})`;

/**
 * The rows of a cover by channel as a subquery: `channel, clicks, visitors` (a state). From `merged_roll_ups` when the
 * cover stands there, and else from the roll-ups themselves. The store decides while it answers, so nobody has to know; it
 * answers equal scalar questions once, so it can't decide twice. Goes with `mergedParams`.
 *
 * Rows that were merged twice are equal, and `LIMIT 1 BY` takes one: `FINAL` would copy each state, which costs as much as
 * merging it.
 */
export const MERGED_ROLL_UPS = `(
  SELECT channel, clicks, visitors FROM merged_roll_ups WHERE ${OF_COVER} AND ${isMerged(READABLE)}
  LIMIT 1 BY channel
  UNION ALL
  SELECT channel, clicks, visitors FROM clicks_rolled_up WHERE ${OF_PERIODS} AND NOT ${isMerged(READABLE)})`;

/** Notes that {@link MERGED_ROLL_UPS} were asked for. Two merges at once write the same rows, of which one each counts. */
export function noteChannelsAsked(client: ClickHouseClient, asked: MergedParams): void {
  if (asked.generations.length === 0) return;
  const query = `INSERT INTO merged_roll_ups (workspace_id, cover, channel, clicks, visitors)
    SELECT {workspace:UUID}, {cover:String}, channel, sum(clicks), uniqCombined64MergeState(17)(visitors)
    FROM clicks_rolled_up WHERE ${OF_PERIODS} AND NOT ${isMerged(STILL_NEW)} GROUP BY channel`;
  noteAsked(client, `${asked.workspace}/${asked.cover}`, () => insertMerged(client, query, asked));
}

const areClicksMerged = (rows: string) => `(SELECT count() > 0 FROM merged_link_clicks WHERE ${rows})`;

/**
 * As {@link MERGED_ROLL_UPS}, by link and without visitors: `link_id, clicks`, a row a link instead of one a link, channel and
 * day. Which links a report shows is known from these.
 */
export const MERGED_LINK_CLICKS = `(
  SELECT link_id, clicks FROM merged_link_clicks FINAL WHERE ${OF_COVER} AND ${areClicksMerged(READABLE)}
  UNION ALL
  SELECT link_id, clicks FROM clicks_rolled_up WHERE ${OF_PERIODS} AND NOT ${areClicksMerged(READABLE)})`;

/** Notes that {@link MERGED_LINK_CLICKS} were asked for. */
export function noteLinkClicksAsked(client: ClickHouseClient, asked: MergedParams): void {
  if (asked.generations.length === 0) return;
  const query = `INSERT INTO merged_link_clicks (workspace_id, cover, link_id, clicks)
    SELECT {workspace:UUID}, {cover:String}, link_id, sum(clicks)
    FROM clicks_rolled_up WHERE ${OF_PERIODS} AND NOT ${areClicksMerged(STILL_NEW)} GROUP BY link_id`;
  noteAsked(client, `${asked.workspace}/${asked.cover}/clicks`, () => insertMerged(client, query, asked));
}

/** Those of the chosen links that stand merged, as an array. */
const mergedLinks = (rows: string) =>
  `(SELECT groupUniqArray(link_id) FROM merged_link_roll_ups WHERE ${rows} AND link_id IN {chosen:Array(UUID)})`;
const otherLinks = (rows: string) =>
  `(SELECT arrayJoin(arrayFilter(link -> NOT has(${mergedLinks(rows)}, link), {chosen:Array(UUID)})))`;

/**
 * As {@link MERGED_ROLL_UPS}, by link and of some links only: `link_id, clicks, visitors`. Those that stand merged are read
 * from `merged_link_roll_ups`, the others from the roll-ups. Goes with `mergedParams` and the parameter `chosen`.
 */
export const MERGED_LINKS = `(
  SELECT link_id, clicks, visitors FROM merged_link_roll_ups
  WHERE ${OF_COVER} AND link_id IN (SELECT arrayJoin(${mergedLinks(READABLE)})) LIMIT 1 BY link_id
  UNION ALL
  SELECT link_id, clicks, visitors FROM clicks_rolled_up
  WHERE ${OF_PERIODS} AND link_id IN ${otherLinks(READABLE)})`;

/** Notes that {@link MERGED_LINKS} were asked for. Of these links, those that do not stand yet are merged. */
export function noteLinksAsked(client: ClickHouseClient, asked: MergedParams & { chosen: string[] }): void {
  if (asked.generations.length === 0) return;
  const query = `INSERT INTO merged_link_roll_ups (workspace_id, cover, link_id, clicks, visitors)
    SELECT {workspace:UUID}, {cover:String}, link_id, sum(clicks), uniqCombined64MergeState(17)(visitors)
    FROM clicks_rolled_up WHERE ${OF_PERIODS} AND link_id IN ${otherLinks(STILL_NEW)} GROUP BY link_id`;
  noteAsked(client, `${asked.workspace}/${asked.cover}/${nameOf(asked.chosen)}`, () =>
    insertMerged(client, query, asked),
  );
}
