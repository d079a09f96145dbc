import type { Metric } from '../../../core/analytics/dimensions.ts';
import { MINOR_RATE_DIGITS, RATE_DIGITS } from '../../../core/analytics/rates.ts';
import type { ClickHouseClient } from '../../client.ts';
import { type Condition, conditionsSql, type Sql } from '../../queries/click-conditions.ts';
import { runQuery } from '../../queries/run-query.ts';
import { NOT_DELETED } from '../../queries/visible-clicks.ts';
import { ONE_MOMENT } from '../cached-parts.ts';
import { CONVERSION_DIGITS, type Figures, toFigures } from '../figures.ts';
import { EXACT_CLICKS, type ReportWindow } from '../request.ts';
import { planWindow } from '../window-plan.ts';
import type { Key } from './keys.ts';
import {
  type Counting,
  canBeRolledUp,
  clicksSource,
  coverOfBuckets,
  needs,
  sharesSource,
} from './sources.ts';

/** Which clicks, leads and orders of a workspace are counted, and by what. */
export type Counted = {
  window: ReportWindow;
  metrics: readonly Metric[];
  keys: readonly Key[];
  /** When buckets begin, nanoseconds, rising; empty without a key of kind `bucket`. */
  starts: readonly bigint[];
  /** Of keys of kind `clock`. */
  timeZone: string;
  conditions: readonly Condition[];
  bots: 'exclude' | 'include' | 'only';
  orphans: 'exclude' | 'include' | 'only';
};

/** What rows are sorted by: a metric of the query, or one of its keys by its position. */
export type Order = { by: Metric | number; isDescending: boolean };

export type Page = { order: readonly Order[]; limit: number; offset: number };

export type AnalyticsRow = { keys: string[]; figures: RatedFigures };
export type AnalyticsFigures = { totals: RatedFigures; rows: AnalyticsRow[]; totalRows: number };

/** The figures of a row with its rates, null without clicks. */
export type RatedFigures = Figures & {
  conversionRate: number | null;
  /** Minor units. */
  revenuePerClick: number | null;
};

export const NOTHING: RatedFigures = {
  clicks: 0,
  visitors: 0,
  leads: 0,
  conversions: 0,
  revenueMinor: 0n,
  conversionRate: null,
  revenuePerClick: null,
};

type Row = {
  whole: number;
  clicks: string;
  visitors: string;
  leads: number;
  conversions: number;
  revenue: string;
  conversion_rate: number | null;
  revenue_per_click: number | null;
  found: string;
} & Record<`k${number}`, string | number>;

/**
 * Returns the figures of a workspace's window by keys, and in all. Roll-ups answer large windows by channel, link and whole UTC
 * days or months; everything else is counted click by click. With a key of buckets and none of a clock, every bucket of every
 * other value has a row.
 */
export async function analyticsRows(
  client: ClickHouseClient,
  counted: Counted,
  page: Page,
): Promise<AnalyticsFigures> {
  const hasSeparateWhole = page.offset > 0 || countsTwice(counted);
  const withWhole = counted.keys.length === 0 || !hasSeparateWhole;
  const [rows, whole] = await Promise.all([
    counted.keys.length === 0
      ? []
      : run(client, counted, withWhole, (grouped) => pageOf(counted, grouped, page, withWhole)),
    withWhole && counted.keys.length > 0
      ? []
      : run(client, { ...counted, keys: [], starts: [] }, true, sqlOf),
  ]);
  const total = [...whole, ...rows].find((row) => row.whole === 1);
  const found = rows.filter((row) => row.whole === 0);
  const inAll = Number(rows[0]?.found ?? 0) - (withWhole && rows.some((row) => row.whole === 1) ? 1 : 0);
  return {
    totals: total ? ratedFigures(total) : NOTHING,
    rows: found.map((row) => rowOf(counted, row)),
    totalRows: counted.keys.length === 0 ? 0 : await rowsInAll(inAll),
  };

  /** A page beyond the last row has none that says how many there are. */
  async function rowsInAll(inAll: number): Promise<number> {
    if (rows.length > 0 || page.offset === 0) return Math.max(0, inAll);
    const [first] = await run(client, counted, false, (grouped) =>
      pageOf(counted, grouped, { ...page, offset: 0, limit: 1 }, false),
    );
    return Number(first?.found ?? 0);
  }
}

/** Returns the figures of some rows of a query, and in all. @param only the keys of each of the rows */
export async function figuresOfRows(
  client: ClickHouseClient,
  counted: Counted,
  only: readonly (readonly string[])[],
): Promise<Omit<AnalyticsFigures, 'totalRows'>> {
  const params = Object.fromEntries(
    counted.keys.map((_, n) => [`only_${n}`, only.map((keys) => keys[n] ?? '')]),
  );
  const hasRows = counted.keys.length > 0 && only.length > 0;
  const withWhole = hasRows && !countsTwice(counted);
  const [rows, whole] = await Promise.all([
    hasRows
      ? run(client, counted, withWhole, (grouped) => ({
          sql: `SELECT * FROM (${sqlOf(grouped).sql}) WHERE whole = 1 OR ${isOneOf(counted.keys.length)}`,
          params: { ...grouped.params, ...params },
        }))
      : [],
    withWhole ? [] : run(client, { ...counted, keys: [], starts: [] }, true, sqlOf),
  ]);
  const total = [...whole, ...rows].find((row) => row.whole === 1);
  return {
    totals: total ? ratedFigures(total) : NOTHING,
    rows: rows.filter((row) => row.whole === 0).map((row) => rowOf(counted, row)),
  };
}

/** Whether a click may be in several rows: of a link with several values. It is once in all. */
const countsTwice = ({ keys }: Counted): boolean => keys.some(({ kind }) => kind === 'mapped');

function isOneOf(keys: number): string {
  const names = Array.from({ length: keys }, (_, n) => n);
  if (keys === 1) return 'toString(k0) IN (SELECT arrayJoin({only_0:Array(String)}))';
  return `(${names.map((n) => `toString(k${n})`).join(', ')}) IN (SELECT arrayJoin(arrayZip(
    ${names.map((n) => `{only_${n}:Array(String)}`).join(', ')})))`;
}

const rowOf = ({ keys }: Counted, row: Row): AnalyticsRow => ({
  keys: keys.map((_, n) => String(row[`k${n}`] ?? '')),
  figures: ratedFigures(row),
});

const ratedFigures = (row: Row): RatedFigures => ({
  ...toFigures(row),
  conversionRate: row.conversion_rate,
  revenuePerClick: row.revenue_per_click,
});

/** The columns and the source of a query of the rows by key: `whole`, the keys, and the figures by their names. */
type Grouped = { columns: string; source: string; params: Record<string, unknown> };

const sqlOf = ({ columns, source, params }: Grouped): Sql => ({ sql: `SELECT ${columns} ${source}`, params });

/** Runs a query over the grouped rows. */
async function run(
  client: ClickHouseClient,
  counted: Counted,
  withWhole: boolean,
  over: (grouped: Grouped) => Sql,
): Promise<Row[]> {
  const ask = async (counting: Counting) => {
    const { sql, params } = over(groupedRows(counted, counting, withWhole));
    return runQuery<Row>(client, { sql, params, seconds: 60, settings: ONE_MOMENT });
  };
  if (!needs(counted).clicks) return ask({ kind: 'exact' });
  const isRolledUp = canBeRolledUp(counted);
  const { window } = counted;
  const own = isRolledUp ? conditionsSql(counted.conditions) : { sql: '', params: {} };
  const clicks = {
    exactUpTo: EXACT_CLICKS,
    ...window,
    condition: `${own.sql}${window.hasDeleted ? ` ${NOT_DELETED}` : ''}`,
    params: own.params,
  };
  return planWindow(client, clicks, (cover, periods) => {
    if (cover === null) return ask({ kind: 'exact' });
    const usable = isRolledUp ? coverOfBuckets(counted, cover, periods) : null;
    return ask(usable === null ? { kind: 'estimated' } : { kind: 'rolled up', cover: usable });
  });
}

function groupedRows(counted: Counted, counting: Counting, withWhole: boolean): Grouped {
  const { clicks, orders, leads } = needs(counted);
  const sources = [
    ...(clicks ? [clicksSource(counted, counting, withWhole)] : []),
    ...(orders || leads ? [sharesSource(counted, withWhole)] : []),
    ...(isSeries(counted) ? [EMPTY_BUCKETS] : []),
  ];
  const names = counted.keys.map((_, n) => `k${n}`);
  const keys = names.map((name) => `${name}, `).join('');
  const union =
    sources.length === 0 ? noRows(counted.keys) : sources.map(({ sql }) => sql).join(' UNION ALL ');
  return {
    columns: `whole, ${keys} sum(c) AS clicks, sum(v) AS visitors, round(sum(l), ${CONVERSION_DIGITS}) AS leads,
      round(sum(o), ${CONVERSION_DIGITS}) AS conversions, sum(r) AS revenue, ${RATES}`,
    source: `FROM (${union}) GROUP BY whole${names.map((name) => `, ${name}`).join('')}`,
    params: Object.assign({ starts: counted.starts }, ...sources.map(({ params }) => params)),
  };
}

/** Of the sums before they are rounded: thirds of orders would give equal rates different digits. */
const RATES = `if(clicks = 0, NULL, round(sum(o) / clicks, ${RATE_DIGITS})) AS conversion_rate,
  if(clicks = 0, NULL, round(revenue / clicks, ${MINOR_RATE_DIGITS})) AS revenue_per_click`;

/** Whether the rows are buckets and nothing else. */
const isSeries = ({ keys }: Counted) => keys.length === 1 && keys[0]?.kind === 'bucket';

const EMPTY_BUCKETS: Sql = {
  sql: `SELECT toUInt8(0) AS whole, arrayJoin({starts:Array(Int64)}) AS k0, toUInt64(0) AS c, toUInt64(0) AS v, 0. AS l,
    0. AS o, toInt64(0) AS r`,
  params: {},
};

/** Nothing that the query measures can be found. */
const noRows = (keys: Counted['keys']) =>
  `SELECT toUInt8(0) AS whole,
    ${keys.map(({ kind }, n) => `${kind === 'bucket' ? 'toInt64(0)' : "''"} AS k${n}, `).join('')} toUInt64(0) AS c, toUInt64(0) AS v,
    0. AS l, 0. AS o, toInt64(0) AS r WHERE false`;

/** Adds rows of empty buckets for every value of the other keys. */
function withEmptyBuckets({ keys }: Counted, grouped: Grouped): Grouped {
  const bucket = keys.findIndex(({ kind }) => kind === 'bucket');
  const others = keys.flatMap((_, n) => (n === bucket ? [] : [`k${n}`]));
  if (bucket === -1 || others.length === 0 || keys.some(({ kind }) => kind === 'clock')) return grouped;
  const figures = [
    'clicks',
    'visitors',
    'leads',
    'conversions',
    'revenue',
    'conversion_rate',
    'revenue_per_click',
  ];
  const list = others.map((name) => `, ${name}`).join('');
  const found = figures.map((name, n) => `found[indexOf(times, slot)].${n + 1} AS ${name}`).join(', ');
  return {
    columns: '*',
    // A subquery: ClickHouse has no window function beside ARRAY JOIN.
    source: `FROM (SELECT whole${list}, slot AS k${bucket}, ${found}
      FROM (SELECT whole${list}, groupArray(k${bucket}) AS times, groupArray((${figures.join(', ')})) AS found
        FROM (${sqlOf(grouped).sql}) GROUP BY whole${list})
      ARRAY JOIN if(whole = 1, times, {starts:Array(Int64)}) AS slot)`,
    params: grouped.params,
  };
}

/** Returns a page of the grouped rows: the row of all first, then the rows in their order, each with their number. */
function pageOf(counted: Counted, grouped: Grouped, page: Page, withWhole: boolean): Sql {
  const { columns, source, params } = withEmptyBuckets(counted, grouped);
  const byKeys = counted.keys.map((key, n) => (key.kind === 'link' ? `toString(k${n})` : `k${n}`));
  const order = [
    'whole DESC',
    ...page.order.map(
      ({ by, isDescending }) =>
        `${typeof by === 'number' ? byKeys[by] : by} ${isDescending ? 'DESC' : 'ASC'} NULLS LAST`,
    ),
    ...byKeys,
  ];
  return {
    sql: `SELECT ${columns}, count() OVER () AS found ${source}
      ORDER BY ${order.join(', ')} LIMIT {page_limit:UInt32} OFFSET {page_offset:UInt32}`,
    params: { ...params, page_limit: page.limit + (withWhole ? 1 : 0), page_offset: page.offset },
  };
}
