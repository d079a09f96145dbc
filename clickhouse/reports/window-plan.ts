import { type BoundedCache, createBoundedCache } from '../../core/caching/bounded-cache.ts';
import { NANOS_PER_SECOND, STORED_MIN_NANOS } from '../../core/time/timestamps.ts';
import type { ClickHouseClient } from '../client.ts';
import { IS_COUNTED } from '../queries/click-conditions.ts';
import { runQuery } from '../queries/run-query.ts';
import { IN_SPAN, inSpans, type Span } from '../queries/visible-clicks.ts';
import { type Cover, coverOf, generationsOf, spanOf } from '../rollups/cover.ts';
import type { RolledUpPeriod } from '../rollups/periods.ts';
import { EXACT_CLICKS, type ReportedClicks, reportCondition, reportParams } from './request.ts';

/** A rolled-up period, and how many clicks the workspace has in it. */
type OwnPeriod = Pick<RolledUpPeriod, 'period' | 'start' | 'generation'> & { clicks: number };

/** A workspace's roll-ups. */
type RollUps = {
  /** Oldest first. None when the whole workspace has few clicks: each of its windows is counted exactly. */
  periods: OwnPeriod[];
  /** Nanoseconds: clicks from here on are in no period. */
  end: bigint;
  /** Clicks from `end` on, at most one more than are counted exactly. */
  since: number;
  /** Changes with every period that is rolled up. */
  version: string;
  /** Time of the read, by {@link performance.now}. */
  readAt: number;
};

/**
 * Workspaces whose roll-ups are cached. One with many clicks takes about 60 kB for a year, the others next to nothing.
 */
const WORKSPACES = 1_000;
/** Maximum age of a cached `since`. A window that grew beyond the limit is still counted exactly, only slower. */
const REMEMBERED_MS = 600_000;

const rememberedOf = new WeakMap<ClickHouseClient, BoundedCache<string, RollUps>>();

/**
 * Decides how a window is counted, and runs a report accordingly. The report gets the periods that exist, and the cover
 * of a window with more than `exactUpTo` clicks, or null.
 *
 * Roll-ups that were read minutes ago are used at once. Whether they are current is checked while the report runs,
 * because a period that is rolled up again must be in the next report. The report runs again if they are outdated.
 */
export async function planWindow<T>(
  client: ClickHouseClient,
  clicks: ReportedClicks,
  run: (cover: Cover | null, periods: RollUps['periods']) => Promise<T>,
): Promise<T> {
  const remembered = rememberedRollUps(client, clicks);
  if (remembered) {
    const cover = await coverIfLarge(client, clicks, remembered);
    if (cover === null) return run(null, []);
    const [result, version] = await Promise.all([run(cover, remembered.periods), readVersion(client)]);
    if (version === remembered.version) return result;
    const current = await readRollUps(client, clicks);
    if (isSameCover(cover, coverOf(clicks.span, current.periods))) return result;
  }
  const current = rememberedRollUps(client, clicks) ?? (await readRollUps(client, clicks));
  return run(await coverIfLarge(client, clicks, current), current.periods);
}

/** The cover of a window with more clicks than are counted exactly; null for any other. */
export async function coverIfLarge(
  client: ClickHouseClient,
  clicks: ReportedClicks,
  rollUps: RollUps,
): Promise<Cover | null> {
  const { span, condition, exactUpTo } = clicks;
  const cover = coverOf(span, rollUps.periods);
  const least = sumOf(cover.periods);
  const edges = rollUps.periods.filter((one) => one.period === 'day' && cover.rest.some(overlaps(one)));
  const most = least + sumOf(edges) + (span.to > rollUps.end ? rollUps.since : 0);
  if (most <= exactUpTo) return null;
  if (condition === '' && least > exactUpTo) return cover;
  const [rolledUp, rest] = await Promise.all([
    condition === '' ? least : clicksInCover(client, clicks, cover),
    clicksOutside(client, clicks, cover),
  ]);
  return rolledUp + rest > exactUpTo ? cover : null;
}

const sumOf = (periods: readonly OwnPeriod[]) => periods.reduce((sum, { clicks }) => sum + clicks, 0);

const overlaps = (period: OwnPeriod) => {
  const { from, to } = spanOf(period);
  return (span: Span) => span.from < to && span.to > from;
};

function isSameCover(one: Cover, other: Cover): boolean {
  return generationsOf(one).join() === generationsOf(other).join();
}

const keyOf = ({ workspaceId, exactUpTo }: ReportedClicks) => `${workspaceId}/${exactUpTo}`;

function rememberedRollUps(client: ClickHouseClient, clicks: ReportedClicks): RollUps | null {
  const found = rememberedOf.get(client)?.get(keyOf(clicks));
  return found && performance.now() - found.readAt < REMEMBERED_MS ? found : null;
}

/** Reads a workspace's roll-ups and caches them. */
export async function readRollUps(client: ClickHouseClient, clicks: ReportedClicks): Promise<RollUps> {
  const { workspaceId, exactUpTo } = clicks;
  const readAt = performance.now();
  // Read before the periods, so that a period rolled up between the two reads is noticed later.
  const version = await readVersion(client);
  const rows = await runQuery<Omit<OwnPeriod, 'clicks'> & { clicks: string; ended: string }>(client, {
    sql: `SELECT period, start, toString(generation) AS generation, own.clicks AS clicks,
            toUnixTimestamp(toDateTime(start + 1, 'UTC')) AS ended
          FROM (SELECT period, start, generation FROM rolled_up_periods FINAL) AS p
          LEFT JOIN (SELECT generation, any(clicks) AS clicks FROM rolled_up_workspaces
            WHERE workspace_id = {workspace:UUID} GROUP BY generation) AS own USING (generation)
          ORDER BY start, period`,
    params: { workspace: workspaceId },
    seconds: 20,
  });
  const last = rows.findLast(({ period }) => period === 'day');
  const end = last ? BigInt(last.ended) * NANOS_PER_SECOND : STORED_MIN_NANOS;
  const periods = rows.map(({ ended: _, ...row }) => ({ ...row, clicks: Number(row.clicks) }));
  const since = await countSince(client, clicks, end);
  const total = since + sumOf(periods.filter(({ period }) => period === 'day'));
  const rollUps: RollUps =
    total > exactUpTo
      ? { periods, end, since, version, readAt }
      : { periods: [], end: STORED_MIN_NANOS, since: total, version, readAt };
  const remembered = rememberedOf.get(client) ?? createBoundedCache<string, RollUps>(WORKSPACES);
  rememberedOf.set(client, remembered);
  remembered.set(keyOf(clicks), rollUps);
  return rollUps;
}

async function readVersion(client: ClickHouseClient): Promise<string> {
  const [row] = await runQuery<{ version: string }>(client, {
    sql: `SELECT toString(groupBitXor(cityHash64(period, start, generation))) AS version FROM rolled_up_periods FINAL`,
    params: {},
    seconds: 20,
  });
  return row?.version ?? '';
}

/** Counts clicks of people from an instant on, up to the limit of exact counts. */
async function countSince(client: ClickHouseClient, clicks: ReportedClicks, from: bigint): Promise<number> {
  const [row] = await runQuery<{ found: string }>(client, {
    sql: `SELECT count() AS found FROM (SELECT 1 FROM clicks WHERE workspace_id = {workspace:UUID} AND ${IS_COUNTED}
            AND ts >= fromUnixTimestamp64Nano({from:Int64}, 'UTC') LIMIT {most:UInt64})`,
    params: { workspace: clicks.workspaceId, from, most: Math.max(EXACT_CLICKS, clicks.exactUpTo) + 1 },
    seconds: 30,
  });
  return Number(row?.found ?? 0);
}

/** Counts the report's clicks in the periods of a cover. */
async function clicksInCover(
  client: ClickHouseClient,
  clicks: ReportedClicks,
  cover: Cover,
): Promise<number> {
  const [row] = await runQuery<{ found: string }>(client, {
    sql: `SELECT sum(clicks) AS found FROM clicks_rolled_up
          WHERE workspace_id = {workspace:UUID} AND generation IN {generations:Array(UInt64)} ${clicks.condition}`,
    params: { ...reportParams(clicks), generations: generationsOf(cover) },
    seconds: 20,
  });
  return Number(row?.found ?? 0);
}

/** Counts the report's clicks outside of the periods of a cover, up to the limit of exact counts. */
async function clicksOutside(
  client: ClickHouseClient,
  clicks: ReportedClicks,
  cover: Cover,
): Promise<number> {
  const { sql, params } = inSpans(cover.rest);
  const [row] = await runQuery<{ found: string }>(client, {
    sql: `SELECT count() AS found
          FROM (SELECT 1 FROM clicks WHERE ${reportCondition(clicks)} AND ${IN_SPAN} AND ${sql} LIMIT {most:UInt64})`,
    params: { ...reportParams(clicks), ...params, most: clicks.exactUpTo + 1 },
    seconds: 30,
  });
  return Number(row?.found ?? 0);
}
