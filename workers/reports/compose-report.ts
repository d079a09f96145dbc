import { answerQuery, type Stores } from '../../analytics/answer-query.ts';
import type { AnalyticsQuery, AnalyticsResult } from '../../analytics/query.ts';
import { queryOfView } from '../../analytics/view-query.ts';
import type { Dimension, Metric } from '../../core/analytics/dimensions.ts';
import type { ReportContent } from '../../core/reports/report-content.ts';
import { metricsOfView, tablesOfView, urlOfView } from '../../core/reports/view-query.ts';
import { zoneClock } from '../../core/time/zone-clock.ts';
import type { ClaimedReport } from '../../sql/reports/report-queue.ts';

/** Rows of each table. */
const TOP = 5;

/** What a report is made of. */
export type Composed = Pick<ClaimedReport, 'name' | 'query' | 'schedule' | 'showRevenue' | 'workspace'>;

/**
 * Reads the figures of a report's period.
 *
 * @param period milliseconds since the epoch
 * @throws {AppError} `bad_request` when the workspace's links or clicks no longer allow the query
 */
export async function composeReport(
  stores: Stores,
  { name, query: view, schedule, showRevenue, workspace }: Composed,
  period: { from: number; to: number },
  { appUrl, isRequested }: { appUrl: string; isRequested: boolean },
): Promise<ReportContent> {
  const { every, time_zone: timeZone } = schedule;
  const metrics = metricsOfView(view, showRevenue);
  const [first = 'clicks'] = metrics;
  const base = queryOfView(view, {
    window: { from: new Date(period.from).toISOString(), to: new Date(period.to).toISOString() },
    compare: 'previous',
    time_zone: timeZone,
  });
  const answer = (asked: Partial<AnalyticsQuery>) =>
    answerQuery(stores, { workspace }, { ...base, ...asked });
  const unit = every === 'day' ? 'hour' : 'day';
  const overTime = await answer({ metrics, dimensions: [`time:${unit}`] });
  const tables: ReportContent['tables'] = [];
  for (const dimension of tablesOfView(view)) {
    const found = await answer({ metrics: [first], dimensions: [dimension], limit: TOP });
    tables.push({ dimension, rows: rowsOf(found, dimension, first) });
  }
  const clock = zoneClock(timeZone);
  const dayOf = (instant: number) => new Date(clock(instant)).toISOString().slice(0, 10);
  const days = { from: dayOf(period.from), to: dayOf(period.to - 1) };
  return {
    kind: 'report',
    name,
    every,
    ...days,
    timeZone,
    currency: workspace.currency,
    metrics,
    totals: overTime.totals,
    before: overTime.compared_totals ?? {},
    chart: {
      unit,
      values: overTime.rows.map((row) => row.metrics[first] ?? 0),
      before: overTime.rows.map(({ compared }) => compared?.[first] ?? 0),
    },
    tables,
    url: urlOfView(appUrl, view, days),
    isRequested,
  };
}

function rowsOf({ rows, names }: AnalyticsResult, dimension: Dimension, metric: Metric) {
  return rows.flatMap((row) => {
    const value = row.metrics[metric] ?? null;
    if (value === null || value === 0) return [];
    const id = row.dimensions[dimension] ?? null;
    const named = id === null ? undefined : names?.[dimension]?.[String(id)];
    const note = named?.note;
    const name = named ? `${named.name}${note ? ` (${note})` : ''}` : id === null ? null : String(id);
    return [{ name, value, before: row.compared?.[metric] ?? null }];
  });
}
