import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { runQuery } from '../../clickhouse/queries/run-query.ts';
import { channelsSql, clicksSql, journeySql, linksSql, ltvSql, type Window } from './hand-written.ts';

/** A query of the API, and the hand-written SQL with the same result. */
export type ApiQuery = {
  name: string;
  kind: 'page' | 'report';
  /** Path below `/api/v1`; `turn` counts the requests and varies the parameters. */
  path(turn: number): string;
  /** Statements in order, each with the rows of the first. Those of an inner list run concurrently. */
  sql(turn: number): ((rows: Row[]) => string)[][];
  /** The part of the result that both must agree on. */
  gist: { api(body: Body): string; sql(rows: Row[]): string };
};

export type Row = Record<string, string | number | boolean>;
export type Body = {
  clicks?: { visitor_id: string }[];
  channels?: { channel: string; clicks: number }[];
  links?: { link_id: string; clicks: number }[];
  journey?: { type: string }[];
};

const HOUR_NANOS = 3_600_000_000_000n;
const DAY_MS = 86_400_000;
const SAMPLES = 50;
const PAGE = 100;
/** Clicks in a window above which the API reads roll-ups and estimates visitors. */
const ESTIMATED_FROM = 1_000_000;

const SAME_CLICKS: ApiQuery['gist'] = {
  api: ({ clicks = [] }) => clicks.map(({ visitor_id }) => visitor_id).join(),
  sql: (rows) =>
    rows
      .slice(0, PAGE)
      .map(({ visitor_id }) => visitor_id)
      .join(),
};
const SAME_CHANNELS: ApiQuery['gist'] = {
  api: ({ channels = [] }) => channels.map(({ channel, clicks }) => `${channel} ${clicks}`).join(),
  sql: (rows) =>
    rows
      .filter(({ channel }) => channel !== undefined)
      .map(({ channel, clicks }) => `${channel} ${clicks}`)
      .join(),
};
const SAME_LINKS: ApiQuery['gist'] = {
  api: ({ links = [] }) => links.map(({ link_id, clicks }) => `${link_id} ${clicks}`).join(),
  sql: (rows) => rows.map(({ link_id, clicks }) => `${link_id} ${clicks}`).join(),
};

/** Returns the queries of a workspace. @param newest time of its newest click, milliseconds since the epoch */
export async function queriesOf(
  client: ClickHouseClient,
  workspace: string,
  newest: number,
): Promise<ApiQuery[]> {
  const { visitors, links } = await samples(client, workspace);
  const pick = <T>(of: readonly T[], turn: number) => of[turn % of.length] as T;
  const hourAgo = BigInt(newest) * 1_000_000n - HOUR_NANOS;
  const cursor = (turn: number) =>
    BigInt(newest - (20 + (turn % SAMPLES) * 6) * DAY_MS) * 1_000_000n + 123_456_007n;
  const iso = (nanos: bigint) =>
    `${new Date(Number(nanos / 1_000_000n)).toISOString().slice(0, 20)}${String(nanos % 1_000_000_000n).padStart(9, '0')}Z`;
  // A fixed window for both: the API's `days` ends at the time of each request.
  const window = (days: number): Window => ({ from: newest - days * DAY_MS, to: newest });
  const span = (days: number) =>
    `from=${new Date(newest - days * DAY_MS).toISOString()}&to=${new Date(newest).toISOString()}`;
  const [month, year] = [
    await clicksIn(client, workspace, window(30)),
    await clicksIn(client, workspace, window(365)),
  ];
  const report = (days: 30 | 365) => ({
    workspace,
    window: window(days),
    estimated: (days === 30 ? month : year) > ESTIMATED_FROM,
  });
  // Time range of a page in hand-written SQL: a day, longer in a small workspace.
  const back = BigInt(Math.max(1, Math.ceil((3 * PAGE * 30) / month))) * 24n * HOUR_NANOS;
  const one = (sql: string) => [[() => sql]];

  return [
    {
      name: 'newest page',
      kind: 'page',
      path: () => `/clicks?limit=${PAGE}`,
      sql: () => one(clicksSql({ workspace, since: BigInt(newest) * 1_000_000n - back })),
      gist: SAME_CLICKS,
    },
    {
      name: 'page by before',
      kind: 'page',
      path: (turn) => `/clicks?limit=${PAGE}&before=${iso(cursor(turn))}`,
      sql: (turn) => one(clicksSql({ workspace, since: cursor(turn) - back, before: cursor(turn) })),
      gist: SAME_CLICKS,
    },
    {
      name: `${links.length} link_ids since an hour`,
      kind: 'page',
      path: () => `/clicks?limit=${PAGE}&since=${iso(hourAgo)}&link_ids=${links.join(',')}`,
      sql: () => one(clicksSql({ workspace, since: hourAgo, links })),
      gist: SAME_CLICKS,
    },
    ...([30, 365] as const).map(
      (days): ApiQuery => ({
        name: `channels, ${days} days`,
        kind: 'report',
        path: () => `/channels?${span(days)}`,
        sql: () => one(channelsSql(report(days))),
        gist: SAME_CHANNELS,
      }),
    ),
    {
      name: 'links, 30 days',
      kind: 'report',
      path: () => `/links?${span(30)}&limit=${PAGE}`,
      sql: () => linksSql(report(30), PAGE),
      gist: SAME_LINKS,
    },
    {
      name: 'channels, 30 days, ltv',
      kind: 'report',
      path: () => `/channels?${span(30)}&ltv=1`,
      sql: () => [[() => channelsSql(report(30)), () => ltvSql(workspace)]],
      gist: SAME_CHANNELS,
    },
    {
      name: 'journey',
      kind: 'page',
      path: (turn) => `/visitors/${pick(visitors, turn)}/journey`,
      sql: (turn) => one(journeySql(workspace, pick(visitors, turn))),
      gist: {
        api: ({ journey = [] }) => journey.map(({ type }) => type).join(),
        sql: (rows) =>
          rows
            .map(({ type }) => type)
            .reverse()
            .join(),
      },
    },
  ];
}

async function samples(client: ClickHouseClient, workspace: string) {
  const [row] = await runQuery<{ visitors: string[]; links: string[] }>(client, {
    sql: `SELECT
        (SELECT groupUniqArray(${SAMPLES})(visitor_id) FROM clicks
          WHERE workspace_id = {workspace:UUID} AND cityHash64(sequence, 5) % 997 = 3) AS visitors,
        (SELECT groupUniqArray(500)(link_id) FROM clicks
          WHERE workspace_id = {workspace:UUID} AND cityHash64(link_id) % 3 < 2) AS links`,
    params: { workspace },
    seconds: 600,
  });
  if (!row || row.visitors.length === 0 || row.links.length === 0)
    throw new Error(`${workspace} has no clicks`);
  return row;
}

async function clicksIn(client: ClickHouseClient, workspace: string, { from, to }: Window): Promise<number> {
  const [row] = await runQuery<{ n: string }>(client, {
    sql: `SELECT count() AS n FROM clicks WHERE workspace_id = {workspace:UUID} AND NOT is_bot
          AND ts >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND ts < fromUnixTimestamp64Milli({to:Int64}, 'UTC')`,
    params: { workspace, from, to },
    seconds: 600,
  });
  return Number(row?.n ?? 0);
}
