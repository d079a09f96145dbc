import type { Row } from './queries.ts';

/**
 * Hand-written SQL for the results of the API, over the same tables. It limits the age of a page like the API, and
 * reads roll-ups where the API does.
 */

/** Milliseconds since the epoch, half-open. */
export type Window = { from: number; to: number };
export type ReportOf = { workspace: string; window: Window; estimated: boolean };

const DAY_MS = 86_400_000;
const COLUMNS = 'ts, link_id, visitor_id, channel, country, city, device, browser, os, referer, is_bot';

const nanos = (instant: bigint) => `fromUnixTimestamp64Nano(toInt64(${instant}), 'UTC')`;
const millis = (instant: number) => `fromUnixTimestamp64Milli(toInt64(${instant}), 'UTC')`;
const within = ({ from, to }: Window) => `ts >= ${millis(from)} AND ts < ${millis(to)}`;
const list = (ids: readonly string[]) => ids.map((id) => `'${id}'`).join(', ');

export function clicksSql(given: {
  workspace: string;
  since: bigint;
  before?: bigint;
  links?: readonly string[];
}): string {
  const { workspace, since, before, links } = given;
  return `SELECT ${COLUMNS} FROM clicks
    WHERE workspace_id = '${workspace}' AND NOT is_bot AND ts >= ${nanos(since)}
      ${before === undefined ? '' : `AND ts < ${nanos(before)}`}
      ${links === undefined ? '' : `AND link_id IN (${list(links)})`}
    ORDER BY ts DESC LIMIT 101`;
}

export function channelsSql({ workspace, window, estimated }: ReportOf): string {
  return `SELECT channel, sum(n) AS clicks, sum(v) AS visitors, sum(orders) AS conversions, sum(minor) AS revenue FROM (
      SELECT channel, n, v, 0. AS orders, 0 AS minor FROM (${counted('channel', { workspace, window, estimated })})
      UNION ALL
      SELECT channel, 0, 0, sum(share), sum(amount_minor) FROM attributed_shares FINAL
      WHERE workspace_id = '${workspace}' AND NOT replaced AND channel != '' AND ${within(window)} GROUP BY channel)
    GROUP BY channel ORDER BY revenue DESC, clicks DESC, channel`;
}

/** Counts the visitors of the returned links only, in a second query. */
export function linksSql(report: ReportOf, limit: number): ((rows: Row[]) => string)[][] {
  const { workspace, window, estimated } = report;
  const best = `SELECT link_id, sum(n) AS clicks, sum(v) AS visitors, sum(orders) AS conversions, sum(minor) AS revenue FROM (
      SELECT link_id, n, v, 0. AS orders, 0 AS minor FROM (${counted('link_id', report, estimated ? 'clicks' : 'all')})
      UNION ALL
      SELECT link_id, 0, 0, sum(share), sum(amount_minor) FROM attributed_shares FINAL
      WHERE workspace_id = '${workspace}' AND NOT replaced AND channel != '' AND ${within(window)} GROUP BY link_id)
    GROUP BY link_id ORDER BY revenue DESC, clicks DESC, toString(link_id) DESC LIMIT ${limit}`;
  if (!estimated) return [[() => best]];
  const visitors = (rows: Row[]) =>
    counted('link_id', report, 'all', `AND link_id IN (${list(rows.map(({ link_id }) => String(link_id)))})`);
  return [[() => best], [visitors]];
}

export function ltvSql(workspace: string): string {
  return `SELECT first_channel AS origin, sum(amount_minor) AS revenue FROM attributed_shares FINAL
    WHERE workspace_id = '${workspace}' AND NOT replaced AND first_channel != '' GROUP BY first_channel`;
}

export function journeySql(workspace: string, visitor: string): string {
  const own = `workspace_id = '${workspace}' AND visitor_id = '${visitor}'`;
  return `SELECT * FROM (
      SELECT 'click' AS type, ts, channel, link_id, '' AS email, 0 AS amount FROM clicks WHERE ${own}
      UNION ALL SELECT 'identify', ts, '', toUUID('00000000-0000-0000-0000-000000000000'), email, 0
        FROM identifies FINAL WHERE ${own}
      UNION ALL SELECT 'order', ts, '', toUUID('00000000-0000-0000-0000-000000000000'), '', amount_minor
        FROM orders FINAL WHERE ${own})
    ORDER BY ts DESC, type DESC LIMIT 10000`;
}

/** Returns SQL for clicks and visitors by key, from clicks, or from roll-ups and the edges of the window. */
function counted(
  key: 'channel' | 'link_id',
  { workspace, window, estimated }: ReportOf,
  figures: 'all' | 'clicks' = 'all',
  condition = '',
): string {
  const own = `workspace_id = '${workspace}'`;
  if (!estimated) {
    return `SELECT ${key}, count() AS n, uniqExact(visitor_id) AS v FROM clicks
      WHERE ${own} AND NOT is_bot AND ${within(window)} ${condition} GROUP BY ${key}`;
  }
  const firstDay = Math.ceil(window.from / DAY_MS) * DAY_MS;
  const lastDay = Math.floor(window.to / DAY_MS) * DAY_MS;
  const month = (at: number, next: number) => {
    const date = new Date(at);
    return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + next, 1);
  };
  const firstMonth = month(firstDay - 1, 1);
  const lastMonth = month(lastDay, 0);
  const day = (at: number) => `toDate('${new Date(at).toISOString().slice(0, 10)}')`;
  const months = `start >= ${day(firstMonth)} AND start < ${day(lastMonth)}`;
  const [kept, fresh, merged] =
    figures === 'all'
      ? ['visitors', 'uniqCombined64State(17)(visitor_id)', 'uniqCombined64Merge(17)(state)']
      : ['0', '0', '0'];
  return `SELECT ${key}, sum(found) AS n, least(${merged}, n) AS v FROM (
      SELECT ${key}, clicks AS found, ${kept} AS state FROM clicks_rolled_up
      WHERE ${own} ${condition} AND generation IN (
        SELECT generation FROM rolled_up_periods FINAL
        WHERE (period = 'month' AND ${months})
          OR (period = 'day' AND start >= ${day(firstDay)} AND start < ${day(lastDay)} AND NOT (${months})))
      UNION ALL
      SELECT ${key}, count(), ${fresh} FROM clicks
      WHERE ${own} AND NOT is_bot ${condition} AND (
        (${within({ from: window.from, to: firstDay })}) OR (${within({ from: lastDay, to: window.to })}))
      GROUP BY ${key})
    GROUP BY ${key}`;
}
