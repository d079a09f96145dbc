import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { nodeFlags } from '../cli/programs/programs.ts';
import { type ClickHouseClient, createClickHouse } from '../clickhouse/client.ts';
import { migrate } from '../clickhouse/migrate.ts';
import { createAddressSealer } from '../core/events/address-seal.ts';
import { readSecrets } from '../sql/database/secrets.ts';
import { registerStream } from '../sql/event-log/streams.ts';
import { copyJournal, fillJournal } from './data/journal.ts';
import { type Bench, benchmark, progress } from './harness/bench.ts';
import { readOptions } from './harness/options.ts';
import { cpuSeconds, pin, requireTwoCores } from './harness/processes.ts';
import { median, number, report, spread } from './harness/report.ts';
import { alternate, type Contestant, ofContestant } from './harness/rounds.ts';
import { ratios } from './harness/statistics.ts';
import { makeDatabase, startClickHouse, startPostgres } from './harness/stores.ts';
import { startTier } from './harness/tier.ts';
import { insertBlocks, readBlocks } from './store-lane/row-binary.ts';

/**
 * Measures the clicks per second that one worker process stores from the journal in ClickHouse: decoded, enriched with
 * the real geography and parsers, encoded, inserted exactly once. The peer is the limit of ClickHouse: the same rows,
 * encoded in advance as RowBinary, in blocks of the same size.
 *
 *   node bench/store-lane.ts [--clicks 2000000] [--rounds 5] [--profile DIR]
 *
 * The worker has core 0, ClickHouse and PostgreSQL have core 1. Each round starts with empty tables and the whole
 * journal; time counts from the first stored block, to exclude the start.
 */

const options = readOptions({ clicks: 2_000_000, profile: '' });
const OURS = 'hoplog: decode, enrich, encode, insert';
const PEER = 'ClickHouse: the same rows as RowBinary';
/** Size of a block of a lane. */
const BLOCK_ROWS = 50_000;
/** Limit of rows encoded in advance, to bound memory. */
const PEER_ROWS = 1_000_000;
const LOOK_EVERY_MS = 20;

type Turn = { perSecond: number; perCpuSecond: number; storeCpuPerMillion: number };

await benchmark(async (bench) => {
  requireTwoCores();
  const postgres = await startPostgres(bench);
  const store = await startClickHouse(bench);
  pin(postgres.pid, '1');
  pin(store.pid, '1');
  const { url, pool } = await makeDatabase(bench, postgres.url, 'lane');
  progress(`writing ${number(options.clicks)} clicks to a journal`);
  const journal = await fillJournal({
    dataDir: join(bench.directory, 'full'),
    clicks: options.clicks,
    sealer: createAddressSealer((await readSecrets(pool)).address),
    register: () => registerStream(pool, 'ingest-0'),
  });
  const server = createClickHouse({ url: store.url, database: 'default', timeoutMs: 120_000 });
  bench.defer(() => server.close());
  let turns = 0;
  let blocks: Buffer[] = [];

  /** New database for each round; otherwise ClickHouse deduplicates the blocks of the next round. */
  async function withTables(work: (client: ClickHouseClient, name: string) => Promise<Turn>): Promise<Turn> {
    const name = `lane_${turns++}`;
    await migrate(server, { database: name });
    const client = createClickHouse({ url: store.url, database: name, timeoutMs: 120_000 });
    try {
      return await work(client, name);
    } finally {
      await client.close();
      await server.command({ query: `DROP DATABASE ${name} SYNC` });
    }
  }

  async function highWater(): Promise<bigint> {
    const { rows } = await pool.query<{ high_water: string }>('SELECT high_water FROM ingest_streams');
    return BigInt(rows[0]?.high_water ?? -1);
  }

  const ours = () =>
    withTables(async (client, name) => {
      const dataDir = join(bench.directory, name);
      copyJournal(journal, dataDir);
      await pool.query('DELETE FROM log_lanes');
      await pool.query('UPDATE ingest_streams SET high_water = -1, visible_before = 0');
      const worker = await startWorker(bench, { dataDir, databaseUrl: url, storeUrl: store.url, name });
      let first = await highWater();
      for (; first < 0n; first = await highWater()) await delay(LOOK_EVERY_MS);
      const began = performance.now();
      const before = [cpuSeconds(worker.pid), cpuSeconds(store.pid)] as const;
      while ((await highWater()) < journal.lastSequence) await delay(LOOK_EVERY_MS);
      const seconds = (performance.now() - began) / 1_000;
      const cpu = cpuSeconds(worker.pid) - before[0];
      const storeCpu = cpuSeconds(store.pid) - before[1];
      await worker.stop();
      await requireAll(client, options.clicks);
      if (blocks.length === 0)
        blocks = await readBlocks(client, Math.min(PEER_ROWS, options.clicks), BLOCK_ROWS);
      const clicks = Number(journal.lastSequence - first);
      return {
        perSecond: clicks / seconds,
        perCpuSecond: clicks / cpu,
        storeCpuPerMillion: (storeCpu * 1e6) / clicks,
      };
    });

  const peer = () =>
    withTables(async (client) => {
      const before = cpuSeconds(store.pid);
      const { rows, seconds } = await insertBlocks(client, blocks, BLOCK_ROWS);
      return {
        perSecond: rows / seconds,
        perCpuSecond: Number.NaN,
        storeCpuPerMillion: ((cpuSeconds(store.pid) - before) * 1e6) / rows,
      };
    });

  const contestants: Contestant<Turn>[] = [
    { name: OURS, measure: ours },
    { name: PEER, measure: peer },
  ];
  const measured = await alternate(options.rounds, contestants);
  const of = (name: string, key: keyof Turn) => ofContestant(measured, name).map((one) => one[key]);
  const ratio = ratios(of(OURS, 'perSecond'), of(PEER, 'perSecond'));
  report(options.results, {
    name: 'store-lane',
    title: `${number(options.clicks)} clicks from the journal to ClickHouse, one worker on one core, ClickHouse on another`,
    versions: [await versionOf(server)],
    tables: [
      {
        header: ['', 'clicks/s', 'clicks a CPU second of the worker', "ClickHouse's CPU s a million"],
        rows: contestants.map(({ name }) => [
          name,
          spread(of(name, 'perSecond')),
          name === OURS ? spread(of(name, 'perCpuSecond')) : '',
          spread(of(name, 'storeCpuPerMillion'), 2),
        ]),
      },
      {
        header: ['round by round', 'ratio', 'wanted'],
        rows: [['hoplog / ClickHouse alone', spread(ratio, 2), 'at least 0.50']],
      },
    ],
    notes: ['Wanted of hoplog: at least 250,000 clicks a second.'],
    figures: {
      worker_clicks_per_second: median(of(OURS, 'perSecond')),
      worker_clicks_per_cpu_second: median(of(OURS, 'perCpuSecond')),
      store_cpu_per_million: median(of(OURS, 'storeCpuPerMillion')),
      store_rows_per_second: median(of(PEER, 'perSecond')),
    },
  });
});

function startWorker(
  bench: Bench,
  given: { dataDir: string; databaseUrl: string; storeUrl: string; name: string },
) {
  return startTier(bench, {
    script: 'workers/main.ts',
    flags: nodeFlags('workers'),
    cores: '0',
    profile: options.profile,
    env: {
      DATA_DIR: given.dataDir,
      DATABASE_URL: given.databaseUrl,
      CLICKHOUSE_URL: given.storeUrl,
      CLICKHOUSE_DATABASE: given.name,
      METRICS_PORT: '0',
    },
  });
}

/** Asserts that every click is stored once. @throws Error when a click is missing or duplicated */
async function requireAll(client: ClickHouseClient, clicks: number): Promise<void> {
  const result = await client.query({
    query: 'SELECT count() AS stored, uniqExact(sequence) AS distinct FROM clicks',
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ stored: string; distinct: string }>();
  if (Number(row?.stored) !== clicks || row?.stored !== row?.distinct) {
    throw new Error(
      `${row?.stored} rows with ${row?.distinct} distinct clicks are stored: must be ${clicks}`,
    );
  }
}

async function versionOf(client: ClickHouseClient): Promise<string> {
  const result = await client.query({ query: 'SELECT version() AS version', format: 'JSONEachRow' });
  const [row] = await result.json<{ version: string }>();
  return `ClickHouse ${row?.version}`;
}
