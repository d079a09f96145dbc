import type { QueryClient } from '@tanstack/react-query';
import type { Dimension, Metric } from '../../../core/analytics/dimensions.ts';
import { csvText, textCell } from '../../../core/text/csv-text.ts';
import { saveFile } from '../parts/save-file.ts';
import { CARDS, DIMENSION_NAMES, METRIC_NAMES, tabKey, valueIn, valueName } from './dimensions.ts';
import {
  type AnalyticsBody,
  analyticsOptions,
  breakdownBody,
  mapBody,
  metricsFor,
  overTimeBody,
  type Result,
  type Row,
  type Source,
} from './source.ts';
import { unitOf, type View } from './view.ts';

/** Rows of one request of a whole list. */
const ROWS_AT_ONCE = 1_000;

/** Saves what a dashboard shows as CSV: the totals, the chart's steps, and the rows of its lists. */
export async function exportShown(
  queries: QueryClient,
  source: Source,
  view: View,
  search: URLSearchParams,
): Promise<void> {
  const read = (body: AnalyticsBody) => queries.ensureQueryData<Result>(analyticsOptions(source.path, body));
  // The page's own read: the file has the figures that the page shows.
  const overTime = await read(overTimeBody(view, source));
  const metrics = metricsFor(source);
  const time: Dimension = `time:${unitOf(view)}`;
  const withBefore = overTime.compared_window !== undefined;
  const lines = [
    lineOf(
      'Total',
      '',
      '',
      { metrics: overTime.totals, compared: overTime.compared_totals },
      source,
      withBefore,
    ),
    ...overTime.rows.map((row) =>
      lineOf(timeName(view), valueIn(row, time) ?? '', '', row, source, withBefore),
    ),
  ];
  for (const { parameter, tabs } of CARDS) {
    const tab = tabs.find((one) => tabKey(one) === search.get(parameter)) ?? tabs[0];
    if (!tab) continue;
    const { dimension, map } = tab;
    const result = await read(
      map ? mapBody(view, source, { metrics }) : breakdownBody(view, source, dimension, { metrics }),
    );
    lines.push(...linesOf(result, dimension, source, withBefore));
  }
  save('dashboard', view, csvText(['Report', 'Value', 'Name', ...headings(source, withBefore)], lines));
}

/** Saves all rows of a list as CSV, page by page. */
export async function exportList(
  queries: QueryClient,
  source: Source,
  view: View,
  dimension: Dimension,
): Promise<void> {
  const lines: string[][] = [];
  let withBefore = false;
  for (let offset = 0; ; offset += ROWS_AT_ONCE) {
    const options = { metrics: metricsFor(source), limit: ROWS_AT_ONCE, offset };
    const body = breakdownBody(view, source, dimension, options);
    const result = await queries.fetchQuery(analyticsOptions(source.path, body));
    withBefore = result.compared_window !== undefined;
    lines.push(...linesOf(result, dimension, source, withBefore));
    if (result.rows.length < ROWS_AT_ONCE) break;
  }
  save(
    dimension.replace(':', '-'),
    view,
    csvText(['Report', 'Value', 'Name', ...headings(source, withBefore)], lines),
  );
}

const timeName = (view: View): string => {
  const unit = unitOf(view);
  return `${unit.charAt(0).toUpperCase()}${unit.slice(1)}`;
};

const headings = (source: Source, withBefore: boolean): string[] =>
  metricsFor(source).flatMap((metric) => [
    headingOf(metric, source),
    ...(withBefore ? [`${headingOf(metric, source)}, compared`] : []),
  ]);

const headingOf = (metric: Metric, { currency }: Source) =>
  metric === 'revenue' ? `Revenue (${currency.toUpperCase()})` : METRIC_NAMES[metric];

const linesOf = (
  { rows, names }: Result,
  dimension: Dimension,
  source: Source,
  withBefore: boolean,
): string[][] =>
  rows.map((row) => {
    const value = valueIn(row, dimension);
    return lineOf(
      DIMENSION_NAMES[dimension] ?? dimension,
      value ?? '',
      valueName(dimension, value, names),
      row,
      source,
      withBefore,
    );
  });

function lineOf(
  report: string,
  value: string,
  name: string,
  { metrics, compared }: { metrics: Row['metrics']; compared?: Row['compared'] },
  source: Source,
  withBefore: boolean,
): string[] {
  const figures = metricsFor(source).flatMap((metric) => [
    numberCell(metrics[metric]),
    ...(withBefore ? [numberCell(compared?.[metric])] : []),
  ]);
  return [report, textCell(value), textCell(name), ...figures];
}

const numberCell = (value: number | null | undefined) =>
  value === null || value === undefined ? '' : String(value);

function save(what: string, view: View, text: string): void {
  const { window } = view;
  const period =
    window.kind === 'range'
      ? `${window.from}-to-${window.to}`
      : window.kind === 'days'
        ? `last-${window.days}-days`
        : 'last-hour';
  saveFile(`${what}-${period}.csv`, new Blob([text], { type: 'text/csv;charset=utf-8' }));
}
