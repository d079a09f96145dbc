import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Admin, Kafka } from 'kafkajs';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { freePort } from '../../cli/embedded/free-port.ts';
import { createKafka } from '../../core/event-log/kafka/client.ts';
import { readConfig } from '../../core/settings/config.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { accountFor } from '../faults/accounting.ts';
import type { Clicked } from '../support/clicker.ts';
import { exposedFigure } from '../support/exposed-figure.ts';
import { makeLink } from '../support/first-click.ts';
import { EACH_SECOND, hoplog } from '../support/hoplog.ts';
import { NO_KAFKA, startKafka, type TestKafka } from '../support/kafka.ts';
import { NIGHTLY } from '../support/nightly.ts';
import { type Service, startService } from '../support/service.ts';
import { type TestStores, testStores } from '../support/stores.ts';
import { until } from '../support/until.ts';
import { pollClicks, tierProcess, underLoad, untilLinksSynced } from './deployment.ts';

/**
 * The event log of cluster mode under load while parts of it die: three brokers, three replicas, of which two must hold
 * each record. Each test counts every redirected visitor.
 */
const PATIENT = { timeout: 90_000, interval: 250 };
/** How much of the brokers' last output a failed test prints. Characters. */
const LOG_CHARACTERS = 20_000;
const LIGHT = { connections: 4, paceMs: 20 };
const OUTAGE_MS = NIGHTLY ? 60_000 : 20_000;
/** Fewer redirects than a loaded machine has meanwhile. */
const LEAST = NIGHTLY ? 500 : 150;
/** Brokers that are killed and started again, one after the other. */
const KILLED = NIGHTLY ? 2 : 1;

let kafka: TestKafka;
let stores: TestStores;
let directory: string;
let dataDir: string;
let metricsPort: number;
let service: Service;
let env: Record<string, string>;
let key: string;

beforeAll(async () => {
  if (NO_KAFKA !== false) return;
  [kafka, stores] = await Promise.all([startKafka(3), testStores()]);
  await stores.createTables();
  directory = mkdtempSync(join(tmpdir(), 'hoplog-cluster-'));
  dataDir = join(directory, 'data');
  env = {
    KAFKA_BROKERS: kafka.brokers,
    KAFKA_REPLICATION: '3',
    KAFKA_PARTITIONS: '4',
    DATABASE_URL: stores.databaseUrl,
    DATABASE_OWNER_URL: stores.databaseOwnerUrl,
    CLICKHOUSE_URL: stores.clickhouseUrl,
    CLICKHOUSE_DATABASE: stores.clickhouseDatabase,
  };
  metricsPort = await freePort('127.0.0.1', 4);
  service = await startService({ dataDir, env: { ...env, METRICS_PORT: String(metricsPort) } });
  key = service.demo?.secret_key ?? '';
}, 240_000);

afterAll(async () => {
  if (NO_KAFKA !== false) return;
  if (service?.process.exitCode === null) await service.stop();
  await Promise.all([kafka?.close(), stores?.close()]);
  if (directory) rmSync(directory, { recursive: true, force: true });
}, 60_000);

beforeEach((context) => {
  context.skip(NO_KAFKA !== false, String(NO_KAFKA));
  context.onTestFailed(() => console.error(kafka.log().slice(-LOG_CHARACTERS)));
});

function connectTo(name: string): Kafka {
  return createKafka(
    { brokers: kafka.brokers.split(','), kafka: readConfig(env).kafka },
    name,
    silentLogger(),
  );
}

/** Returns how many replicas of each partition are in sync; 0 for a partition without a leader. */
async function replicasInSync(admin: Admin): Promise<number[]> {
  const { topics } = await admin.fetchTopicMetadata({ topics: [readConfig(env).kafka.topic] });
  const partitions = topics[0]?.partitions ?? [];
  return partitions.map(({ leader, isr }) => (leader >= 0 ? isr.length : 0));
}

/** Returns the reasons of the records in the dead-letter topic, once it holds this many. */
async function published(client: Kafka, topic: string, count: number): Promise<string[]> {
  const consumer = client.consumer({ groupId: 'dead-letters-test' });
  const reasons: string[] = [];
  const all = Promise.withResolvers<void>();
  await consumer.connect();
  // The first dead letter creates the topic.
  await vi.waitFor(() => consumer.subscribe({ topic, fromBeginning: true }), PATIENT);
  await consumer.run({
    async eachMessage({ message }) {
      reasons.push(String(message.headers?.reason));
      if (reasons.length === count) all.resolve();
    },
  });
  await all.promise;
  await consumer.disconnect();
  return reasons.sort();
}

async function newLink(name: string): Promise<string> {
  const { slug } = await makeLink(service, key, name);
  return `${service.short_url}/${slug}`;
}

async function expectRedirectsContinued(clicked: Clicked): Promise<void> {
  expect(clicked.refused).toEqual(new Map());
  expect(clicked.unanswered).toEqual([]);
  expect(clicked.answered.length).toBeGreaterThan(100);
  await accountFor(service, key, clicked.answered);
}

test(`killing ${KILLED} of three brokers loses nothing and duplicates nothing`, {
  timeout: 300_000,
}, async () => {
  const url = await newLink('one broker');
  const admin = connectTo('observer').admin();
  await admin.connect();
  const clicked = await underLoad(
    [url],
    async () => {
      for (const node of kafka.nodes.slice(0, KILLED)) {
        await node.kill();
        await expect.poll(() => replicasInSync(admin), PATIENT).toEqual([2, 2, 2, 2]);
        const underReplicated = () =>
          exposedFigure(metricsPort + 2, 'hoplog_log_under_replicated_partitions');
        await expect.poll(underReplicated, PATIENT).toBe(4);
        await delay(1_000);
        await node.start();
        await expect.poll(() => replicasInSync(admin), PATIENT).toEqual([3, 3, 3, 3]);
      }
    },
    { connections: 4, paceMs: 60 },
  );
  await admin.disconnect();
  await expectRedirectsContinued(clicked);
});

test(`all brokers are down for ${OUTAGE_MS / 1_000} s and ingest is killed: every click is counted once, and a poller misses none`, {
  timeout: 400_000,
}, async () => {
  const { id, slug } = await makeLink(service, key, 'no broker');
  await untilLinksSynced(dataDir);
  let complete: string[] | null = null;
  const isComplete = (seen: Set<string>) => complete?.every((visitor) => seen.has(visitor)) ?? false;
  const polling = pollClicks(service, key, id, isComplete);
  const outage = async () => {
    await Promise.all(kafka.nodes.map((node) => node.kill()));
    await delay(OUTAGE_MS / 2);
    process.kill(tierProcess(dataDir, 'ingest'), 'SIGKILL'); // its journal holds what is not shipped
    await delay(OUTAGE_MS / 2);
    await Promise.all(kafka.nodes.map((node) => node.start()));
  };
  const clicked = await underLoad([`${service.short_url}/${slug}`], outage, { connections: 4, paceMs: 300 });
  expect(clicked.refused).toEqual(new Map());
  expect(clicked.answered.length).toBeGreaterThan(LEAST);
  await accountFor(service, key, clicked.answered);
  complete = clicked.answered;
  expect((await polling).size).toBeGreaterThanOrEqual(complete.length);
});

test('poison messages become dead letters and leave other records alone', {
  timeout: 120_000,
}, async () => {
  const url = await newLink('poison');
  const settings = readConfig(env).kafka;
  const client = connectTo('poisoner');
  const producer = client.producer();
  await producer.connect();
  const stream = { stream: '01a1fd81-2a35-7000-b576-f6765cc766a2', format: 'hoplog-events/1' };
  const times = { 'min-ts': '1', 'max-ts': '1' };
  const poison = [
    { value: 'no batch at all' },
    { value: null },
    { value: 'x', headers: { format: 'hoplog-events/1', first: 'abc' } },
    { value: 'not what the headers promise', headers: { ...stream, ...times, first: '0', count: '3' } },
  ];
  const clicked = await underLoad(
    [url],
    async () => {
      for (const record of poison) {
        for (let partition = 0; partition < 4; partition++) {
          await producer.send({ topic: settings.topic, messages: [{ ...record, partition }] });
        }
      }
    },
    LIGHT,
  );
  await producer.disconnect();
  await expectRedirectsContinued(clicked);
  // No watermark waits for the partitions without a stream.
  const letters = async () => {
    const listed = await hoplog(['dead-letter', 'list', '--json'], { DATA_DIR: dataDir });
    return (JSON.parse(listed.stdout) as { entries: { reason: string; partition: string }[] }).entries;
  };
  const each = { intervalMs: EACH_SECOND.interval };
  const entries = await until('every dead letter', letters, (found) => found.length >= 16, each);
  const reasons = Map.groupBy(entries, ({ reason }) => reason);
  expect(Object.fromEntries([...reasons].map(([reason, those]) => [reason, those.length]))).toEqual({
    'log_damage: unknown_format': 8,
    'log_damage: broken_headers': 4,
    unknown_stream: 4,
  });
  expect(await published(client, settings.deadTopic, 16)).toEqual(entries.map(({ reason }) => reason).sort());
  const replayed = await hoplog(['dead-letter', 'replay', '--json'], { DATA_DIR: dataDir });
  expect(JSON.parse(replayed.stdout)).toEqual({ replayed: 0, left: 16 });
});
