import { type ClickHouseClient, createClickHouse } from '../clickhouse/client.ts';
import { migrate } from '../clickhouse/migrate.ts';
import type { Condition } from '../clickhouse/queries/click-conditions.ts';
import { runQuery } from '../clickhouse/queries/run-query.ts';
import type { Span } from '../clickhouse/queries/visible-clicks.ts';
import { partsFilled } from '../clickhouse/reports/cached-parts.ts';
import { analyticsRows, type Counted, EXACT_CLICKS, type Key } from '../clickhouse/reports/index.ts';
import { rollUp } from '../clickhouse/rollups/roll-up.ts';
import { bucketStarts } from '../core/time/time-buckets.ts';
import { NANOS_PER_DAY, parseInstant } from '../core/time/timestamps.ts';
import { withClickHouse } from './clickhouse-server.ts';
import { generateClicks, WORKSPACES } from './generate-clicks.ts';
import { progress } from './harness/bench.ts';
import { readOptions } from './harness/options.ts';
import { median, number, report, spread } from './harness/report.ts';

/**
 * Measures the queries behind `POST /analytics/query` on generated clicks, each alternately with hand-written SQL for
 * the same result: rows, totals and the number of rows. The first look is that of a process that knows nothing; the
 * second one reads what is cached by then. Also the panels of a dashboard, all at once. The CPU time of ClickHouse
 * depends less on the machine's other load.
 *
 *   node bench/analytics.ts [--clicks 100000000] [--days 365] [--rounds 7] [--url http://…] [--keep]
 *
 * Uses an embedded server, or the given one with the database `hoplog_bench_analytics`, which it drops at the end.
 * `--keep` keeps the database and reuses an existing one.
 */

const DATABASE = 'hoplog_bench_analytics';
const UNTIL = '2026-11-21';
/** Midday, so that windows begin and end within a day. */
const NOW = parseInstant('2026-11-20T13:37:00Z') ?? 0n;

const options = readOptions({ clicks: 100_000_000, days: 365, url: '', keep: false, rounds: 7 });

const METRICS: Counted['metrics'] = ['clicks', 'visitors', 'leads', 'conversions', 'revenue'];
const lastDays = (days: number): Span => ({ from: NOW - BigInt(days) * NANOS_PER_DAY, to: NOW });

type Case = {
  name: string;
  counted: Omit<Counted, 'window'>;
  days: number;
  /** The key and the condition in the hand-written SQL. */
  key: string;
  condition: string;
};

const question = (
  keys: Key[],
  conditions: Condition[] = [],
  starts: bigint[] = [],
): Omit<Counted, 'window'> => ({
  metrics: METRICS,
  keys,
  starts,
  timeZone: 'UTC',
  conditions,
  bots: 'exclude',
  orphans: 'exclude',
});

const text = (dimension: Extract<Key, { kind: 'text' }>['dimension']): Key => ({ kind: 'text', dimension });
const is = (dimension: Extract<Key, { kind: 'text' }>['dimension'], values: string[]): Condition => ({
  kind: 'text',
  dimension,
  operator: 'is',
  values,
});

const startsOf = (days: number, unit: 'day' | 'month') =>
  bucketStarts(lastDays(days), unit, 'UTC', 10_000) ?? [];

const CASES: Case[] = [
  { name: 'country', days: 30, counted: question([text('country')]), key: 'country', condition: '' },
  {
    name: 'utm_campaign',
    days: 30,
    counted: question([text('utm_campaign')]),
    key: 'utm_campaign',
    condition: '',
  },
  { name: 'city (20,000)', days: 30, counted: question([text('city')]), key: 'city', condition: '' },
  { name: 'link', days: 30, counted: question([{ kind: 'link' }]), key: 'link_id', condition: '' },
  {
    name: 'time:day',
    days: 30,
    counted: question([{ kind: 'bucket' }], [], startsOf(30, 'day')),
    key: 'toStartOfDay(ts)',
    condition: '',
  },
  {
    name: 'time:month',
    days: 365,
    counted: question([{ kind: 'bucket' }], [], startsOf(365, 'month')),
    key: 'toStartOfMonth(ts)',
    condition: '',
  },
  {
    name: 'country, two filters',
    days: 30,
    counted: question([text('country')], [is('browser', ['Chrome', 'Safari']), is('utm_medium', ['social'])]),
    key: 'country',
    condition: "AND browser IN ('Chrome', 'Safari') AND utm_medium = 'social'",
  },
];

/** The panels of a dashboard that opens: they are requested at once. */
const PANELS: Omit<Counted, 'window'>[] = [
  question([{ kind: 'bucket' }], [], startsOf(30, 'day')),
  ...(['channel', 'country', 'city', 'device', 'browser', 'os', 'utm_campaign'] as const).map((dimension) =>
    question([text(dimension)]),
  ),
];

/** Returns the same result by hand-written SQL without roll-ups: clicks and shares by two concurrent queries. */
async function byHand(
  client: ClickHouseClient,
  workspace: string,
  one: Case,
  isExact: boolean,
): Promise<void> {
  const { key, condition } = one;
  const own = `workspace_id = {workspace:UUID} AND ts >= fromUnixTimestamp64Nano({from:Int64}, 'UTC')
    AND ts < fromUnixTimestamp64Nano({to:Int64}, 'UTC') ${condition}`;
  const params = { workspace, ...lastDays(one.days) };
  const distinct = isExact ? 'uniqExact' : 'uniqCombined64(17)';
  const settings = { enable_shared_storage_snapshot_in_query: 1 } as const;
  await Promise.all([
    runQuery(client, {
      sql: `SELECT ${key} AS k, count() AS clicks, ${distinct}(visitor_id) AS visitors, count() OVER () AS found
        FROM clicks WHERE ${own} AND NOT is_bot GROUP BY GROUPING SETS ((k), ()) ORDER BY clicks DESC LIMIT 101`,
      params,
      seconds: 60,
      settings,
    }),
    runQuery(client, {
      sql: `SELECT ${key} AS k, sum(lead) AS leads, sum(share) AS orders, sum(amount_minor) AS revenue
        FROM attributed_shares FINAL WHERE ${own} AND NOT replaced AND channel != ''
        GROUP BY GROUPING SETS ((k), ())`,
      params,
      seconds: 60,
      settings,
    }),
  ]);
}

async function fill(client: ClickHouseClient): Promise<void> {
  const [found] = await runQuery<{ n: string }>(client, {
    sql: 'SELECT count() AS n FROM clicks',
    params: {},
    seconds: 60,
  });
  if (found?.n !== '0') return;
  const step = 10_000_000;
  for (let first = 0; first < options.clicks; first += step) {
    const rows = Math.min(step, options.clicks - first);
    const days = (options.days * rows) / options.clicks;
    const until = new Date(Date.parse(UNTIL) - (options.days * 86_400_000 * first) / options.clicks);
    await generateClicks(client, {
      table: `${DATABASE}.clicks`,
      rows,
      days,
      until: until.toISOString().slice(0, 19).replace('T', ' '),
      first,
      population: options.clicks,
    });
    progress(`${number(first + rows)} clicks`);
  }
  // One click in fifty leads to a lead an hour later, one in a hundred to an order a day later. Each is written within
  // a minute, like a worker's rows: shares that were written a short time ago are read one by one.
  for (const [hours, modulus, measure] of [
    [1, 50, '0., 1., 0'],
    [24, 100, '1., 0., 100 + sequence % 9900'],
  ] as const) {
    await client.command({
      query: `INSERT INTO attributed_shares (workspace_id, ts, order_id, version, link_id, channel, country, city, browser,
          utm_medium, utm_campaign, share, lead, amount_minor, written)
        SELECT workspace_id, ts + INTERVAL ${hours} HOUR, concat('o', toString(sequence)), 1, link_id, channel, country, city,
          browser, utm_medium, utm_campaign, ${measure}, toDateTime(ts) + INTERVAL ${hours} HOUR + INTERVAL 1 MINUTE
        FROM clicks WHERE NOT is_bot AND sequence % ${modulus} = 0`,
      clickhouse_settings: { max_execution_time: 600, wait_end_of_query: 1 },
    });
  }
  progress('shares');
  const { made } = await rollUp(client, UNTIL);
  progress(`${made.length} periods rolled up`);
}

type Cost = { took: number; cpu: number };

/** Returns the milliseconds of some work, and of ClickHouse's CPU. */
async function costOf(client: ClickHouseClient, work: () => Promise<unknown>): Promise<Cost> {
  const before = await cpuOf(client);
  const start = performance.now();
  await work();
  const took = performance.now() - start;
  return { took, cpu: (await cpuOf(client)) - before };
}

async function cpuOf(client: ClickHouseClient): Promise<number> {
  const [row] = await runQuery<{ micros: string }>(client, {
    sql: `SELECT sum(value) AS micros FROM system.events WHERE event IN ('UserTimeMicroseconds', 'SystemTimeMicroseconds')`,
    params: {},
    seconds: 10,
  });
  return Number(row?.micros ?? 0) / 1_000;
}

async function measure(url: string): Promise<void> {
  const server = createClickHouse({ url, database: 'default', timeoutMs: 600_000 });
  const client = createClickHouse({ url, database: DATABASE, timeoutMs: 600_000 });
  try {
    if (!options.keep) await server.command({ query: `DROP DATABASE IF EXISTS ${DATABASE} SYNC` });
    await migrate(server, { database: DATABASE });
    await fill(client);
    const connect = () => createClickHouse({ url, database: DATABASE, timeoutMs: 600_000 });
    const order = [{ by: 'clicks' as const, isDescending: true }];
    const rows: string[][] = [];
    const panels: string[][] = [];
    for (const name of ['half', 'hundredth'] as const) {
      const workspaceId = WORKSPACES[name];
      const window = (days: number) => ({ workspaceId, span: lastDays(days), hasDeleted: false });
      for (const one of CASES) {
        const counted: Counted = { ...one.counted, window: window(one.days) };
        const answer = (from: ClickHouseClient) =>
          analyticsRows(from, counted, { order, limit: 100, offset: 0 });
        const { totals } = await answer(client);
        await answer(client);
        await partsFilled(client);
        const isExact = totals.clicks <= EXACT_CLICKS;
        const costs: { first: Cost; again: Cost; hand: Cost }[] = [];
        for (let round = -1; round < options.rounds; round++) {
          const stranger = connect();
          await cpuOf(stranger);
          const cost = {
            first: await costOf(client, () => answer(stranger)),
            again: await costOf(client, () => answer(client)),
            hand: await costOf(client, () => byHand(client, workspaceId, one, isExact)),
          };
          await stranger.close();
          if (round >= 0) costs.push(cost); // The first is a warm-up.
        }
        const took = (of: 'first' | 'again' | 'hand') => costs.map((cost) => cost[of].took);
        const cpu = (of: 'first' | 'again' | 'hand') => number(median(costs.map((cost) => cost[of].cpu)));
        const beside = costs.map(({ first, hand }) => first.took / hand.took);
        rows.push([
          name,
          `${one.name}, ${one.days} days`,
          number(totals.clicks),
          spread(took('first')),
          spread(took('again')),
          spread(took('hand')),
          spread(beside, 2),
          `${cpu('first')} / ${cpu('again')} / ${cpu('hand')}`,
        ]);
        progress(`${name}: ${one.name} ${rows.at(-1)?.slice(3).join(', ')}`);
      }
      panels.push([name, ...(await dashboard(connect, window(30)))]);
      progress(`${name}: dashboard ${panels.at(-1)?.join(', ')}`);
    }
    const [version] = await runQuery<{ version: string }>(client, {
      sql: 'SELECT version() AS version',
      params: {},
      seconds: 10,
    });
    report(options.results, {
      name: 'analytics',
      title: `Analytics queries on ${number(options.clicks)} clicks of a year, and SQL by hand in turns`,
      versions: [`ClickHouse ${version?.version}`],
      tables: [
        {
          header: [
            'workspace',
            'query',
            'clicks',
            'first, ms',
            'again, ms',
            'by hand, ms',
            'first by hand',
            'CPU, ms',
          ],
          rows,
        },
        {
          header: ['workspace', 'eight panels at once', 'a panel, ms', 'p50, ms', 'CPU of all, ms'],
          rows: panels.flatMap(([name = '', ...cells]) => [
            [name, 'first look', ...cells.slice(0, 3)],
            [name, 'again', ...cells.slice(3)],
          ]),
        },
      ],
      notes: [
        'Each query has clicks, visitors, leads, conversions and revenue, the first 100 rows, totals, and the number of rows.',
        'By hand reads clicks alone; a large window by link or by UTC time comes from roll-ups in the query.',
        'CPU of ClickHouse: first / again / by hand, medians.',
        'A panel: the median of each round, and the range of these; p50: of all panels of all rounds.',
      ],
    });
  } finally {
    if (!options.keep) await server.command({ query: `DROP DATABASE IF EXISTS ${DATABASE} SYNC` });
    await Promise.all([client.close(), server.close()]);
  }
}

/**
 * Opens a dashboard for the first time and again, round by round. Returns for each the median panel of a round, the
 * median of all panels, and the CPU of ClickHouse.
 */
async function dashboard(connect: () => ClickHouseClient, window: Counted['window']): Promise<string[]> {
  const looks = { first: [] as Look[], again: [] as Look[] };
  for (let round = -1; round < options.rounds; round++) {
    const client = connect();
    try {
      await cpuOf(client);
      const first = await look(client, window);
      await look(client, window);
      await partsFilled(client);
      const again = await look(client, window);
      if (round < 0) continue; // The first is a warm-up.
      looks.first.push(first);
      looks.again.push(again);
    } finally {
      await client.close();
    }
  }
  return [looks.first, looks.again].flatMap((all) => [
    spread(all.map(({ took }) => median(took))),
    number(median(all.flatMap(({ took }) => took))),
    number(median(all.map(({ cpu }) => cpu))),
  ]);
}

/** Milliseconds of each panel, and of ClickHouse's CPU for all. */
type Look = { took: number[]; cpu: number };

async function look(client: ClickHouseClient, window: Counted['window']): Promise<Look> {
  const order = [{ by: 'clicks' as const, isDescending: true }];
  const took: number[] = [];
  const { cpu } = await costOf(client, () =>
    Promise.all(
      PANELS.map(async (panel) => {
        const start = performance.now();
        await analyticsRows(client, { ...panel, window }, { order, limit: 100, offset: 0 });
        took.push(performance.now() - start);
      }),
    ),
  );
  return { took, cpu };
}

await withClickHouse(options.url === '' ? undefined : options.url, measure);
