import {
  channelsReport,
  clicksByDimension,
  type Figures,
  workspaceStats,
} from '../../clickhouse/reports/index.ts';
import { toMajor } from '../../core/money/money.ts';
import { bucketsOf, checkTimeZone } from '../../core/time/time-buckets.ts';
import { clampToStored, formatInstantShort } from '../../core/time/timestamps.ts';
import type { ApiDeps, Auth } from '../dependencies.ts';
import { linkPerformance } from '../links/performance.ts';
import { readingPointOf } from '../reading-point.ts';
import { reportWindow } from '../report-window.ts';
import type { Breakdown, BreakdownQuery, Stats, StatsQuery } from './schemas.ts';

const NOTHING: Figures = { clicks: 0, visitors: 0, leads: 0, conversions: 0, revenueMinor: 0n };

/**
 * What the workspace, or one of its links, did in a window, when, and what it did in the previous period.
 *
 * @throws {AppError} `bad_request` for an unknown time zone and for a window that can't be
 */
export async function describeStats(
  deps: Pick<ApiDeps, 'pool' | 'clickhouse'>,
  auth: Auth,
  query: StatsQuery,
): Promise<Stats> {
  const { clickhouse } = deps;
  const { id: workspaceId, currency } = auth.workspace;
  const timezone = checkTimeZone('timezone', query.timezone);
  const { shown, span } = reportWindow(query, auth.workspace);
  const { size, starts } = bucketsOf(span, timezone);
  const linkId = query.link_id ?? null;
  const before = { from: clampToStored(span.from - (span.to - span.from)), to: span.from };
  const { hasDeletedLinks: hasDeleted } = await readingPointOf(deps, auth);
  const [now, earlier] = await Promise.all([
    workspaceStats(clickhouse, { workspaceId, span, hasDeleted }, starts, linkId),
    workspaceStats(clickhouse, { workspaceId, span: before, hasDeleted }, [], linkId),
  ]);
  const known = new Map(now.series.map((bucket) => [bucket.start, bucket]));
  return {
    window: shown,
    totals: shownFigures(now.totals, currency),
    previous: {
      window: { from: formatInstantShort(before.from), to: formatInstantShort(before.to) },
      totals: shownFigures(earlier.totals, currency),
    },
    currency,
    timezone,
    bucket: size,
    series: starts.map((start) => ({
      start: formatInstantShort(start),
      ...shownFigures(known.get(start) ?? NOTHING, currency),
    })),
  };
}

/**
 * The first rows of the window by channel or link (most revenue first, as their own reports) or by what else is known
 * of a click (most clicks first).
 *
 * @throws {AppError} `bad_request` for a window that can't be
 */
export async function breakDown(
  deps: Pick<ApiDeps, 'pool' | 'clickhouse' | 'config'>,
  auth: Auth,
  { by, limit, link_id, ...query }: BreakdownQuery,
): Promise<Breakdown> {
  const { clickhouse } = deps;
  const { workspace } = auth;
  const { shown, span } = reportWindow(query, auth.workspace);
  if (by === 'link') {
    // The window as it was resolved here, so that its end is the one that is shown.
    const chosen = {
      from: shown.from,
      to: shown.to,
      limit,
      include: 'settings' as const,
      ...(link_id && { ids: link_id }),
    };
    const { links } = await linkPerformance(deps, auth, chosen);
    return { window: shown, by, rows: links.flatMap(linkRow) };
  }
  const { hasDeletedLinks: hasDeleted } = await readingPointOf(deps, auth);
  const window = { workspaceId: workspace.id, span, hasDeleted };
  if (by === 'channel') {
    const channels = await channelsReport(clickhouse, window, link_id ?? null);
    const rows = channels.slice(0, limit).map(({ channel, ...figures }) => ({
      value: channel,
      ...shownFigures(figures, workspace.currency),
    }));
    return { window: shown, by, rows };
  }
  const rows = await clicksByDimension(clickhouse, window, {
    dimension: by,
    limit,
    linkId: link_id ?? null,
  });
  return { window: shown, by, rows };
}

type PerformanceRows = Awaited<ReturnType<typeof linkPerformance>>['links'];

function linkRow({ settings, ...row }: PerformanceRows[number]): Breakdown['rows'] {
  if (!settings) return [];
  const { clicks, visitors, conversions, revenue, link_id, slug, channel } = row;
  const link = { id: link_id, slug, name: settings.name, channel, created_at: settings.created_at };
  return [{ value: link_id, clicks, visitors, conversions, revenue, link }];
}

function shownFigures({ clicks, visitors, conversions, revenueMinor }: Figures, currency: string) {
  return { clicks, visitors, conversions, revenue: toMajor(revenueMinor, currency) };
}
