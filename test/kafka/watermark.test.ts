import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { watermark } from '../../sql/event-log/streams.ts';
import { accountFor, untilVisible } from '../faults/accounting.ts';
import { makeLink } from '../support/first-click.ts';
import { EACH_SECOND, operator } from '../support/hoplog.ts';
import { type IngestProcess, startIngestProcess } from '../support/ingest-process.ts';
import { NO_KAFKA, startKafka, type TestKafka } from '../support/kafka.ts';
import { type Service, startService } from '../support/service.ts';
import { type TestStores, testStores } from '../support/stores.ts';
import { until } from '../support/until.ts';
import { pollClicks, underLoad } from './deployment.ts';

/**
 * The watermark over three ingest processes and eight partitions, of which four never hold a record. The clock of one
 * process is five seconds behind.
 */
const BEHIND_MS = 5_000;
const LIGHT = { connections: 6, paceMs: 60 };
const PATIENT = { timeout: 60_000, interval: 100 };
const CLOCK = new URL('../support/clock-offset.ts', import.meta.url).href;

let kafka: TestKafka;
let stores: TestStores;
let directory: string;
let service: Service;
let key: string;
let late: IngestProcess;
let mortal: IngestProcess;
let env: Record<string, string>;

beforeAll(async () => {
  if (NO_KAFKA !== false) return;
  directory = mkdtempSync(join(tmpdir(), 'hoplog-watermark-'));
  const dataDir = join(directory, 'data');
  [kafka, stores] = await Promise.all([startKafka(1), testStores()]);
  await stores.createTables();
  env = {
    KAFKA_BROKERS: kafka.brokers,
    KAFKA_REPLICATION: '1',
    KAFKA_PARTITIONS: '8',
    DATABASE_URL: stores.databaseUrl,
    DATABASE_OWNER_URL: stores.databaseOwnerUrl,
    CLICKHOUSE_URL: stores.clickhouseUrl,
    CLICKHOUSE_DATABASE: stores.clickhouseDatabase,
    DATA_DIR: dataDir,
  };
  service = await startService({ dataDir, env });
  key = service.demo?.secret_key ?? '';
  [late, mortal] = await Promise.all([startLate(), startIngestProcess({ ...env, STREAM_NAME: 'ingest-2' })]);
  // A stream begins at the watermark of its registration, which holds the watermark until the clock that is behind
  // passes it.
  const registered = await mark();
  await until('a watermark past the registrations', mark, (now) => now > registered);
}, 240_000);

afterAll(async () => {
  if (NO_KAFKA !== false) return;
  await Promise.all([late?.stop(), mortal?.stop()]);
  if (service?.process.exitCode === null) await service.stop();
  await Promise.all([kafka?.close(), stores?.close()]);
  if (directory) rmSync(directory, { recursive: true, force: true });
}, 60_000);

beforeEach((context) => context.skip(NO_KAFKA !== false, String(NO_KAFKA)));

function startLate(): Promise<IngestProcess> {
  const clock = { NODE_OPTIONS: `--import=${CLOCK}`, CLOCK_OFFSET_MS: String(-BEHIND_MS) };
  return startIngestProcess({ ...env, ...clock, STREAM_NAME: 'ingest-1' });
}

/** Milliseconds since the epoch. */
async function mark(): Promise<number> {
  return ((await watermark(stores.pool)) ?? 0) / 1_000;
}

async function storedSince(moment: number): Promise<number> {
  const query = `SELECT count() AS rows FROM clicks WHERE ts > fromUnixTimestamp64Milli(${moment}, 'UTC')`;
  const result = await stores.clickhouse.query({ query, format: 'JSONEachRow' });
  return Number((await result.json<{ rows: string }>())[0]?.rows);
}

test('a poller that starts at the watermark misses nothing: with a late clock, idle partitions, an outage, a dead process', {
  timeout: 300_000,
}, async () => {
  const { id, slug } = await makeLink(service, key, 'watermark');
  let complete: string[] | null = null;
  const everything = (seen: Set<string>) => complete?.every((visitor) => seen.has(visitor)) ?? false;
  const polling = pollClicks(service, key, id, everything, Date.now() - 2 * BEHIND_MS);
  const urls = [service.short_url, late.url, mortal.url].map((url) => `${url}/${slug}`);
  const clicked = await underLoad(
    urls,
    async () => {
      const before = await mark();
      await until('a second of the watermark', mark, (now) => now >= before + 1_000);
      // As far as the clock that is behind, and no further.
      expect(await mark()).toBeLessThan(Date.now() - BEHIND_MS + 100);
      await kafka.nodes[0]?.kill();
      await delay(6_000);
      await kafka.nodes[0]?.start();
      await delay(1_000);
      await late.kill();
      // The other streams' clicks are stored, and the watermark waits for the dead process, whose journal may hold
      // more.
      const dead = Date.now();
      await expect.poll(() => storedSince(dead + 1_000), PATIENT).toBeGreaterThan(10);
      expect(await mark()).toBeLessThan(dead - BEHIND_MS + 100);
    },
    LIGHT,
  );
  expect(clicked.refused).toEqual(new Map());
  expect(clicked.answered.length).toBeGreaterThan(300);
  late = await startLate();
  await accountFor(service, key, clicked.answered);
  complete = clicked.answered;
  expect((await polling).size).toBeGreaterThanOrEqual(complete.length);
});

test('a process that is gone for good holds the watermark until its stream is retired', {
  tags: 'nightly',
  timeout: 120_000,
}, async () => {
  await mortal.kill();
  const dead = Date.now();
  const { slug } = await makeLink(service, key, 'after it');
  await underLoad(
    [`${service.short_url}/${slug}`],
    () => expect.poll(() => storedSince(dead), PATIENT).toBeGreaterThan(10),
    LIGHT,
  );
  const behind = async () => {
    const { rows } = await stores.pool.query<{ name: string }>(
      `SELECT name FROM ingest_streams WHERE name <> 'ingest-2' AND visible_before <= $1`,
      [(dead + 1) * 1_000],
    );
    return rows.map(({ name }) => name);
  };
  await until(
    'the other clocks past it, including the one that is behind',
    behind,
    (names) => names.length === 0,
  );
  expect(await mark()).toBeLessThanOrEqual(dead + 1);
  const cli = operator(stores);
  const streams = await cli.json<{ streams: { stream_id: string; name: string }[] }>('stream', 'list');
  expect(streams.streams.map(({ name }) => name).sort()).toEqual([
    'api-0',
    'ingest-0',
    'ingest-1',
    'ingest-2',
  ]);
  // Refused while the last events of the dead process are being stored.
  const retired = async () => (await cli.run('stream', 'retire', 'ingest-2')).status;
  await expect.poll(retired, { ...PATIENT, ...EACH_SECOND }).toBe(0);
  await untilVisible(service, key, dead);
});
