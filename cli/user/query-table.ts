import { csvLines, textCell } from '../../core/text/csv-text.ts';
import type {
  AnalyticsFigures,
  AnalyticsQuery,
  AnalyticsResult,
} from '../../sdk/typescript/src/generated/types.ts';
import { clipped, table } from '../output.ts';
import { bar, changeOf, figureFormat } from './figures.ts';

type Metric = AnalyticsQuery['metrics'][number];
/** The input of a table. `currency` is that of the workspace. */
type Shown = { query: AnalyticsQuery; result: AnalyticsResult; currency: string };

/** Columns of a dimension's values. */
const LABEL = 40;
const LONGEST_BAR = 24;
const SHORTEST_BAR = 4;
/** Metrics whose rows can be compared by length with the largest. */
const isMoney = (metric: string) => metric.startsWith('revenue');

/**
 * Returns a result as a table of text.
 *
 * @param columns width of the terminal, for a bar beside each figure; null: no bars
 */
export function queryTable({ query, result, currency }: Shown, columns: number | null): string {
  const dimensions = query.dimensions ?? [];
  const isCompared = result.compared_totals !== undefined;
  const labels = result.rows.map((row) =>
    dimensions.map((name) => clipped(labelOf(result, name, row.dimensions[name] ?? null), LABEL)),
  );
  const build = (barWidth: number) => {
    const header = [
      ...dimensions.map(String),
      ...query.metrics.flatMap((metric) => titles(metric, barWidth)),
    ];
    const figures = header.flatMap((_, index) => (isFigure(header, index, dimensions.length) ? index : []));
    const rows = result.rows.map((row, index) => [
      ...(labels[index] ?? []),
      ...query.metrics.flatMap((metric) =>
        cellsOf(metric, row.metrics, row.compared, barWidth, largest(result, metric)),
      ),
    ]);
    const totals = dimensions.length === 0 ? 0 : 1;
    const last = [
      ...dimensions.map((_, index) => (index === 0 ? 'total' : '')),
      ...query.metrics.flatMap((metric) =>
        cellsOf(metric, result.totals, result.compared_totals, barWidth, null),
      ),
    ];
    return table(header, totals === 0 && rows.length > 0 ? rows : [...rows, last], figures);
  };
  const titles = (metric: Metric, barWidth: number) => [
    isMoney(metric) ? `${metric} (${currency})` : metric,
    ...(barWidth > 0 ? [''] : []),
    ...(isCompared ? ['before', 'change'] : []),
  ];
  const cellsOf = (
    metric: Metric,
    now: AnalyticsFigures,
    before: AnalyticsFigures | undefined,
    barWidth: number,
    most: number | null,
  ) => {
    const format = figureFormat(metric, currency);
    const share = most ? (now[metric] ?? 0) / most : 0;
    return [
      format(now[metric]),
      ...(barWidth > 0 ? [most === null ? '' : bar(share, barWidth)] : []),
      ...(isCompared
        ? [format(before?.[metric] ?? (before ? null : 0)), changeOf(now[metric], before?.[metric])]
        : []),
    ];
  };
  const without = build(0);
  if (columns === null || dimensions.length === 0) return without;
  const used = Math.max(...without.split('\n').map((line) => line.length));
  const room = Math.floor((columns - used) / query.metrics.length) - 2;
  return room < SHORTEST_BAR ? without : build(Math.min(room, LONGEST_BAR));
}

/** Bars are the columns without a title. */
const isFigure = (header: readonly string[], index: number, dimensions: number) =>
  index >= dimensions && header[index] !== '';

/** The largest figure of a metric among the rows: its bar has the whole width. */
function largest({ rows }: AnalyticsResult, metric: Metric): number {
  return Math.max(0, ...rows.map(({ metrics }) => metrics[metric] ?? 0));
}

/** Returns what a row of a dimension is called: ids have names. */
function labelOf({ names }: AnalyticsResult, dimension: string, value: string | number | null): string {
  if (value === null) return dimension === 'domain' ? '(default)' : '(unknown)';
  const named = names?.[dimension]?.[String(value)];
  if (named === undefined) return String(value);
  return named.note ? `${named.name} (${named.note})` : named.name;
}

/** Returns a result as CSV, with the names of ids in a column of their own. */
export function queryCsv({ query, result }: Omit<Shown, 'currency'>): string {
  const dimensions = query.dimensions ?? [];
  const isCompared = result.compared_totals !== undefined;
  const isNamed = (name: string) => result.names?.[name] !== undefined;
  const header = [
    ...dimensions.flatMap((name) => (isNamed(name) ? [name, `${name}_name`] : [name])),
    ...query.metrics.flatMap((metric) => (isCompared ? [metric, `${metric}_before`] : [metric])),
  ];
  const all = dimensions.length === 0 && result.rows.length === 0;
  const rows = all
    ? [
        {
          dimensions: {} as Record<string, string | number | null>,
          metrics: result.totals,
          compared: result.compared_totals,
        },
      ]
    : result.rows;
  const cells = rows.map((row) => [
    ...dimensions.flatMap((name) => {
      const value = row.dimensions[name] ?? null;
      const text = value === null ? '' : textCell(String(value));
      return isNamed(name) ? [text, value === null ? '' : textCell(labelOf(result, name, value))] : [text];
    }),
    ...query.metrics.flatMap((metric) => {
      const now = String(row.metrics[metric] ?? '');
      return isCompared ? [now, String(row.compared?.[metric] ?? '')] : [now];
    }),
  ]);
  return csvLines([header, ...cells]);
}
