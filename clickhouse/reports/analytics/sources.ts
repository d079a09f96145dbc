import { NANOS_PER_DAY } from '../../../core/time/timestamps.ts';
import type { ClickHouseClient } from '../../client.ts';
import {
  CLICKS,
  type Condition,
  conditionsSql,
  orphansSql,
  type Sql,
  textColumn,
} from '../../queries/click-conditions.ts';
import { IN_SPAN, inSpans, NOT_DELETED } from '../../queries/visible-clicks.ts';
import { type Cover, coverOf, spanOf } from '../../rollups/cover.ts';
import {
  type CoverParams,
  cachedChannels,
  cachedKeys,
  cachedLinks,
  coverParams,
  rowsCached,
} from '../cached-clicks.ts';
import { nameOf, type Shape } from '../cached-parts.ts';
import { cachedShares, cachedSharesByKeys, wholeDays } from '../cached-shares.ts';
import { COUNTED_SHARES } from '../counted-shares.ts';
import type { Options } from './grouped-rows.ts';
import { type Key, type KeysSql, keysSql } from './keys.ts';
import type { Counted } from './query.ts';

/**
 * Each query of this file returns rows by key: `whole` (1 in the row of all), the keys, and clicks, visitors, leads,
 * orders and revenue as `c, v, l, o, r`.
 */

/** Returns the condition that selects bots and visits without a link, or excludes them. */
function populationSql({ bots, orphans }: Counted): string {
  return `${{ exclude: 'AND NOT is_bot', include: '', only: 'AND is_bot' }[bots]} ${orphansSql(orphans)}`;
}

/** Groups by the keys. `withWhole` adds the row of all, which groups by nothing. */
function grouping({ names }: KeysSql, withWhole: boolean): { whole: string; groupBy: string } {
  if (names.length === 0) return { whole: 'toUInt8(1)', groupBy: 'HAVING count() > 0' };
  if (!withWhole) return { whole: 'toUInt8(0)', groupBy: `GROUP BY ${names.join(', ')}` };
  return {
    whole: `toUInt8(grouping(${names[0]}))`,
    groupBy: `GROUP BY GROUPING SETS ((${names.join(', ')}), ())`,
  };
}

const from = (table: string, condition: string, { joins }: KeysSql) =>
  joins === ''
    ? `${table} WHERE ${condition}`
    : `(SELECT * FROM ${table} WHERE ${condition}) AS rows ${joins}`;

/**
 * How visitors are counted: exactly, estimated (with whole periods from the cache where it has the query's shape), or
 * from rolled-up periods and the clicks outside of them.
 */
export type Counting =
  | { kind: 'exact' }
  | { kind: 'estimated'; cover: Cover }
  | { kind: 'rolled up'; cover: Cover };

/**
 * A workspace's totals, one row for each period. `LIMIT 1`: a row may be there twice until ClickHouse merges its parts.
 */
const WORKSPACE_ROLLED_UP = `(SELECT toDateTime64(start, 9, 'UTC') AS ts, clicks, visitors FROM rolled_up_workspaces
    WHERE workspace_id = {workspace:UUID} AND generation IN {generations:Array(UInt64)} LIMIT 1 BY generation)`;

/** Keeps the links of the parameter `chosen`. */
const CHOSEN = 'AND link_id IN (SELECT arrayJoin({chosen:Array(UUID)}))';

/**
 * Returns the clicks and visitors of a query by its keys. Estimated visitors go by `uniqCombined64(17)`: a standard
 * error of 0.29 %, so 1 % is three and a half of them. 16 bits would break the promise once in seventy rows.
 */
export function clicksSource(
  client: ClickHouseClient,
  counted: Counted,
  counting: Counting,
  { withWhole, links, only }: Options,
): Sql {
  const keys = keysSql(counted.keys, counted.starts, counted.timeZone);
  const own = conditionsSql(counted.conditions);
  const deleted = counted.window.hasDeleted ? NOT_DELETED : '';
  const ofRows = grouping(keys, withWhole);
  const params = { ...baseParams(counted), ...keys.params, ...own.params, ...(links && { chosen: links }) };
  const chosen = links ? CHOSEN : '';
  const condition = `workspace_id = {workspace:UUID} ${populationSql(counted)} ${own.sql} ${deleted} ${chosen}`;
  const withVisitors = counted.metrics.includes('visitors');
  /** Adds up rows by key: `found` clicks, and `state` of visitors. */
  const merged = (rows: string, { whole, groupBy } = ofRows) => `
    SELECT ${whole} AS whole, ${keys.names.map((name) => `${name}, `).join('')} sum(found) AS c,
      least(${withVisitors ? 'uniqCombined64Merge(17)(state)' : 'toUInt64(0)'}, sum(found)) AS v,
      0. AS l, 0. AS o, toInt64(0) AS r
    FROM ${rows} ${groupBy}`;
  if (counting.kind !== 'rolled up') {
    const shape = counting.kind === 'estimated' ? clicksShape(counted) : null;
    const rows = { withWhole, ...(only && { only }) };
    const cached =
      counting.kind === 'estimated' &&
      shape &&
      cachedKeys(client, counted.window.workspaceId, counting.cover, shape, rows);
    if (cached) {
      const byRow = { whole: 'whole', groupBy: `GROUP BY ${['whole', ...keys.names].join(', ')}` };
      return { sql: merged(cached.sql, byRow), params: { ...params, ...cached.params } };
    }
    const distinct = counting.kind === 'exact' ? 'uniqExact' : 'uniqCombined64(17)';
    const visitors = withVisitors ? `least(${distinct}(visitor_id), ${CLICKS})` : 'toUInt64(0)';
    return {
      sql: `SELECT ${ofRows.whole} AS whole, ${keys.selected} ${CLICKS} AS c, ${visitors} AS v, 0. AS l, 0. AS o, toInt64(0) AS r
        FROM ${from('clicks', `${condition} AND ${IN_SPAN}`, keys)} ${ofRows.groupBy}`,
      params,
    };
  }
  const rest = inSpans(counting.cover.rest);
  const [state, rolledState] = withVisitors
    ? ['uniqCombined64State(17)(visitor_id)', 'visitors']
    : ['0', '0'];
  const ofCover = coverParams(counted.window.workspaceId, counting.cover);
  const rolledUp = rolledUpRows(client, counted, ofCover, `${own.sql} ${deleted}`.trim(), links);
  const byKeys = keys.names.length === 0 ? '' : `GROUP BY ${keys.names.join(', ')}`;
  return {
    sql: merged(`(
        SELECT ${keys.selected} clicks AS found, ${rolledState} AS state FROM ${rolledUp} AS rolled ${keys.joins}
        UNION ALL
        SELECT ${keys.selected} ${CLICKS} AS found, ${state} AS state
        FROM ${from('clicks', `${condition} AND ${rest.sql}`, keys)} ${byKeys})`),
    params: { ...params, ...rest.params, ...ofCover },
  };
}

/** Returns the shape of a query's clicks; null: they are not cached. */
const clicksShape = (counted: Counted) => shapeOf(counted, populationSql(counted));

/** How many rows are cached of the clicks of a query; 0: they are not cached. */
export function cachedRows(client: ClickHouseClient, counted: Counted, counting: Counting): number {
  if (counting.kind !== 'estimated') return 0;
  const shape = clicksShape(counted);
  return shape ? rowsCached(client, counted.window.workspaceId, counting.cover, shape) : 0;
}

/**
 * Returns the shape of a query; null where its figures change by more than its clicks and shares, or are not the same
 * for a whole day: with keys of links in PostgreSQL or of time, or with deleted links.
 */
function shapeOf({ window, keys, conditions }: Counted, population: string): Shape | null {
  if (window.hasDeleted || keys.some(({ kind }) => kind !== 'text')) return null;
  const own = conditionsSql(conditions);
  const columns = keys.flatMap((key) => (key.kind === 'text' ? [textColumn(key.dimension)] : []));
  const condition = `${population} ${own.sql}`;
  const values = JSON.stringify(own.params, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
  return {
    name: nameOf([`${columns};${condition};${values}`]),
    keys: columns,
    condition,
    params: own.params,
  };
}

/** Returns the rows of a cover as a subquery, merged or cached as far as the query's keys allow. */
function rolledUpRows(
  client: ClickHouseClient,
  { keys }: Counted,
  ofCover: CoverParams,
  condition: string,
  links: readonly string[] | undefined,
): string {
  if (links) return `(SELECT * FROM ${cachedLinks(client, ofCover, links)} WHERE true ${condition})`;
  if (condition === '' && keys.every(({ kind }) => kind === 'bucket')) return WORKSPACE_ROLLED_UP;
  if (condition === '' && keys.every(isChannel)) return cachedChannels(client, ofCover);
  return `(SELECT toDateTime64(start, 9, 'UTC') AS ts, link_id, channel, clicks, visitors FROM clicks_rolled_up
    WHERE workspace_id = {workspace:UUID} AND generation IN {generations:Array(UInt64)} ${condition})`;
}

const isChannel = (of: Key | Condition) => of.kind === 'text' && of.dimension === 'channel';

/** Returns the leads, orders and revenue of a query by its keys, summed from the shares of links. */
export function sharesSource(
  client: ClickHouseClient,
  counted: Counted,
  counting: Counting,
  { withWhole, links }: Options,
): Sql {
  const keys = keysSql(counted.keys, counted.starts, counted.timeZone);
  const own = conditionsSql(counted.conditions);
  const deleted = counted.window.hasDeleted ? NOT_DELETED : '';
  const { whole, groupBy } = grouping(keys, withWhole);
  const params = {
    ...baseParams(counted),
    ...keys.params,
    ...own.params,
    ...(links && { chosen: links }),
  };
  const figures = `toUInt64(0) AS c, toUInt64(0) AS v, sum(lead) AS l, sum(share) AS o, sum(amount_minor) AS r`;
  const family = familySql(counted);
  const days = counting.kind === 'exact' || counted.window.hasDeleted ? null : wholeDays(counted.window.span);
  const { workspaceId } = counted.window;
  const isByChannel =
    counted.conditions.every(isChannel) &&
    counted.keys.every((key) => isChannel(key) || (key.kind === 'bucket' && readsCachedDays(counted)));
  const shape = days && !isByChannel && !links ? shapeOf(counted, '') : null;
  const cached = days && shape && cachedSharesByKeys(client, workspaceId, days, shape);
  if (cached) {
    return {
      sql: `SELECT ${whole} AS whole, ${keys.names.map((name) => `${name}, `).join('')} ${figures}
        FROM ${cached.sql} WHERE true ${family} ${groupBy}`,
      params: { ...params, ...days, ...cached.params },
    };
  }
  const [table, inTable] =
    days && isByChannel
      ? [cachedShares(client, workspaceId, 'link', 'window'), 'true']
      : [COUNTED_SHARES.table, `${COUNTED_SHARES.condition} AND ${IN_SPAN}`];
  const condition = `${inTable} AND channel != '' ${family} ${own.sql} ${deleted} ${links ? CHOSEN : ''}`;
  return {
    sql: `SELECT ${whole} AS whole, ${keys.selected} ${figures} FROM ${from(table, condition, keys)} ${groupBy}`,
    params: { ...params, ...days },
  };
}

/**
 * Windows from this length on read their buckets of shares from cached days. Of 1.3 million shares a year, 365 days
 * take 84 ms of CPU instead of 226, 90 days 95 instead of 100, 30 days 66 instead of 46.
 */
const CACHED_BUCKETS_NANOS = 120n * NANOS_PER_DAY;

/** Returns whether the shares of buckets come from cached days: each whole day (UTC) must lie within one bucket. */
const readsCachedDays = ({ starts, window: { span } }: Counted) =>
  span.to - span.from >= CACHED_BUCKETS_NANOS &&
  starts.slice(1).every((start) => start % NANOS_PER_DAY === 0n);

const baseParams = ({ window }: Counted) => ({
  workspace: window.workspaceId,
  from: window.span.from,
  to: window.span.to,
});

/** Returns whether the metrics need the clicks, and which kinds of shares they need. */
export function needs({ metrics, bots, orphans }: Pick<Counted, 'metrics' | 'bots' | 'orphans'>) {
  const has = (...names: string[]) => metrics.some((metric) => names.includes(metric));
  // A credited click is a person's, on a link.
  const hasShares = bots !== 'only' && orphans !== 'only';
  return {
    clicks: has('clicks', 'visitors', 'conversion_rate', 'revenue_per_click'),
    orders: hasShares && has('conversions', 'revenue', 'conversion_rate', 'revenue_per_click'),
    leads: hasShares && has('leads'),
  };
}

function familySql(counted: Counted): string {
  const { orders, leads } = needs(counted);
  if (orders && leads) return '';
  return orders ? 'AND share > 0' : 'AND lead > 0';
}

/** Returns whether rolled-up rows have the columns of a condition. */
function isRolledUp(condition: Condition): boolean {
  if (condition.kind === 'any') return condition.of.every(isRolledUp);
  return condition.kind === 'link' || condition.kind === 'links' || isChannel(condition);
}

/** Returns whether the roll-ups can serve a query at all, in any window. */
export function canBeRolledUp({ keys, conditions, bots, orphans }: Counted): boolean {
  return (
    bots === 'exclude' &&
    orphans === 'exclude' &&
    conditions.every(isRolledUp) &&
    keys.every((key) => key.kind !== 'clock' && (key.kind !== 'text' || isChannel(key)))
  );
}

/**
 * Returns the cover of a query. With buckets, each of its periods must lie within one bucket: null when one of
 * `periods` does not.
 */
export function coverOfBuckets(
  { keys, starts, window }: Counted,
  cover: Cover,
  periods: readonly Cover['periods'][number][],
): Cover | null {
  if (!keys.some(({ kind }) => kind === 'bucket')) return cover;
  const cuts = starts.slice(1);
  const isWhole = (period: Cover['periods'][number]) => {
    const { from, to } = spanOf(period);
    return !cuts.some((cut) => cut > from && cut < to);
  };
  const fitting = coverOf(window.span, periods.filter(isWhole));
  return fitting.periods.length === 0 ? null : fitting;
}
