import { parseArgs } from 'node:util';
import { type ClickHouseClient, createClickHouse } from '../clickhouse/client.ts';
import { migrate } from '../clickhouse/migrate.ts';
import { countEvents } from '../clickhouse/queries/events-used.ts';
import { exportClicks } from '../clickhouse/queries/export-clicks.ts';
import { type ClickFilter, newestClicks } from '../clickhouse/queries/newest-clicks.ts';
import { runQuery } from '../clickhouse/queries/run-query.ts';
import { IN_SPAN, type Span } from '../clickhouse/queries/visible-clicks.ts';
import { visitorJourney } from '../clickhouse/queries/visitor-journey.ts';
import { channelsReport, linksReport } from '../clickhouse/reports/index.ts';
import { rollUp } from '../clickhouse/rollups/roll-up.ts';
import { NANOS_PER_DAY, parseInstant } from '../core/time/timestamps.ts';
import { withClickHouse } from './clickhouse-server.ts';
import { generateClicks, WORKSPACES } from './generate-clicks.ts';

/**
 * Measures every query of the API on generated clicks, reports with and without roll-ups, and the error of estimated
 * visitors. Prints the best of the runs, because a shared machine only adds time.
 *
 *   node bench/queries.ts [--url http://…] [--rows 40000000] [--days 365] [--runs 5]
 *
 * Uses an embedded server, or the given one with the database `hoplog_bench_queries`, which it drops at the end.
 * `--keep` keeps the database and reuses an existing one.
 */

const DATABASE = 'hoplog_bench_queries';
const UNTIL = '2026-11-21';
/** Midday, so that reports read the partial days of a window from clicks. */
const NOW = '2026-11-20T13:37:00Z';

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    rows: { type: 'string', default: '40000000' },
    days: { type: 'string', default: '365' },
    runs: { type: 'string', default: '5' },
    keep: { type: 'boolean', default: false },
  },
});
const runs = Number(values.runs);
const now = parseInstant(NOW) ?? 0n;

async function best(work: () => Promise<unknown>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run <= runs; run++) {
    const start = performance.now();
    await work();
    if (run > 0) least = Math.min(least, performance.now() - start); // The first run is a warm-up.
  }
  return Math.round(least);
}

function print(cells: (string | number)[]): void {
  process.stdout.write(`| ${cells.join(' | ')} |\n`);
}

function lastDays(days: number): Span {
  return { from: now - BigInt(days) * NANOS_PER_DAY, to: now };
}

const everything = (workspaceId: string): ClickFilter => ({
  workspaceId,
  since: null,
  before: now,
  linkIds: null,
  bots: false,
  conditions: [],
  orphans: 'exclude',
  hasDeletedLinks: false,
  imported: true,
});

async function streamTimes(client: ClickHouseClient): Promise<void> {
  const workspaceId = WORKSPACES.half;
  const [sample] = await runQuery<{ links: string[]; cold: string; visitor: string }>(client, {
    sql: `SELECT groupArray(500)(link_id) AS links, argMin(link_id, n) AS cold,
            (SELECT any(visitor_id) FROM clicks WHERE workspace_id = {half:UUID} AND sequence % 1000 = 7) AS visitor
          FROM (SELECT link_id, count() AS n FROM clicks WHERE workspace_id = {half:UUID} GROUP BY link_id
            HAVING n < 200)`,
    params: WORKSPACES,
    seconds: 60,
  });
  if (!sample) throw new Error('no clicks were generated');
  const all = everything(workspaceId);
  const pages: [string, ClickFilter, number][] = [
    ['newest 100', all, 100],
    ['newest 500', all, 500],
    ['newest 100 of the small workspace', everything(WORKSPACES.small), 100],
    ['500 links since an hour', { ...all, since: now - NANOS_PER_DAY / 24n, linkIds: sample.links }, 100],
    ['newest 100 of a cold link', { ...all, linkIds: [sample.cold] }, 100],
  ];
  for (const [name, filter, limit] of pages) {
    print([name, await best(() => newestClicks(client, filter, limit))]);
  }
  const { visitor } = sample;
  const journey = () =>
    visitorJourney(client, { workspaceId, visitorId: visitor, hasDeletedLinks: false }, 10_000);
  print(['journey', await best(journey)]);
  const month = new Date(Date.parse(NOW) - 30 * 86_400_000);
  print(['events of a month', await best(() => countEvents(client, workspaceId, month, new Date(NOW)))]);
  const newest = { ...all, ...(await million(client)) };
  print(['export of a million clicks, CSV', await best(() => exported(client, newest))]);
}

/** Time span with about a million clicks of the workspace with half of all. */
async function million(client: ClickHouseClient): Promise<{ since: bigint }> {
  const [row] = await runQuery<{ since: string }>(client, {
    sql: `SELECT toUnixTimestamp64Nano(ts) AS since FROM clicks WHERE workspace_id = {half:UUID} AND NOT is_bot
          AND ts < fromUnixTimestamp64Nano({now:Int64}, 'UTC') ORDER BY ts DESC LIMIT 1 OFFSET 1000000`,
    params: { ...WORKSPACES, now },
    seconds: 60,
  });
  return { since: BigInt(row?.since ?? 0) };
}

async function exported(client: ClickHouseClient, filter: ClickFilter): Promise<void> {
  const stream = await exportClicks(client, filter, 'csv', new AbortController().signal);
  for await (const _ of stream);
}

/** Measures every report with and without roll-ups, alternating, so that other load slows both. */
async function printReportTimes(client: ClickHouseClient): Promise<void> {
  await client.command({ query: 'CREATE TABLE IF NOT EXISTS nothing_rolled_up AS rolled_up_periods' });
  const toggle = () => client.command({ query: 'EXCHANGE TABLES rolled_up_periods AND nothing_rolled_up' });
  print(['workspace', 'days', 'report', 'click by click, ms', 'with roll-ups, ms']);
  print(['---', '--:', '---', '--:', '--:']);
  for (const [name, workspace] of Object.entries(WORKSPACES)) {
    for (const days of [1, 30, 90, 365]) {
      const window = { workspaceId: workspace, span: lastDays(days), hasDeleted: false };
      const reports: [string, () => Promise<unknown>][] = [
        ['channels', () => channelsReport(client, window)],
        ['links, 100', () => linksReport(client, window, { kind: 'top', limit: 100, offset: 0 })],
      ];
      for (const [report, ask] of reports) {
        const least = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
        for (let run = 0; run <= 2 * runs + 1; run++) {
          await toggle(); // Run 0 has no roll-ups.
          const start = performance.now();
          await ask();
          const taken = Math.round(performance.now() - start);
          if (run > 1) least[run % 2] = Math.min(least[run % 2] ?? taken, taken);
        }
        print([name, days, report, ...least]);
      }
    }
  }
}

/** Returns the worst and mean error of the estimates of a year, in percent. */
async function errors(client: ClickHouseClient): Promise<{ rows: number; worst: number; mean: number }> {
  const workspaceId = WORKSPACES.half;
  const span = lastDays(365);
  const window = { workspaceId, span, hasDeleted: false };
  const estimates = await linksReport(client, window, { kind: 'top', limit: 500, offset: 0 });
  const truths = await runQuery<{ link_id: string; visitors: string }>(client, {
    sql: `SELECT link_id, uniqExact(visitor_id) AS visitors FROM clicks
          WHERE workspace_id = {workspace:UUID} AND ${IN_SPAN} AND NOT is_bot AND link_id IN {ids:Array(UUID)}
          GROUP BY link_id`,
    params: { workspace: workspaceId, ...span, ids: estimates.map((row) => row.linkId) },
    seconds: 300,
  });
  const truthOf = new Map(truths.map((row) => [row.link_id, Number(row.visitors)]));
  const off = estimates.map((row) => {
    const truth = truthOf.get(row.linkId) ?? 0;
    return (100 * Math.abs(row.visitors - truth)) / truth;
  });
  const mean = off.reduce((sum, one) => sum + one, 0) / off.length;
  return { rows: off.length, worst: Math.max(...off), mean };
}

async function measure(url: string): Promise<void> {
  const server = createClickHouse({ url, database: 'default', timeoutMs: 120_000 });
  const client = createClickHouse({ url, database: DATABASE, timeoutMs: 120_000 });
  try {
    if (!values.keep) await server.command({ query: `DROP DATABASE IF EXISTS ${DATABASE} SYNC` });
    await migrate(server, { database: DATABASE });
    const [found] = await runQuery<{ n: string }>(client, {
      sql: 'SELECT count() AS n FROM clicks',
      params: {},
      seconds: 60,
    });
    if (found?.n === '0') {
      await generateClicks(client, {
        table: `${DATABASE}.clicks`,
        rows: Number(values.rows),
        days: Number(values.days),
        until: UNTIL,
      });
    }
    for (const table of ['clicks_rolled_up', 'rolled_up_periods']) {
      await client.command({ query: `TRUNCATE TABLE ${table}` });
    }
    print(['query', 'ms']);
    print(['---', '--:']);
    await streamTimes(client);
    const start = performance.now();
    const { made } = await rollUp(client, UNTIL);
    process.stdout.write(
      `\n${made.length} periods rolled up in ${Math.round(performance.now() - start)} ms\n\n`,
    );
    await printReportTimes(client);
    const { rows, worst, mean } = await errors(client);
    process.stdout.write(
      `\nvisitors of ${rows} links of a year: off by ${mean.toFixed(2)} % on average, ${worst.toFixed(2)} % at worst\n`,
    );
  } finally {
    if (!values.keep) await server.command({ query: `DROP DATABASE IF EXISTS ${DATABASE} SYNC` });
    await Promise.all([client.close(), server.close()]);
  }
}

await withClickHouse(values.url, measure);
