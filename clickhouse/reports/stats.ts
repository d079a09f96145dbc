import type { ClickHouseClient } from '../client.ts';
import { runQuery } from '../queries/run-query.ts';
import { ofLink } from '../queries/visible-clicks.ts';
import { ONE_MOMENT } from './cached-parts.ts';
import { BUCKET, CLICK_KEYS } from './clicks-by.ts';
import { type FigureRow, type Figures, SUMMED_FIGURES, toFigures } from './figures.ts';
import { type ReportWindow, report, type Sources } from './report.ts';

/** The figures of a bucket that begins at `start`, nanoseconds. */
export type BucketFigures = Figures & { start: bigint };

/**
 * Returns what a workspace, or one link of it, did in a window, in all and by bucket. Its figures are the sums of the channels'
 * report. Buckets without a click or an order are left out.
 *
 * @param starts where buckets begin, nanoseconds, rising, the first not after the window; none: no series
 */
export async function workspaceStats(
  client: ClickHouseClient,
  window: ReportWindow,
  starts: readonly bigint[],
  linkId: string | null = null,
): Promise<{ totals: Figures; series: BucketFigures[] }> {
  const { condition, params } = ofLink(linkId);
  const links = { condition, params: { ...params, starts } };
  const figuresBy = (
    { clicksBy, condition, shares, channelShares }: Sources,
    key: 'workspace_id' | 'bucket',
    ofShare: string,
  ) => {
    const clicks = clicksBy(key, 'visitors');
    return runQuery<FigureRow & { bucket: string }>(client, {
      sql: `
        SELECT ${key}, ${SUMMED_FIGURES} FROM (
          SELECT ${key}, clicks, visitors, 0. AS leads, 0. AS conversions, 0 AS revenue FROM ${clicks.sql}
          UNION ALL
          SELECT ${ofShare} AS ${key}, 0, 0, sum(lead), sum(share), sum(amount_minor)
          FROM ${key === 'bucket' ? shares : channelShares()}
          WHERE channel != '' ${condition} GROUP BY ${key})
        GROUP BY ${key} ORDER BY ${key}`,
      params: clicks.params,
      seconds: 60,
      settings: ONE_MOMENT,
    });
  };
  const [[whole], buckets] = await report(client, window, links, (sources) =>
    Promise.all([
      figuresBy(sources, 'workspace_id', '{workspace:UUID}'),
      starts.length === 0 ? [] : figuresBy(sources, 'bucket', BUCKET),
    ]),
  );
  return {
    totals: whole ? toFigures(whole) : { clicks: 0, visitors: 0, leads: 0, conversions: 0, revenueMinor: 0n },
    series: buckets.map((row) => ({ start: BigInt(row.bucket), ...toFigures(row) })),
  };
}

/** What clicks can be broken down by, besides channel and link. */
export const CLICK_DIMENSIONS = CLICK_KEYS;
export type ClickDimension = (typeof CLICK_DIMENSIONS)[number];

/** Clicks and visitors of one value of a dimension; an empty value: unknown. */
export type ValueFigures = { value: string; clicks: number; visitors: number };

/** Returns the values of a dimension with the most clicks in the window, of all links or of one. Orders have no dimension. */
export async function clicksByDimension(
  client: ClickHouseClient,
  window: ReportWindow,
  { dimension, limit, linkId = null }: { dimension: ClickDimension; limit: number; linkId?: string | null },
): Promise<ValueFigures[]> {
  const rows = await report(client, window, ofLink(linkId), ({ clicksBy }) => {
    const clicks = clicksBy(dimension, 'visitors');
    return runQuery<{ value: string; clicks: string; visitors: string }>(client, {
      sql: `SELECT ${dimension} AS value, clicks, visitors FROM ${clicks.sql}
            ORDER BY clicks DESC, value LIMIT {limit:UInt32}`,
      params: { ...clicks.params, limit },
      seconds: 60,
      settings: ONE_MOMENT,
    });
  });
  return rows.map((row) => ({
    value: row.value,
    clicks: Number(row.clicks),
    visitors: Number(row.visitors),
  }));
}
