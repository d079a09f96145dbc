import { createHash } from 'node:crypto';
import { type BoundedCache, createBoundedCache } from '../../core/caching/bounded-cache.ts';
import { formatDay, NANOS_PER_DAY } from '../../core/time/timestamps.ts';
import type { ClickHouseClient } from '../client.ts';
import { PROGRESS_HEADERS } from '../queries/run-query.ts';
import { IN_SPAN, type Span } from '../queries/visible-clicks.ts';
import { type Cover, generationsOf } from '../rollups/cover.ts';
import { countedShares } from './counted-shares.ts';

/**
 * The cache of results: parts of reports with many clicks, in the table `cached_report_parts`. A part that is requested
 * a second time within {@link AGAIN_MS} is computed in the background. Each query checks in ClickHouse whether a part
 * is there, so a missing part costs time and never a wrong figure.
 *
 * - The periods of a window by channel, or of some links: named by the periods' generations, so a part is never out of
 *   date.
 * - The shares of a workspace by day and channel: a day with a share that was written since is read share by share.
 */

/** A part that is requested twice within this time is cached, and checked when it is over. Milliseconds. */
const AGAIN_MS = 40 * 60_000;
/** A part older than this is computed again: parts an hour old may be removed (`rollups/roll-up.ts`). Minutes. */
const RENEWED_AFTER = 30;
/** Parts whose latest request is cached. */
const REMEMBERED = 4_096;
/** Parts that wait to be computed. One beyond is computed when it is requested again. */
const WAITING = 16;
const FILL_SECONDS = 120;

/**
 * All tables of a query are read as of one moment: a part can't be removed, nor an order replaced, between two reads.
 */
export const ONE_MOMENT = { enable_shared_storage_snapshot_in_query: 1 } as const;

const OWN = 'workspace_id = {workspace:UUID}';
const IN_COVER = `${OWN} AND generation IN {generations:Array(UInt64)}`;
const IS_NEW = `made > now64(6) - INTERVAL ${RENEWED_AFTER} MINUTE`;

/** The periods of a cover, as parameters. */
export type CoverParams = { workspace: string; generations: bigint[]; cover: string };

/**
 * Returns the parameters of a cover. The same periods have the same name, and another one when any was rolled up again.
 */
export function coverParams(workspaceId: string, cover: Cover): CoverParams {
  const generations = generationsOf(cover);
  return { workspace: workspaceId, generations, cover: nameOf(generations.map(String)) };
}

/** A name for a set of texts: 32 hexadecimal digits. */
const nameOf = (texts: readonly string[]) =>
  createHash('sha256')
    .update([...texts].sort().join())
    .digest('hex')
    .slice(0, 32);

const CHANNELS = `${OWN} AND part = concat('channels/', {cover:String})`;
const LINKS = `${OWN} AND part = concat('links/', {cover:String})`;
const hasChannels = (condition = 'true') =>
  `(SELECT count() > 0 FROM cached_report_parts WHERE ${CHANNELS} AND ${condition})`;

/**
 * Returns the periods of a cover by channel as a subquery: `channel, clicks, visitors` (a state). Needs the parameters
 * {@link CoverParams} and {@link ONE_MOMENT}. `LIMIT 1 BY`, because `FINAL` would copy every state.
 */
export function cachedChannels(client: ClickHouseClient, params: CoverParams): string {
  const fill = `INSERT INTO cached_report_parts (workspace_id, part, channel, clicks, visitors)
    SELECT {workspace:UUID}, concat('channels/', {cover:String}), channel, sum(clicks),
      uniqCombined64MergeState(17)(visitors)
    FROM clicks_rolled_up WHERE ${IN_COVER} AND NOT ${hasChannels(IS_NEW)} GROUP BY channel`;
  if (params.generations.length > 0) {
    noteRequest(client, `${params.workspace}/channels/${params.cover}`, () => fillPart(client, fill, params));
  }
  return `(
    SELECT channel, clicks, visitors FROM cached_report_parts WHERE ${CHANNELS} LIMIT 1 BY channel
    UNION ALL
    SELECT channel, clicks, visitors FROM clicks_rolled_up WHERE ${IN_COVER} AND NOT ${hasChannels()})`;
}

/** SQL of an array of the chosen links that are cached. */
const linksThere = (condition = 'true') =>
  `(SELECT groupUniqArray(link_id) FROM cached_report_parts
    WHERE ${LINKS} AND link_id IN {chosen:Array(UUID)} AND ${condition})`;
const otherLinks = (condition?: string) =>
  `(SELECT arrayJoin(arrayFilter(link -> NOT has(${linksThere(condition)}, link), {chosen:Array(UUID)})))`;

/**
 * Returns the periods of a cover by link as a subquery, of some links: `link_id, clicks, visitors` (a state). Needs
 * {@link CoverParams}, the parameter `chosen` and {@link ONE_MOMENT}.
 */
export function cachedLinks(
  client: ClickHouseClient,
  params: CoverParams,
  chosen: readonly string[],
): string {
  const fill = `INSERT INTO cached_report_parts (workspace_id, part, link_id, clicks, visitors)
    SELECT {workspace:UUID}, concat('links/', {cover:String}), link_id, sum(clicks),
      uniqCombined64MergeState(17)(visitors)
    FROM clicks_rolled_up WHERE ${IN_COVER} AND link_id IN ${otherLinks(IS_NEW)} GROUP BY link_id`;
  if (params.generations.length > 0) {
    const name = `${params.workspace}/links/${params.cover}/${nameOf(chosen)}`;
    noteRequest(client, name, () => fillPart(client, fill, { ...params, chosen }));
  }
  return `(
    SELECT link_id, clicks, visitors FROM cached_report_parts
    WHERE ${LINKS} AND link_id IN (SELECT arrayJoin(${linksThere()})) LIMIT 1 BY link_id
    UNION ALL
    SELECT link_id, clicks, visitors FROM clicks_rolled_up WHERE ${IN_COVER} AND link_id IN ${otherLinks()})`;
}

/** The channel that shares are summed by: of the link that has the share, or of the person's first click. */
export type ShareChannel = 'link' | 'origin';
const CHANNEL_OF = { link: 'channel', origin: 'first_channel' } as const;

const DAY = 'toDate32(ts)';
const MIDNIGHTS = {
  from: "toDateTime64({whole_from:Date32}, 9, 'UTC')",
  to: "toDateTime64({whole_to:Date32}, 9, 'UTC')",
};
const IN_WHOLE_DAYS = `ts >= ${MIDNIGHTS.from} AND ts < ${MIDNIGHTS.to}`;
const OUTSIDE = `ts < ${MIDNIGHTS.from} OR ts >= ${MIDNIGHTS.to}`;

/** The parameters of {@link cachedShares} for a window: the whole days (UTC) inside it. */
export type WholeDays = { whole_from: string; whole_to: string };

/** Returns the whole days (UTC) inside a window; null when there are none. */
export function wholeDays({ from, to }: Span): WholeDays | null {
  const [first, end] = [from + intoDay(-from), to - intoDay(to)];
  return first < end ? { whole_from: formatDay(first), whole_to: formatDay(end) } : null;
}

/** Nanoseconds since the last midnight, before 1970 too. */
const intoDay = (nanos: bigint) => ((nanos % NANOS_PER_DAY) + NANOS_PER_DAY) % NANOS_PER_DAY;

const sharesOf = (of: ShareChannel) => `${OWN} AND part = 'shares/${of}'`;

/**
 * Returns the shares that count as a subquery, `channel, share, lead, amount_minor`: cached sums of days, and the
 * shares of all other days ({@link countedShares}). A day with a share written after its sums, or up to an hour before
 * them, is read share by share: another version of one of its orders may count now. So an insert of shares must take
 * less than an hour.
 *
 * Needs the parameter `workspace` and {@link ONE_MOMENT}, and for a window `from`, `to` and {@link WholeDays}.
 *
 * @param when a window that has whole days, or all time
 */
export function cachedShares(
  client: ClickHouseClient,
  workspaceId: string,
  of: ShareChannel,
  when: 'window' | 'all time',
): string {
  noteRequest(client, `${workspaceId}/shares`, () =>
    fillPart(client, FILL_SHARES, { workspace: workspaceId }),
  );
  const isWindow = when === 'window';
  // The time is 1970 when no shares are cached. A fill writes one block with one `made`, so it is stored in full or not
  // at all.
  const made = `(SELECT max(made) FROM cached_report_parts WHERE ${sharesOf(of)})`;
  const isCached = `${made} > toDateTime64(0, 6, 'UTC')`;
  const changed = `(SELECT groupUniqArray(${DAY}) FROM attributed_shares
    WHERE ${OWN} ${isWindow ? `AND ${IN_WHOLE_DAYS}` : ''} AND ${isCached} AND written > ${made} - INTERVAL 1 HOUR)`;
  const rest = `${isWindow ? `${IN_SPAN} AND` : ''}
    (${isWindow ? `${OUTSIDE} OR` : ''} NOT ${isCached} OR ${DAY} IN (SELECT arrayJoin(${changed})))`;
  return `(
    SELECT channel, share, lead, amount_minor FROM cached_report_parts
    WHERE ${sharesOf(of)} AND made = ${made} AND NOT has(${changed}, day)
      ${isWindow ? 'AND day >= {whole_from:Date32} AND day < {whole_to:Date32}' : ''}
    UNION ALL
    SELECT ${CHANNEL_OF[of]} AS channel, share, lead, amount_minor FROM ${countedShares(rest)})`;
}

/** `made` is the moment before the shares are read. */
const FILL_SHARES = `INSERT INTO cached_report_parts (workspace_id, part, made, day, channel, share, lead, amount_minor)
  SELECT {workspace:UUID}, concat('shares/', target.1), (SELECT now64(6)), ${DAY} AS day, target.2, sum(share),
    sum(lead), sum(amount_minor)
  FROM (SELECT *, arrayJoin([('link', channel), ('origin', first_channel)]) AS target FROM ${countedShares('')})
  WHERE target.2 != '' GROUP BY day, target`;

type Request = { at: number; isCached: boolean };
type Cache = { requests: BoundedCache<string, Request>; filling: Promise<void>; waiting: number };

const cacheOf = new WeakMap<ClickHouseClient, Cache>();

function cache(client: ClickHouseClient): Cache {
  const found = cacheOf.get(client);
  if (found) return found;
  const made = {
    requests: createBoundedCache<string, Request>(REMEMBERED),
    filling: Promise.resolve(),
    waiting: 0,
  };
  cacheOf.set(client, made);
  return made;
}

/**
 * Fills a part the second time that it is requested, one part after the other. A failed fill is tried with a later
 * request.
 */
function noteRequest(client: ClickHouseClient, name: string, fill: () => Promise<void>): void {
  const state = cache(client);
  const now = Date.now();
  const before = state.requests.get(name);
  if (before === undefined || Math.abs(now - before.at) > AGAIN_MS) {
    state.requests.set(name, { at: now, isCached: false });
  } else if (!before.isCached && state.waiting < WAITING) {
    before.isCached = true;
    state.waiting += 1;
    state.filling = state.filling
      .then(fill)
      .catch(() => state.requests.delete(name))
      .finally(() => {
        state.waiting -= 1;
      });
  }
}

/** Resolves when this process is filling no part. */
export async function partsFilled(client: ClickHouseClient): Promise<void> {
  await cache(client).filling;
}

/**
 * Inserts a part. One thread writes one block, and one block is one part of the table: it is there in full or not at
 * all.
 */
async function fillPart(
  client: ClickHouseClient,
  query: string,
  params: Record<string, unknown>,
): Promise<void> {
  await client.command({
    query,
    query_params: params,
    clickhouse_settings: {
      ...PROGRESS_HEADERS,
      max_execution_time: FILL_SECONDS,
      wait_end_of_query: 1,
      max_insert_threads: '1',
      min_insert_block_size_rows: '1000000000',
      min_insert_block_size_bytes: '0',
    },
  });
}
