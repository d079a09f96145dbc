import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readConfig } from '../../core/config.ts';
import { createKafka } from '../../core/event-log/kafka/client.ts';
import { silentLogger } from '../../core/log.ts';
import { accountFor } from '../faults/accounting.ts';
import type { Clicked } from '../support/clicker.ts';
import { makeLink } from '../support/first-click.ts';
import { hoplog } from '../support/hoplog.ts';
import { NO_KAFKA, startKafka, type TestKafka } from '../support/kafka.ts';
import { type Service, startService } from '../support/service.ts';
import { pollClicks, tierProcess, underLoad } from './deployment.ts';

/**
 * The scaled event log, three brokers with three replicas of which two have to hold each record, under load, while
 * parts of it die. Each test counts every visitor that was answered.
 */
const OUTAGE_MS = 60_000;
const LIGHT = { connections: 4, paceMs: 20 };

let kafka: TestKafka;
let directory: string;
let dataDir: string;
let service: Service;
let env: Record<string, string>;
let key: string;

beforeAll(async () => {
  if (NO_KAFKA !== false) return;
  kafka = await startKafka(3);
  directory = mkdtempSync(join(tmpdir(), 'hoplog-cluster-'));
  dataDir = join(directory, 'data');
  env = { KAFKA_BROKERS: kafka.brokers, KAFKA_REPLICATION: '3', KAFKA_PARTITIONS: '4' };
  service = await startService({ dataDir, env });
  key = service.demo?.secret_key ?? '';
}, 240_000);

afterAll(async () => {
  if (NO_KAFKA !== false) return;
  if (service?.process.exitCode === null) await service.stop();
  await kafka?.close();
  if (directory) rmSync(directory, { recursive: true, force: true });
}, 60_000);

beforeEach((context) => context.skip(NO_KAFKA !== false, String(NO_KAFKA)));

/** The reasons of the letters in the topic of dead letters, once it holds so many. */
async function published(client: Kafka, topic: string, count: number): Promise<string[]> {
  const consumer = client.consumer({ groupId: 'dead-letters-test' });
  const reasons: string[] = [];
  const all = Promise.withResolvers<void>();
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
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

async function newLink(name: string): Promise<{ id: string; url: string }> {
  const { id, slug } = await makeLink(service, key, name);
  return { id, url: `${service.short_url}/${slug}` };
}

async function redirectsWentOn(clicked: Clicked): Promise<void> {
  expect(clicked.refused).toEqual(new Map());
  expect(clicked.unanswered).toBe(0);
  expect(clicked.answered.length).toBeGreaterThan(100);
  await accountFor(service, key, clicked.answered);
}

test('a broker of three is killed, and another one after it: nothing is lost, nothing is double', {
  timeout: 300_000,
}, async () => {
  const { url } = await newLink('one broker');
  const clicked = await underLoad(
    [url],
    async () => {
      for (const node of kafka.nodes.slice(0, 2)) {
        await node.kill();
        await delay(4_000);
        await node.start();
        await delay(4_000); // back among the replicas in sync
      }
    },
    LIGHT,
  );
  await redirectsWentOn(clicked);
});

test('all brokers are down for a minute, ingest dies meanwhile: all is counted once, and a poller misses nothing', {
  timeout: 400_000,
}, async () => {
  const { id, url } = await newLink('no broker');
  let complete: Set<string> | null = null;
  const polling = pollClicks(service, key, id, (seen) => {
    const wanted = complete;
    return wanted !== null && [...wanted].every((visitor) => seen.has(visitor));
  });
  const outage = async () => {
    await Promise.all(kafka.nodes.map((node) => node.kill()));
    await delay(OUTAGE_MS / 2);
    process.kill(tierProcess(dataDir, 'ingest'), 'SIGKILL'); // its journal holds what was not shipped
    await delay(OUTAGE_MS / 2);
    await Promise.all(kafka.nodes.map((node) => node.start()));
  };
  const clicked = await underLoad([url], outage, LIGHT);
  expect(clicked.refused).toEqual(new Map());
  await accountFor(service, key, clicked.answered);
  complete = new Set(clicked.answered);
  expect((await polling).size).toBeGreaterThanOrEqual(clicked.answered.length);
});

test('poisoned records become dead letters and leave their neighbours alone', {
  timeout: 120_000,
}, async () => {
  const { url } = await newLink('poison');
  const settings = { ...readConfig(env).kafka };
  const client = createKafka(
    { brokers: kafka.brokers.split(','), kafka: settings },
    'poisoner',
    silentLogger(),
  );
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
  await redirectsWentOn(clicked);
  const listed = await hoplog(['dead-letter', 'list', '--json'], { DATA_DIR: dataDir });
  const { entries } = JSON.parse(listed.stdout) as { entries: { reason: string; partition: string }[] };
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
