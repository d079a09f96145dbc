import { formatDay } from '../../core/time/timestamps.ts';
import type { ClickHouseClient } from '../client.ts';
import { type Cover, coverOf, generationsOf } from '../rollups/cover.ts';
import { rolledUpPeriods } from '../rollups/periods.ts';
import { runQuery } from './run-query.ts';
import { IN_SPAN, inSpans, type ReportedClicks, reportedParams, reportedWhere } from './visible-clicks.ts';

/** What is known of a window before its clicks are counted. */
export type WindowSize = {
  /** What a window with more clicks of people than was asked about can be put together from; null: it has not so many. */
  largeCover: Cover | null;
  /** Whether the clicks of its whole periods alone are more. */
  isCoverLarge: boolean;
  /** Whether the workspace has deleted links. Their clicks are counted in its windows' size. */
  hasDeleted: boolean;
};

/**
 * Whether a window has more clicks without bots than are counted exactly, without counting them if it can be helped: the
 * store says from its index alone how many there are at most; the days that stand rolled up say how many there are at
 * least, but for what was erased since their last pass.
 */
export async function windowSize(client: ClickHouseClient, clicks: ReportedClicks): Promise<WindowSize> {
  const { span, exactUpTo } = clicks;
  const [most, hasDeleted] = await Promise.all([mostRows(client, clicks), hasDeletedLinks(client, clicks)]);
  if (most <= exactUpTo) return { largeCover: null, isCoverLarge: false, hasDeleted };
  const touching = { from: formatDay(span.from), to: formatDay(span.to) };
  const cover = coverOf(span, await rolledUpPeriods(client, touching));
  const rolledUp = await rolledUpIn(client, clicks, cover);
  const isCoverLarge = rolledUp > exactUpTo;
  const isLarge = isCoverLarge || rolledUp + (await clicksOutside(client, clicks, cover)) > exactUpTo;
  return { largeCover: isLarge ? cover : null, isCoverLarge, hasDeleted };
}

/** Whether the workspace of a report has deleted links. */
export async function hasDeletedLinks(
  client: ClickHouseClient,
  { workspaceId, hasDeleted }: ReportedClicks,
): Promise<boolean> {
  if (hasDeleted !== undefined) return hasDeleted;
  const [row] = await runQuery<{ deleted: number }>(client, {
    sql: 'SELECT exists(SELECT 1 FROM deleted_links WHERE workspace_id = {workspace:UUID}) AS deleted',
    params: { workspace: workspaceId },
    seconds: 20,
  });
  return row?.deleted === 1;
}

/** Rows of the parts of the table that may hold the window's clicks. */
async function mostRows(client: ClickHouseClient, clicks: ReportedClicks): Promise<number> {
  const rows = await runQuery<{ rows: string | number }>(client, {
    sql: `EXPLAIN ESTIMATE SELECT ts FROM clicks
          WHERE workspace_id = {workspace:UUID} ${clicks.condition} AND ${IN_SPAN}`,
    params: reportedParams(clicks),
    seconds: 20,
  });
  return rows.reduce((sum, row) => sum + Number(row.rows), 0);
}

/** Clicks of the periods of a cover. */
async function rolledUpIn(client: ClickHouseClient, clicks: ReportedClicks, cover: Cover): Promise<number> {
  const [row] = await runQuery<{ found: string }>(client, {
    sql: `SELECT sum(clicks) AS found
          FROM ${clicks.condition === '' ? 'rolled_up_workspaces FINAL' : 'clicks_rolled_up'}
          WHERE workspace_id = {workspace:UUID} AND generation IN {generations:Array(UInt64)} ${clicks.condition}`,
    params: { ...reportedParams(clicks), generations: generationsOf(cover) },
    seconds: 20,
  });
  return Number(row?.found ?? 0);
}

/** Clicks of people outside of the periods of a cover, counted no further than the answer needs. */
async function clicksOutside(
  client: ClickHouseClient,
  clicks: ReportedClicks,
  cover: Cover,
): Promise<number> {
  const { sql, params } = inSpans(cover.rest);
  const [row] = await runQuery<{ found: string }>(client, {
    sql: `SELECT count() AS found
          FROM (SELECT 1 FROM clicks WHERE ${reportedWhere(clicks)} AND ${sql} LIMIT {more:UInt64})`,
    params: { ...reportedParams(clicks), ...params, more: clicks.exactUpTo + 1 },
    seconds: 30,
  });
  return Number(row?.found ?? 0);
}
