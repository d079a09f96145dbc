import { join, resolve } from 'node:path';
import { freePort } from '../cli/embedded/free-port.ts';
import { createClickHouse } from '../clickhouse/client.ts';
import { migrate as migrateClickHouse } from '../clickhouse/migrate.ts';
import { runQuery } from '../clickhouse/queries/run-query.ts';
import { migrate } from '../sql/database/migrate.ts';
import { createPool } from '../sql/database/pool.ts';
import { createKey } from '../sql/workspaces/keys.ts';
import { addRecords, bringToNow } from './api/data.ts';
import { type ApiQuery, queriesOf } from './api/queries.ts';
import { createQueryRunner, type QueryRunner } from './api/query-runner.ts';
import { WORKSPACES } from './generate-clicks.ts';
import { benchmark } from './harness/bench.ts';
import { readOptions } from './harness/options.ts';
import { median, number, report, spread } from './harness/report.ts';
import { alternate, ofContestant } from './harness/rounds.ts';
import { quantile, ratios } from './harness/statistics.ts';
import { startClickHouse, startPostgres } from './harness/stores.ts';
import { startTier } from './harness/tier.ts';

/**
 * Measures the latency of the API at a hundred million clicks, for a workspace with half of them and one with a
 * hundredth. Compares the real API process with hand-written SQL over ClickHouse's HTTP interface.
 *
 *   node bench/api.ts [--clicks 100000000] [--rounds 5] [--requests 20] [--keep DIR] [--profile DIR]
 *
 * ClickHouse generates a year of clicks up to now, with orders and roll-ups, in the real tables. `--keep DIR` keeps the
 * data; a later run reuses it and fills the time since. Each round sends every query `--requests` times to both, which
 * take turns to be first. Both results are compared before the first round.
 */

const options = readOptions({ clicks: 100_000_000, requests: 20, keep: '', profile: '' });
const DATABASE = 'hoplog_bench_api';
/** With fewer clicks, some hours have none. */
const ENOUGH = 10_000_000;
const WORKSPACE_IDS = { half: WORKSPACES.half, hundredth: WORKSPACES.hundredth };

type Measured = { api: { p50: number; p95: number }; sql: { p50: number; p95: number } };
type Round = Map<string, Measured>;
type Subject = { name: string; query: ApiQuery; runner: QueryRunner };

await benchmark(async (bench) => {
  const dataDir = options.keep === '' ? join(bench.directory, 'data') : resolve(options.keep);
  const postgres = await startPostgres(bench, dataDir);
  const store = await startClickHouse(bench, dataDir);
  const pool = createPool(postgres.url, { statementTimeoutMs: 600_000 });
  bench.defer(() => pool.end());
  await migrate(pool);
  const server = createClickHouse({ url: store.url, database: 'default', timeoutMs: 3_600_000 });
  const client = createClickHouse({ url: store.url, database: DATABASE, timeoutMs: 3_600_000 });
  bench.defer(() => Promise.all([server.close(), client.close()]));
  await migrateClickHouse(server, { database: DATABASE });
  const newest = await bringToNow(client, DATABASE, options.clicks);
  await addRecords(client, pool);

  const port = await freePort();
  const tier = await startTier(bench, {
    script: 'api/main.ts',
    profile: options.profile,
    env: {
      DATABASE_URL: postgres.url,
      CLICKHOUSE_URL: store.url,
      CLICKHOUSE_DATABASE: DATABASE,
      DATA_DIR: join(bench.directory, 'api'),
      API_PORT: String(port),
      METRICS_PORT: '0',
    },
  });
  const subjects: Subject[] = [];
  for (const [name, workspaceId] of Object.entries(WORKSPACE_IDS)) {
    const { token } = await createKey(pool, { workspaceId, kind: 'secret', label: 'bench' });
    const apiUrl = `http://127.0.0.1:${port}/api/v1`;
    const runner = createQueryRunner({ apiUrl, key: token, clickhouseUrl: store.url, database: DATABASE });
    bench.defer(() => runner.close());
    for (const query of await queriesOf(client, workspaceId, newest)) subjects.push({ name, query, runner });
  }
  for (const subject of subjects) await compare(subject);
  const measured = await alternate(options.rounds, [
    { name: 'both', measure: (round) => measureRound(subjects, round) },
  ]);
  await tier.stop();
  const [size] = await runQuery<{ stored: string; bytes: number }>(client, {
    sql: `SELECT sumIf(rows, table = 'clicks') AS stored, sum(bytes_on_disk) / stored AS bytes FROM system.parts
          WHERE database = currentDatabase() AND table IN ('clicks', 'clicks_by_visitor') AND active`,
    params: {},
    seconds: 60,
  });
  print(subjects, ofContestant(measured, 'both'), Number(size?.stored ?? 0), size?.bytes ?? 0);
});

/** Asserts that API and SQL return the same rows. @throws Error when they differ */
async function compare({ name, query, runner }: Subject): Promise<void> {
  for (const turn of [0, 1]) {
    const [ours, theirs] = [await runner.api(query, turn), await runner.sql(query, turn)];
    if (ours.gist === '' && options.clicks >= ENOUGH)
      throw new Error(`${name}, ${query.name}: the result is empty`);
    if (ours.gist !== theirs.gist) {
      const [ownRows, sqlRows] = [ours, theirs].map(({ gist }) => gist.split(','));
      const at = ownRows?.findIndex((row, index) => row !== sqlRows?.[index]) ?? 0;
      throw new Error(
        `${name}, ${query.name}: row ${at} of ${ownRows?.length} is ${ownRows?.[at]}, by SQL ${sqlRows?.[at]} of ${sqlRows?.length}`,
      );
    }
  }
}

async function measureRound(subjects: readonly Subject[], round: number): Promise<Round> {
  const measured: Round = new Map();
  for (const subject of subjects) {
    const { query, runner } = subject;
    const [ours, theirs]: [number[], number[]] = [[], []];
    for (let turn = 0; turn < options.requests; turn++) {
      const number = (round + 1) * options.requests + turn;
      const queryOurs = async () => ours.push((await runner.api(query, number)).milliseconds);
      const queryTheirs = async () => theirs.push((await runner.sql(query, number)).milliseconds);
      // The first query reads from disk, the second from memory.
      for (const ask of turn % 2 === 0 ? [queryOurs, queryTheirs] : [queryTheirs, queryOurs]) await ask();
    }
    measured.set(keyOf(subject), { api: quantiles(ours), sql: quantiles(theirs) });
  }
  return measured;
}

function keyOf({ name, query }: Subject): string {
  return `${name}/${query.name}`;
}

function quantiles(times: number[]): { p50: number; p95: number } {
  const sorted = times.toSorted((a, b) => a - b);
  return { p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) };
}

function print(subjects: readonly Subject[], rounds: readonly Round[], clicks: number, bytes: number): void {
  const of = (subject: Subject, side: 'api' | 'sql', key: 'p50' | 'p95') =>
    rounds.map((round) => round.get(keyOf(subject))?.[side][key] ?? Number.NaN);
  const overhead = (subject: Subject) => ratios(of(subject, 'api', 'p50'), of(subject, 'sql', 'p50'));
  const most = (kind: ApiQuery['kind']) =>
    Math.max(
      ...subjects.filter(({ query }) => query.kind === kind).map((one) => median(of(one, 'api', 'p50'))),
    );
  report(options.results, {
    name: 'api',
    title: `The API over HTTP at ${number(clicks)} clicks (${number(bytes, 1)} bytes each), beside SQL over ClickHouse's HTTP`,
    versions: ['milliseconds: median of the rounds (range)'],
    tables: [
      {
        header: [
          'workspace',
          'query',
          'API p50',
          'API p95',
          'SQL p50',
          'SQL p95',
          'API p50 / SQL p50',
          'p50 wanted',
        ],
        rows: subjects.map((subject) => [
          subject.name,
          subject.query.name,
          spread(of(subject, 'api', 'p50'), 1),
          spread(of(subject, 'api', 'p95'), 1),
          spread(of(subject, 'sql', 'p50'), 1),
          spread(of(subject, 'sql', 'p95'), 1),
          spread(overhead(subject), 2),
          subject.query.kind === 'page' ? '25' : '60',
        ]),
      },
    ],
    notes: [
      'Wanted: at most 1.25 times the SQL. `half` and `hundredth`: the share of all clicks that the workspace has.',
    ],
    figures: {
      api_clicks: clicks,
      api_page_p50_ms: most('page'),
      api_report_p50_ms: most('report'),
      api_overhead: Math.max(...subjects.map((subject) => median(overhead(subject)))),
      clickhouse_bytes_per_click_merged: bytes,
    },
  });
}
