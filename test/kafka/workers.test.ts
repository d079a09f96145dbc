import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { freePort } from '../../cli/embedded/free-port.ts';
import { createKafka } from '../../core/event-log/kafka/client.ts';
import { readShipperState } from '../../core/event-log/kafka/shipper-state.ts';
import { readConfig } from '../../core/settings/config.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { accountFor } from '../faults/accounting.ts';
import { exposedFigure } from '../support/exposed-figure.ts';
import { makeLink } from '../support/first-click.ts';
import { hoplog } from '../support/hoplog.ts';
import { type IngestProcess, startIngestProcess } from '../support/ingest-process.ts';
import { NO_KAFKA, startKafka, type TestKafka } from '../support/kafka.ts';
import { NIGHTLY } from '../support/nightly.ts';
import { type Service, startService } from '../support/service.ts';
import { createSlowGate, type SlowGate } from '../support/slow-gate.ts';
import { type TestStores, testStores } from '../support/stores.ts';
import { startMoreWorkers, tierProcess, underLoad, type WorkersProcess } from './deployment.ts';

/**
 * Workers that die, join and leave while they insert. ClickHouse is behind a gate that slows inserts down, so that
 * each event happens during an insert; three ingest processes fill three of the four lanes. The topic begins with one
 * partition, and the first test adds the others.
 */
/** Inserts of a few hundred rows: these tests depend on timing, not on volume. */
const LIGHT = { connections: 3, paceMs: NIGHTLY ? 15 : 30 };
const PATIENT = { timeout: 60_000, interval: 50 };

let kafka: TestKafka;
let stores: TestStores;
let gate: SlowGate;
let directory: string;
let dataDir: string;
let service: Service;
let others: IngestProcess[] = [];
let joined: WorkersProcess | undefined;
let env: Record<string, string>;
let metricsPort: number;
let key: string;

beforeAll(async () => {
  if (NO_KAFKA !== false) return;
  directory = mkdtempSync(join(tmpdir(), 'hoplog-workers-'));
  dataDir = join(directory, 'data');
  [kafka, stores] = await Promise.all([startKafka(1), testStores()]);
  await stores.createTables();
  gate = await createSlowGate(stores.clickhouseUrl);
  metricsPort = await freePort('127.0.0.1', 4);
  env = {
    KAFKA_BROKERS: kafka.brokers,
    KAFKA_REPLICATION: '1',
    KAFKA_PARTITIONS: '1',
    DATABASE_URL: stores.databaseUrl,
    DATABASE_OWNER_URL: stores.databaseOwnerUrl,
    CLICKHOUSE_URL: gate.url,
    CLICKHOUSE_DATABASE: stores.clickhouseDatabase,
  };
  service = await startService({ dataDir, env: { ...env, METRICS_PORT: String(metricsPort) } });
  key = service.demo?.secret_key ?? '';
  others = await Promise.all(
    ['ingest-1', 'ingest-2'].map((name) =>
      startIngestProcess({ ...env, DATA_DIR: dataDir, STREAM_NAME: name }),
    ),
  );
}, 240_000);

afterAll(async () => {
  if (NO_KAFKA !== false) return;
  await Promise.all(others.map((ingest) => ingest.stop()));
  if (service?.process.exitCode === null) await service.stop();
  await gate?.close();
  await Promise.all([kafka?.close(), stores?.close()]);
  if (directory) rmSync(directory, { recursive: true, force: true });
}, 60_000);

beforeEach((context) => context.skip(NO_KAFKA !== false, String(NO_KAFKA)));

// What a failed test leaves must not fail the next test, nor outlive the run.
afterEach(async () => {
  gate?.slow(null);
  gate?.holdAnswers('none');
  await joined?.kill();
});

/** Addresses of a new link at each ingest process. */
async function links(name: string): Promise<string[]> {
  const { slug } = await makeLink(service, key, name);
  return [service.short_url, ...others.map(({ url }) => url)].map((url) => `${url}/${slug}`);
}

/** Returns the partitions whose lane is inserting a range now, of one worker or of all. */
async function inserting(worker?: { pid: number }): Promise<string[]> {
  const { rows } = await stores.pool.query<{ partition: string; held_by: string | null }>(
    `SELECT partition, held_by FROM log_lanes WHERE consumer = 'store' AND intent IS NOT NULL`,
  );
  return rows
    .filter(({ held_by }) => worker === undefined || held_by?.endsWith(`/${worker.pid}`))
    .map(({ partition }) => partition);
}

async function storedRows(): Promise<number> {
  const result = await stores.clickhouse.query({
    query: 'SELECT count() AS rows FROM clicks',
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ rows: string }>();
  return Number(row?.rows);
}

const firstWorkers = () => ({ pid: tierProcess(dataDir, 'workers') });

function killWorkers(): void {
  process.kill(firstWorkers().pid, 'SIGKILL');
}

const partitionOfStream = (name: string) => readShipperState(join(dataDir, 'journal', name))?.partition ?? -1;
/** Streams of the API, which is idle, and of the three ingest processes. */
const partitionsOfStreams = () => ({
  idle: partitionOfStream('api-0'),
  busy: ['ingest-0', 'ingest-1', 'ingest-2'].map(partitionOfStream).toSorted(),
});

test('partitions that are added under load are used within a minute without a restart: nothing is lost or double', {
  timeout: 300_000,
}, async () => {
  await expect.poll(partitionsOfStreams, PATIENT).toEqual({ idle: 0, busy: [0, 0, 0] });
  const added = async (total: string) =>
    JSON.parse((await hoplog(['partitions', 'add', total, '--json'], env)).stdout);
  const clicked = await underLoad(
    await links('partitions'),
    async () => {
      expect(await added('4')).toMatchObject({ partitions: 4, added: 3 });
      expect(await added('4')).toMatchObject({ partitions: 4, added: 0 });
      await expect.poll(partitionsOfStreams, PATIENT).toEqual({ idle: 3, busy: [0, 1, 2] });
      const lanes = async () => {
        const { rows } = await stores.pool.query(
          `SELECT partition FROM log_lanes WHERE consumer = 'store' AND next_offset > 0 AND held_until > now()`,
        );
        return rows.length;
      };
      await expect.poll(lanes, PATIENT).toBe(4);
    },
    LIGHT,
  );
  const fewer = await hoplog(['partitions', 'add', '2'], env);
  expect(fewer).toMatchObject({ status: 1, stderr: expect.stringContaining('has 4 partitions: must be') });
  expect(clicked.refused).toEqual(new Map());
  expect(clicked.unanswered).toEqual([]);
  await accountFor(service, key, clicked.answered);
  expect(await exposedFigure(metricsPort + 2, 'hoplog_worker_sequence_gaps_total')).toBe(0);
});

test('killing a worker whose block is half sent to ClickHouse, or stored without a response, loses and duplicates nothing', {
  timeout: 300_000,
}, async () => {
  const clicked = await underLoad(
    await links('killed'),
    async () => {
      gate.slow({ bytesPerSecond: 2_000 });
      await expect.poll(async () => (await inserting()).length, PATIENT).toBeGreaterThan(0);
      await expect.poll(() => gate.waiting(), PATIENT).toBeGreaterThan(4_000); // no query is this long
      killWorkers();
      gate.slow(null);
      const behind = await storedRows();
      await expect.poll(storedRows, PATIENT).toBeGreaterThan(behind);

      gate.holdAnswers('inserts');
      // Not when rows are there: they may be from the insert whose response just arrived.
      await expect.poll(() => gate.held(), PATIENT).toBeGreaterThan(0);
      expect(await inserting()).not.toEqual([]);
      killWorkers();
      gate.holdAnswers('none');
      // The successor has found the rows and skipped them.
      const found = () =>
        exposedFigure(metricsPort + 2, 'hoplog_worker_duplicates_dropped_total', /found="store"/);
      await expect.poll(() => found().catch(() => 0), PATIENT).toBeGreaterThan(0);
    },
    LIGHT,
  );
  expect(clicked.refused).toEqual(new Map());
  expect(clicked.unanswered).toEqual([]);
  await accountFor(service, key, clicked.answered);
});

test('lanes that move between workers that join, leave and die during inserts lose and duplicate nothing', {
  timeout: 300_000,
}, async () => {
  const clicked = await underLoad(
    await links('rebalance'),
    async () => {
      gate.slow({ delayMs: 300 });
      await expect.poll(async () => (await inserting()).length, PATIENT).toBeGreaterThan(1);
      for (const leave of ['stop', 'kill'] as const) {
        const newcomer = await startMoreWorkers(dataDir, env);
        joined = newcomer;
        await expect.poll(() => inserting(newcomer), PATIENT).not.toEqual([]);
        expect(await inserting()).not.toEqual([]);
        await newcomer[leave]();
        await expect.poll(async () => (await inserting(firstWorkers())).length, PATIENT).toBeGreaterThan(1);
      }
      gate.slow(null);
    },
    LIGHT,
  );
  expect(clicked.refused).toEqual(new Map());
  expect(clicked.unanswered).toEqual([]);
  await accountFor(service, key, clicked.answered);
});

test('what Kafka deletes before workers have stored it is sent again from the journals: each click is there once', {
  timeout: 300_000,
}, async () => {
  const urls = await links('deleted');
  const first = await underLoad(urls, () => delay(500), LIGHT);
  await accountFor(service, key, first.answered);
  const topic = readConfig(env).kafka.topic;
  const admin = createKafka(
    { brokers: kafka.brokers.split(','), kafka: readConfig(env).kafka },
    'deletes',
    silentLogger(),
  ).admin();
  await admin.connect();
  const records = async () =>
    (await admin.fetchTopicOffsets(topic)).reduce((sum, { high }) => sum + Number(high), 0);

  process.kill(tierProcess(dataDir, 'workers'), 'SIGSTOP');
  const before = await records();
  const lost = await underLoad(urls, () => delay(1_500), LIGHT);
  // A start of the process between what is lost and what is not begins another epoch of its stream.
  process.kill(tierProcess(dataDir, 'ingest'), 'SIGKILL');
  const isThere = await underLoad(urls.slice(1), () => delay(500), LIGHT);
  await expect.poll(records, PATIENT).toBeGreaterThan(before + 60);
  const partitions = (await admin.fetchTopicOffsets(topic)).map(({ partition, high }) => ({
    partition,
    offset: high,
  }));
  await admin.deleteTopicRecords({ topic, partitions });
  await admin.disconnect();
  const later = await underLoad(urls, () => delay(500), LIGHT);
  killWorkers();

  const answered = [...lost.answered, ...isThere.answered, ...later.answered];
  await accountFor(service, key, answered);
  expect(await exposedFigure(metricsPort + 1, 'hoplog_shipper_sent_again_events_total')).toBeGreaterThan(0);
  expect(await exposedFigure(metricsPort + 2, 'hoplog_worker_sequence_gaps_total')).toBeGreaterThan(0);
});

test('workers at rest take at most 200 MiB with 16 partitions, also after they were busy', {
  tags: 'nightly',
  timeout: 300_000,
}, async () => {
  expect(await hoplog(['partitions', 'add', '16'], env)).toMatchObject({ status: 0 });
  const resident = async () =>
    (await exposedFigure(metricsPort + 2, 'process_resident_memory_bytes')) / 2 ** 20;
  const clicked = await underLoad(await links('busy'), () => delay(20_000), { connections: 32, paceMs: 0 });
  await accountFor(service, key, clicked.answered);
  const busy = await resident();
  await expect.poll(resident, { timeout: 90_000, interval: 1_000 }).toBeLessThan(200);
  console.log(
    `workers: ${Math.round(busy)} MiB after ${clicked.answered.length} clicks, ${Math.round(await resident())} MiB at rest`,
  );
});

test('behind a ClickHouse that is too slow only the lag grows: redirects, memory and journal stay within bounds', {
  tags: 'nightly',
  timeout: 300_000,
}, async () => {
  const ofIngest = (name: string) => exposedFigure(metricsPort + 1, name);
  const ofWorkers = (name: string) => exposedFigure(metricsPort + 2, name);
  const before = await ofWorkers('process_resident_memory_bytes');
  const lags: number[] = [];
  const padding = randomBytes(400).toString('hex');
  const clicked = await underLoad(
    await links('slow'),
    async () => {
      gate.slow({ bytesPerSecond: 15_000 });
      // The lag falls with each insert that ends, so how far it has grown after twelve seconds is chance.
      const hasGrown = () => (lags.at(-1) ?? 0) > (lags[2] ?? 0) + 5;
      for (let second = 0; second < 12 || (second < 90 && !hasGrown()); second++) {
        await delay(1_000);
        lags.push(await ofWorkers('hoplog_worker_lag_seconds'));
        const grown = (await ofWorkers('process_resident_memory_bytes')) - before;
        expect(grown).toBeLessThan(200 * 2 ** 20);
        // Kafka holds the records, so the journal can be truncated.
        expect(await ofIngest('hoplog_journal_fill_ratio')).toBeLessThan(0.1);
        expect(await ofIngest('hoplog_shipper_outage')).toBe(0);
      }
      gate.slow(null);
    },
    { paceMs: 20, headers: (index) => ({ 'user-agent': `Mozilla/5.0 ${index} ${padding}` }) },
  );
  expect(lags.at(-1)).toBeGreaterThan((lags[2] ?? 0) + 5);
  expect(clicked.refused).toEqual(new Map());
  expect(clicked.unanswered).toEqual([]);
  await accountFor(service, key, clicked.answered);
});
