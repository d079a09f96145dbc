import type { Metric } from '../../../core/analytics/dimensions.ts';
import { MINOR_RATE_DIGITS, RATE_DIGITS } from '../../../core/analytics/rates.ts';
import type { ClickHouseClient } from '../../client.ts';
import type { Sql } from '../../queries/click-conditions.ts';
import { CONVERSION_DIGITS } from '../figures.ts';
import type { Counted, Page } from './query.ts';
import { type Counting, clicksSource, needs, sharesSource } from './sources.ts';

/**
 * `withWhole`: adds the row of all. `links`: only these links; the only key is then `link`. `only`: at least the rows of
 * these values of the only key, and maybe others.
 */
export type Options = { withWhole: boolean; links?: readonly string[]; only?: readonly string[] };

/** The columns and the source of a query of the rows by key: `whole`, the keys, and the figures by their names. */
export type Grouped = { columns: string; source: string; params: Record<string, unknown> };

export const sqlOf = ({ columns, source, params }: Grouped): Sql => ({
  sql: `SELECT ${columns} ${source}`,
  params,
});

/** Returns the figures of clicks and of shares by the query's keys. */
export function groupedRows(
  client: ClickHouseClient,
  counted: Counted,
  counting: Counting,
  options: Options,
): Grouped {
  const { clicks, orders, leads } = needs(counted);
  const sources = [
    ...(clicks ? [clicksSource(client, counted, counting, options)] : []),
    ...(orders || leads ? [sharesSource(client, counted, counting, options)] : []),
    ...(isSeries(counted) ? [EMPTY_BUCKETS] : []),
  ];
  const names = counted.keys.map((_, n) => `k${n}`);
  const union =
    sources.length === 0 ? noRows(counted.keys) : sources.map(({ sql }) => sql).join(' UNION ALL ');
  // One source has one row for each key.
  const isOne = sources.length === 1;
  const figures = counted.metrics.map((name) => `${FIGURES[name](isOne ? '' : 'sum')} AS ${name}`);
  return {
    columns: ['whole', ...names, ...figures].join(', '),
    source: `FROM (${union}) ${isOne ? '' : `GROUP BY ${['whole', ...names].join(', ')}`}`,
    params: Object.assign({ starts: counted.starts }, ...sources.map(({ params }) => params)),
  };
}

/**
 * Each metric as SQL over the columns of the sources. Rates are of sums before they are rounded: thirds of orders would
 * give equal rates different digits.
 *
 * @param sum the function that adds rows of several sources
 */
const FIGURES: Record<Metric, (sum: string) => string> = {
  clicks: (sum) => `${sum}(c)`,
  visitors: (sum) => `${sum}(v)`,
  leads: (sum) => `round(${sum}(l), ${CONVERSION_DIGITS})`,
  conversions: (sum) => `round(${sum}(o), ${CONVERSION_DIGITS})`,
  revenue: (sum) => `${sum}(r)`,
  conversion_rate: (sum) => `if(${sum}(c) = 0, NULL, round(${sum}(o) / ${sum}(c), ${RATE_DIGITS}))`,
  revenue_per_click: (sum) => `if(${sum}(c) = 0, NULL, round(${sum}(r) / ${sum}(c), ${MINOR_RATE_DIGITS}))`,
};

/** Whether the rows are buckets and nothing else. */
const isSeries = ({ keys }: Counted) => keys.length === 1 && keys[0]?.kind === 'bucket';

const EMPTY_BUCKETS: Sql = {
  sql: `SELECT toUInt8(0) AS whole, arrayJoin({starts:Array(Int64)}) AS k0, toUInt64(0) AS c, toUInt64(0) AS v, 0. AS l,
    0. AS o, toInt64(0) AS r`,
  params: {},
};

/** Returns a source without rows, for a query that needs neither clicks nor shares. */
const noRows = (keys: Counted['keys']) =>
  `SELECT toUInt8(0) AS whole,
    ${keys.map(({ kind }, n) => `${kind === 'bucket' ? 'toInt64(0)' : "''"} AS k${n}, `).join('')} toUInt64(0) AS c, toUInt64(0) AS v,
    0. AS l, 0. AS o, toInt64(0) AS r WHERE false`;

/** Adds a row for each empty bucket of every value of the other keys. */
function withEmptyBuckets(counted: Counted, grouped: Grouped): Grouped {
  const { keys } = counted;
  const bucket = keys.findIndex(({ kind }) => kind === 'bucket');
  const others = keys.flatMap((_, n) => (n === bucket ? [] : [`k${n}`]));
  if (bucket === -1 || others.length === 0 || keys.some(({ kind }) => kind === 'clock')) return grouped;
  const figures = counted.metrics;
  const list = others.map((name) => `, ${name}`).join('');
  const found = figures.map((name, n) => `found[indexOf(times, slot)].${n + 1} AS ${name}`).join(', ');
  return {
    columns: '*',
    // A subquery: ClickHouse has no window function beside ARRAY JOIN.
    source: `FROM (SELECT whole${list}, slot AS k${bucket}, ${found}
      FROM (SELECT whole${list}, groupArray(k${bucket}) AS times, groupArray(tuple(${figures.join(', ')})) AS found
        FROM (${sqlOf(grouped).sql}) GROUP BY whole${list})
      ARRAY JOIN if(whole = 1, times, {starts:Array(Int64)}) AS slot)`,
    params: grouped.params,
  };
}

/**
 * Returns a page of the grouped rows: the row of all first, then the rows in their order.
 *
 * @param with_.number whether each row has the number of all rows
 */
export function pageOf(
  counted: Counted,
  grouped: Grouped,
  page: Page,
  with_: { whole: boolean; number: boolean },
): Sql {
  const { columns, source, params } = withEmptyBuckets(counted, grouped);
  const byKeys = counted.keys.map((key, n) => (key.kind === 'link' ? `toString(k${n})` : `k${n}`));
  const order = [
    ...(with_.whole ? ['whole DESC'] : []),
    ...page.order.map(
      ({ by, isDescending }) =>
        `${typeof by === 'number' ? byKeys[by] : by} ${isDescending ? 'DESC' : 'ASC'} NULLS LAST`,
    ),
    ...byKeys,
  ];
  return {
    sql: `SELECT ${columns}${with_.number ? ', count() OVER () AS found' : ''} ${source}
      ORDER BY ${order.join(', ')} LIMIT {page_limit:UInt32} OFFSET {page_offset:UInt32}`,
    params: { ...params, page_limit: page.limit + (with_.whole ? 1 : 0), page_offset: page.offset },
  };
}

/** Keeps some rows, and the row of all. @param byKey for each key its values in these rows */
export function onlyOf(grouped: Grouped, byKey: readonly (readonly string[])[]): Sql {
  const params = Object.fromEntries(byKey.map((values, n) => [`only_${n}`, values]));
  return {
    sql: `SELECT * FROM (${sqlOf(grouped).sql}) WHERE whole = 1 OR ${isOneOf(byKey.length)}`,
    params: { ...grouped.params, ...params },
  };
}

function isOneOf(keys: number): string {
  const names = Array.from({ length: keys }, (_, n) => n);
  if (keys === 1) return 'toString(k0) IN (SELECT arrayJoin({only_0:Array(String)}))';
  return `(${names.map((n) => `toString(k${n})`).join(', ')}) IN (SELECT arrayJoin(arrayZip(
    ${names.map((n) => `{only_${n}:Array(String)}`).join(', ')})))`;
}
