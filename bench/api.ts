import { join, resolve } from 'node:path';
import { freePort } from '../cli/embedded/free-port.ts';
import { createClickHouse } from '../clickhouse/client.ts';
import { migrate as migrateClickHouse } from '../clickhouse/migrate.ts';
import { runQuery } from '../clickhouse/queries/run-query.ts';
import { migrate } from '../sql/database/migrate.ts';
import { createPool } from '../sql/database/pool.ts';
import { createKey } from '../sql/workspaces/keys.ts';
import { type Asker, createAsker } from './api/ask-both.ts';
import { addRecords, bringToNow } from './api/data.ts';
import { type Question, questionsOf } from './api/questions.ts';
import { WORKSPACES } from './generate-clicks.ts';
import { benchmark } from './harness/bench.ts';
import { readOptions } from './harness/options.ts';
import { median, number, report, spread } from './harness/report.ts';
import { alternate, ofContestant } from './harness/rounds.ts';
import { quantile, ratios } from './harness/statistics.ts';
import { startClickHouse, startPostgres } from './harness/stores.ts';
import { startTier } from './harness/tier.ts';

/**
 * How fast the API answers at a hundred million clicks, for a workspace that has half of them and for one that has a
 * hundredth, over HTTP from the real API process; beside the same answer by SQL written by hand, over ClickHouse's HTTP.
 *
 *   node bench/api.ts [--clicks 100000000] [--rounds 5] [--requests 20] [--keep DIR] [--profile DIR]
 *
 * The clicks, a year of them up to now, are made inside ClickHouse, with orders and roll-ups, through the real tables.
 * `--keep DIR` leaves them there, and a run that finds some uses them and fills the time since. In each round every
 * question is asked `--requests` times of each, in turns, and each is asked first every other time; both answers are compared before
 * the first round.
 */

const options = readOptions({ clicks: 100_000_000, requests: 20, keep: '', profile: '' });
const DATABASE = 'hoplog_bench_api';
/** With fewer clicks some hours have none. */
const ENOUGH = 10_000_000;
const ASKED = { half: WORKSPACES.half, hundredth: WORKSPACES.hundredth };

type Measured = { api: { p50: number; p95: number }; sql: { p50: number; p95: number } };
type Round = Map<string, Measured>;
type Subject = { name: string; question: Question; asker: Asker };

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
  await migrateClickHouse(server, { database: DATABASE, cluster: '' });
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
  for (const [name, workspaceId] of Object.entries(ASKED)) {
    const { token } = await createKey(pool, { workspaceId, kind: 'secret', label: 'bench' });
    const apiUrl = `http://127.0.0.1:${port}/api/v1`;
    const asker = createAsker({ apiUrl, key: token, clickhouseUrl: store.url, database: DATABASE });
    bench.defer(() => asker.close());
    for (const question of await questionsOf(client, workspaceId, newest))
      subjects.push({ name, question, asker });
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

/** @throws Error when the two answers differ: then they are not worth comparing in time */
async function compare({ name, question, asker }: Subject): Promise<void> {
  for (const turn of [0, 1]) {
    const [ours, theirs] = [await asker.api(question, turn), await asker.sql(question, turn)];
    if (ours.gist === '' && options.clicks >= ENOUGH)
      throw new Error(`${name}, ${question.name}: an empty answer`);
    if (ours.gist !== theirs.gist) {
      const [ownRows, sqlRows] = [ours, theirs].map(({ gist }) => gist.split(','));
      const at = ownRows?.findIndex((row, index) => row !== sqlRows?.[index]) ?? 0;
      throw new Error(
        `${name}, ${question.name}: row ${at} of ${ownRows?.length} is ${ownRows?.[at]}, by SQL ${sqlRows?.[at]} of ${sqlRows?.length}`,
      );
    }
  }
}

async function measureRound(subjects: readonly Subject[], round: number): Promise<Round> {
  const measured: Round = new Map();
  for (const subject of subjects) {
    const { question, asker } = subject;
    const [ours, theirs]: [number[], number[]] = [[], []];
    for (let turn = 0; turn < options.requests; turn++) {
      const number = (round + 1) * options.requests + turn;
      const askOurs = async () => ours.push((await asker.api(question, number)).milliseconds);
      const askTheirs = async () => theirs.push((await asker.sql(question, number)).milliseconds);
      // Who asks first finds what the disk has; the second finds it in memory.
      for (const ask of turn % 2 === 0 ? [askOurs, askTheirs] : [askTheirs, askOurs]) await ask();
    }
    measured.set(keyOf(subject), { api: quantiles(ours), sql: quantiles(theirs) });
  }
  return measured;
}

function keyOf({ name, question }: Subject): string {
  return `${name}/${question.name}`;
}

function quantiles(times: number[]): { p50: number; p95: number } {
  const sorted = times.toSorted((a, b) => a - b);
  return { p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) };
}

function print(subjects: readonly Subject[], rounds: readonly Round[], clicks: number, bytes: number): void {
  const of = (subject: Subject, side: 'api' | 'sql', key: 'p50' | 'p95') =>
    rounds.map((round) => round.get(keyOf(subject))?.[side][key] ?? Number.NaN);
  const overhead = (subject: Subject) => ratios(of(subject, 'api', 'p50'), of(subject, 'sql', 'p50'));
  const most = (kind: Question['kind']) =>
    Math.max(
      ...subjects
        .filter(({ question }) => question.kind === kind)
        .map((one) => median(of(one, 'api', 'p50'))),
    );
  report(options.results, {
    name: 'api',
    question: `The API over HTTP at ${number(clicks)} clicks (${number(bytes, 1)} bytes each), beside SQL over ClickHouse's HTTP`,
    versions: ['milliseconds: median of the rounds (range)'],
    tables: [
      {
        header: [
          'workspace',
          'question',
          'API p50',
          'API p95',
          'SQL p50',
          'SQL p95',
          'API p50 / SQL p50',
          'p50 wanted',
        ],
        rows: subjects.map((subject) => [
          subject.name,
          subject.question.name,
          spread(of(subject, 'api', 'p50'), 1),
          spread(of(subject, 'api', 'p95'), 1),
          spread(of(subject, 'sql', 'p50'), 1),
          spread(of(subject, 'sql', 'p95'), 1),
          spread(overhead(subject), 2),
          subject.question.kind === 'page' ? '25' : '60',
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
