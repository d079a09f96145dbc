import type { ClickHouseClient } from '../client.ts';
import { ONE_MOMENT } from '../rollups/merged-credits.ts';
import { BUCKET, CLICK_KEYS, EXACT_CLICKS, type Reported, report } from './clicks-by.ts';
import { type FigureRow, type Figures, SUMMED_FIGURES, toFigures } from './report-figures.ts';
import { runQuery } from './run-query.ts';
import { ofLink, type Span } from './visible-clicks.ts';

/** The figures of a bucket that begins at `start`, nanoseconds. */
export type BucketFigures = Figures & { start: bigint };

/**
 * What a whole workspace, or one link of it, did in a window, and when. Counted as the channels' report does, so that its sums are these.
 *
 * @param starts where buckets begin, nanoseconds, rising, the first not after the window; none: no series
 * @returns buckets without a click or an order are left out
 */
export async function workspaceStats(
  client: ClickHouseClient,
  workspaceId: string,
  span: Span,
  starts: readonly bigint[],
  exactUpTo = EXACT_CLICKS,
  linkId: string | null = null,
): Promise<{ totals: Figures; series: BucketFigures[] }> {
  const asked = { workspaceId, span, condition: ofLink(linkId), params: { starts, link: linkId }, exactUpTo };
  const figuresBy = (
    { by, condition, credits, channelCredits }: Reported,
    key: 'workspace_id' | 'bucket',
    ofCredit: string,
  ) => {
    const clicks = by(key, 'visitors');
    return runQuery<FigureRow & { bucket: string }>(client, {
      sql: `
        SELECT ${key}, ${SUMMED_FIGURES} FROM (
          SELECT ${key}, clicks, visitors, 0. AS conversions, 0 AS revenue FROM ${clicks.sql}
          UNION ALL
          SELECT ${ofCredit} AS ${key}, 0, 0, sum(share), sum(amount_minor)
          FROM ${key === 'bucket' ? credits : channelCredits}
          WHERE channel != '' ${condition} GROUP BY ${key})
        GROUP BY ${key} ORDER BY ${key}`,
      params: clicks.params,
      seconds: 60,
      settings: ONE_MOMENT,
    });
  };
  const [[whole], buckets] = await report(client, asked, (reported) =>
    Promise.all([
      figuresBy(reported, 'workspace_id', '{workspace:UUID}'),
      starts.length === 0 ? [] : figuresBy(reported, 'bucket', BUCKET),
    ]),
  );
  return {
    totals: whole ? toFigures(whole) : { clicks: 0, visitors: 0, conversions: 0, revenueMinor: 0n },
    series: buckets.map((row) => ({ start: BigInt(row.bucket), ...toFigures(row) })),
  };
}

/** What clicks can be broken down by besides channel and link, which have reports of their own. */
export const CLICK_DIMENSIONS = CLICK_KEYS;
export type ClickDimension = (typeof CLICK_DIMENSIONS)[number];

/** Clicks and visitors for one value of a dimension; an empty value: not known. */
export type ValueFigures = { value: string; clicks: number; visitors: number };

/** The values of a dimension with the most clicks in the window, of all links or of one. Of orders it is not known: they have none of these. */
export async function clicksByDimension(
  client: ClickHouseClient,
  workspaceId: string,
  span: Span,
  { dimension, limit, linkId = null }: { dimension: ClickDimension; limit: number; linkId?: string | null },
  exactUpTo = EXACT_CLICKS,
): Promise<ValueFigures[]> {
  const asked = { workspaceId, span, condition: ofLink(linkId), params: { limit, link: linkId }, exactUpTo };
  const rows = await report(client, asked, ({ by }) => {
    const clicks = by(dimension, 'visitors');
    return runQuery<{ value: string; clicks: string; visitors: string }>(client, {
      sql: `SELECT ${dimension} AS value, clicks, visitors FROM ${clicks.sql}
            ORDER BY clicks DESC, value LIMIT {limit:UInt32}`,
      params: clicks.params,
      seconds: 60,
    });
  });
  return rows.map((row) => ({
    value: row.value,
    clicks: Number(row.clicks),
    visitors: Number(row.visitors),
  }));
}
