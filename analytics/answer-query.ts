import type { ClickHouseClient } from '../clickhouse/client.ts';
import {
  analyticsRows,
  type Counted,
  figuresOfRows,
  NOTHING,
  type Order,
  rowsAhead,
} from '../clickhouse/reports/index.ts';
import { timeUnitOf } from '../core/analytics/dimensions.ts';
import { badRequest } from '../core/errors.ts';
import { readAll, readEach } from '../core/faults.ts';
import { counterparts } from '../core/time/counterparts.ts';
import { dateInZone } from '../core/time/date-in-zone.ts';
import { canonicalZone, checkTimeZone } from '../core/time/time-buckets.ts';
import { formatInstant, NANOS_PER_MICRO } from '../core/time/timestamps.ts';
import type { Pool } from '../sql/database/pool.ts';
import { type ReadingPoint, readingPoint } from '../sql/event-log/reading-points.ts';
import { conditionsOf, type FilterOrAny } from './filters.ts';
import { type Grouping, groupingOf } from './grouping.ts';
import { namesIn } from './names.ts';
import type { AnalyticsQuery, AnalyticsResult, QueriedWorkspace } from './query.ts';
import { previousWindow, type ReportWindow, reportWindow } from './report-window.ts';
import { filtersOf, ordersOf, requireOrders } from './request.ts';
import { shownDimensions, shownMetrics } from './shown.ts';

export type Stores = { pool: Pool; clickhouse: ClickHouseClient };

/** Who reads. */
export type Reader = {
  /** The workspace whose figures are read: the caller's, or one that shares a dashboard. */
  workspace: QueriedWorkspace;
  /** The reading point, where it was read already. */
  point?: ReadingPoint | null;
};

/**
 * Runs a query of a workspace's clicks, leads and orders.
 *
 * @throws {AppError} `bad_request` that names the field
 */
export async function answerQuery(
  deps: Stores,
  { workspace, point = null }: Reader,
  query: AnalyticsQuery,
): Promise<AnalyticsResult> {
  const { clickhouse, pool } = deps;
  const { currency } = workspace;
  const request = parsed(query, workspace);
  const { watermark, hasDeletedLinks } = point ?? (await readingPoint(pool, workspace.id));
  const of = (window: ReportWindow, buckets: ReportWindow['span']) =>
    countedOf(deps, workspace, { query, ...request, window, buckets, hasDeletedLinks });
  const { window, compared: comparedTo } = request;
  const [main, other] = await Promise.all([
    of(window, window.span),
    // Buckets are compared by position, so those before `data_from` have one too.
    comparedTo ? of(comparedTo, comparedTo.whole) : null,
  ]);
  const { limit, offset } = query;
  const order = ordersOf(query, main.grouping);
  const [found, figuresAhead] = await Promise.all([
    analyticsRows(clickhouse, main.counted, { order, limit, offset }),
    other && figuresAtOnce(clickhouse, other, order),
  ]);
  const metricsOf = (figures: Parameters<typeof shownMetrics>[1]) =>
    shownMetrics(query.metrics, figures, currency);
  const compared = other && (await comparedWith(deps, { ...main, rows: found.rows }, other, figuresAhead));
  const rows = found.rows.map((row, n) => ({
    dimensions: shownDimensions(main.grouping, row.keys),
    metrics: metricsOf(row.figures),
    ...(compared && { compared: metricsOf(compared.rows[n] ?? NOTHING) }),
  }));
  const names = await namesIn(pool, workspace.id, rows);
  return {
    window: request.window.shown,
    ...(request.compared && { compared_window: request.compared.shown }),
    rows,
    ...(names && { names }),
    totals: metricsOf(found.totals),
    ...(compared && { compared_totals: metricsOf(compared.totals) }),
    total_rows: found.totalRows,
    watermark: formatInstant(BigInt(watermark ?? 0) * NANOS_PER_MICRO, 6),
  };
}

/**
 * Validates a query beyond its schema.
 *
 * @param query of which faulty fields are left out
 * @param faulty the fields that are left out
 * @throws {AppError} `bad_request` that names every fault
 */
export function checkQuery(
  query: Partial<AnalyticsQuery>,
  workspace: QueriedWorkspace,
  faulty: ReadonlySet<string> = new Set(),
): void {
  const isOrderKnown = !faulty.has('metrics') && !faulty.has('dimensions');
  const { metrics = [], dimensions = [], filters = [], order_by = [] } = query;
  const lists = { metrics, dimensions, filters, order_by: isOrderKnown ? order_by : [] };
  parsed({ ...query, ...lists }, workspace);
}

type Parsed = {
  window: ReportWindow;
  compared: ReportWindow | null;
  timeZone: string;
  filters: FilterOrAny[];
};

type Asked = Pick<AnalyticsQuery, 'metrics' | 'dimensions' | 'filters' | 'order_by'> &
  Partial<AnalyticsQuery>;

/** @throws {AppError} `bad_request` that names every fault */
function parsed(query: Asked, workspace: QueriedWorkspace): Parsed {
  const zone = query.time_zone ?? workspace.time_zone ?? 'UTC';
  const { times, filters } = readAll({
    lists: () =>
      readEach(['metrics', 'dimensions'] as const, (list) => {
        const names: readonly string[] = query[list];
        readEach(names, (name, n) => {
          if (names.indexOf(name) !== n) throw badRequest(`${list}.${n}`, `must not repeat ${name}`);
        });
      }),
    orders: () => requireOrders(query),
    zone: () => checkTimeZone('time_zone', zone),
    // With an unknown time zone, dates are those of UTC.
    times: () => timesOf(query, workspace, canonicalZone(zone) ?? 'UTC'),
    filters: () => filtersOf(query.filters),
  });
  return { ...times, filters };
}

function timesOf(query: Asked, workspace: QueriedWorkspace, timeZone: string): Omit<Parsed, 'filters'> {
  const window = reportWindow(inZone(query.window ?? {}, timeZone), workspace, 'window');
  return { window, compared: comparedWindow(query, window, workspace, timeZone), timeZone };
}

/** Replaces dates without a time by their midnights in the time zone. */
function inZone<T extends { from?: string; to?: string }>(window: T, timeZone: string): T {
  const { from, to } = window;
  return {
    ...window,
    ...(from !== undefined && { from: dateInZone(from, timeZone) }),
    ...(to !== undefined && { to: dateInZone(to, timeZone) }),
  };
}

function comparedWindow(
  { compare }: Pick<Asked, 'compare'>,
  window: ReportWindow,
  workspace: QueriedWorkspace,
  timeZone: string,
): ReportWindow | null {
  if (compare === undefined) return null;
  if (compare === 'previous') return previousWindow(window, workspace, timeZone);
  if (typeof compare === 'string')
    throw badRequest('compare', 'must be previous, or an object with from and to');
  const [from, to] = (['from', 'to'] as const).map((name) => {
    const value = compare[name];
    if (typeof value !== 'string') throw badRequest(`compare.${name}`, 'must be an ISO 8601 instant');
    return value;
  });
  const given = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  return reportWindow(inZone(given, timeZone), workspace, 'compare');
}

/** Returns the clicks, leads and orders that a query counts in one window, and the grouping of its rows. */
async function countedOf(
  { pool, clickhouse }: Stores,
  workspace: QueriedWorkspace,
  given: Parsed & { query: AnalyticsQuery; buckets: ReportWindow['span']; hasDeletedLinks: boolean },
): Promise<{ counted: Counted; grouping: Grouping }> {
  const { query, window, buckets, timeZone, filters, hasDeletedLinks } = given;
  const around = { db: pool, clickhouse, workspaceId: workspace.id, span: window.span, timeZone };
  const [conditions, grouping] = await Promise.all([
    conditionsOf(around, filters),
    groupingOf({ ...around, span: buckets }, query.dimensions, filters),
  ]);
  const counted: Counted = {
    window: { workspaceId: workspace.id, span: window.span, hasDeleted: hasDeletedLinks },
    metrics: query.metrics,
    keys: grouping.keys,
    starts: grouping.starts,
    timeZone,
    conditions,
    bots: query.bots,
    orphans: query.orphans,
  };
  return { counted, grouping };
}

/** Returns the keys of the compared window's rows; null when they depend on the rows of the main window. */
function rowsKnownAhead({ keys, starts }: Grouping): string[][] | null {
  if (keys.length === 0) return [];
  return keys.length === 1 && keys[0]?.kind === 'bucket' ? starts.map((start) => [String(start)]) : null;
}

/** Rows that are read from the compared window before the rows of the main window are known. */
const ROWS_AHEAD = 1_000;

/** Figures of a compared window. `isWhole`: it has all rows. */
type FiguresAhead = Awaited<ReturnType<typeof figuresOfRows>> & { isWhole: boolean };

/**
 * Reads the compared window in parallel with the main one: ClickHouse groups all of its rows anyway. Returns null when
 * the main window's rows are probably not the first ones of the compared window.
 */
async function figuresAtOnce(
  clickhouse: ClickHouseClient,
  { counted, grouping }: { counted: Counted; grouping: Grouping },
  order: readonly Order[],
): Promise<FiguresAhead | null> {
  const known = rowsKnownAhead(grouping);
  if (known) return { ...(await figuresOfRows(clickhouse, counted, known)), isWhole: true };
  if (grouping.keys.some(({ kind }) => kind === 'bucket')) return null;
  const found = await rowsAhead(clickhouse, counted, { order, limit: ROWS_AHEAD, offset: 0 });
  return found && { ...found, isWhole: found.totalRows <= ROWS_AHEAD };
}

/** Returns the compared window's figures for each row. A bucket is compared with the bucket at the same position. */
async function comparedWith(
  { clickhouse }: Stores,
  main: { counted: Counted; grouping: Grouping; rows: readonly { keys: string[] }[] },
  other: { counted: Counted; grouping: Grouping },
  figuresAhead: FiguresAhead | null,
) {
  const { keys, dimensions, starts } = main.grouping;
  const bucket = keys.findIndex(({ kind }) => kind === 'bucket');
  const units = dimensions.flatMap(({ name }) => timeUnitOf(name) ?? []);
  const beside = counterparts(starts, other.grouping.starts, units, main.counted.timeZone);
  const wanted = main.rows.map((row) =>
    row.keys.map((key, n) => (n === bucket ? String(beside.get(BigInt(key)) ?? 'none') : key)),
  );
  const nameOf = (keys: readonly string[]) => JSON.stringify(keys);
  const ahead = new Set(figuresAhead?.rows.map(({ keys }) => nameOf(keys)));
  const isThere = figuresAhead?.isWhole || (figuresAhead && wanted.every((keys) => ahead.has(nameOf(keys))));
  const found = isThere ? figuresAhead : await figuresOfRows(clickhouse, other.counted, wanted);
  const byKeys = new Map(found.rows.map((row) => [nameOf(row.keys), row.figures]));
  return { totals: found.totals, rows: wanted.map((keys) => byKeys.get(nameOf(keys)) ?? NOTHING) };
}
