import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Admin } from 'kafkajs';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createKafka } from '../../core/event-log/kafka/client.ts';
import { KafkaReader } from '../../core/event-log/kafka/reader.ts';
import { type Shipper, startShipper } from '../../core/event-log/kafka/shipper.ts';
import { uuidv7 } from '../../core/ids.ts';
import { readConfig } from '../../core/settings/config.ts';
import { silentLogger } from '../../core/tier/log.ts';
import type { LaneState } from '../../workers/lane/lane.ts';
import { click } from '../../workers/test-support/events.ts';
import { NO_KAFKA, startKafka, type TestKafka } from '../support/kafka.ts';
import { NIGHTLY } from '../support/nightly.ts';
import { until } from '../support/until.ts';
import { createRig, metric, type Rig } from '../support/worker-rig.ts';

/** With the journal as the log, `workers/lane/kills.test.ts` has each of them in each run. */
const STATES: LaneState[] = NIGHTLY
  ? ['prepared', 'intended', 'block_inserted', 'inserted', 'advanced']
  : ['block_inserted'];
const NOW = Date.UTC(2026, 10, 1) * 1000;

let kafka: TestKafka;
let rig: Rig;
let topics = 0;

beforeAll(async () => {
  if (NO_KAFKA === false) kafka = await startKafka(1);
}, 240_000);
afterAll(async () => {
  if (NO_KAFKA === false) await kafka.close();
});
beforeEach(async (context) => {
  context.skip(NO_KAFKA !== false, String(NO_KAFKA));
  topics += 1;
  rig = await createRig();
});
afterEach(async () => {
  if (NO_KAFKA === false) await rig.close();
});

/** The path from the journal to ClickHouse through the broker, on a topic of the test's own. */
async function withKafka(
  work: (given: {
    reader: KafkaReader;
    /** A reader of a process that starts later. */
    newReader: () => KafkaReader;
    ship: () => Shipper;
    admin: Admin;
    topic: string;
    stream: Awaited<ReturnType<Rig['stream']>>;
  }) => Promise<void>,
): Promise<void> {
  const settings = { ...readConfig({}).kafka, topic: `crash-${topics}`, partitions: 1, replication: 1 };
  const client = () =>
    createKafka({ brokers: kafka.brokers.split(','), kafka: settings }, 'test', silentLogger());
  const readers: KafkaReader[] = [];
  const newReader = () => {
    const reader = new KafkaReader(client(), settings, silentLogger());
    readers.push(reader);
    return reader;
  };
  const stream = await rig.stream('ingest-0');
  const admin = client().admin();
  await admin.connect();
  const shippers: Shipper[] = [];
  const ship = () => {
    const shipper = startShipper({
      client: client(),
      kafka: settings,
      dataDir: rig.dataDir,
      streamName: 'ingest-0',
      stream,
      log: silentLogger(),
      onShipped: () => {},
      onOutage: () => {},
    });
    shippers.push(shipper);
    return shipper;
  };
  try {
    await work({ reader: newReader(), newReader, ship, admin, topic: settings.topic, stream });
  } finally {
    await Promise.all(shippers.map((shipper) => shipper.stop(1_000)));
    await Promise.all(readers.map((reader) => reader.close()));
    await admin.disconnect();
  }
}

function clicks(from: number, count: number) {
  const { workspace } = rig;
  return Array.from({ length: count }, (_, index) =>
    click({ workspace, link: uuidv7(), visitor: uuidv7(), ts: NOW + from + index }),
  );
}

test.each(STATES)(
  'a lane that fails when %s reads the same range from Kafka again and stores it once',
  async (state) => {
    await withKafka(async ({ reader, ship, stream }) => {
      ship();
      let failures = 0;
      const workers = rig.work({
        reader,
        onState(reached) {
          if (reached !== state || failures >= 3) return;
          failures += 1;
          throw new Error(`failure injected when ${state}`);
        },
      });
      for (let at = 0; at < 2_000; at += 100) {
        stream.append(clicks(at, 100));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await rig.settled(stream);
      expect(failures).toBeGreaterThan(0);
      expect(await rig.stored()).toEqual({ rows: 2_000, distinct: 2_000 });
      for (const alarm of ['hoplog_worker_log_lost_total', 'hoplog_worker_sequence_gaps_total']) {
        expect(await metric(workers.registry, alarm)).toBe(0);
      }
      await workers.stop(0);
    });
  },
);

test('records that a shipper sends twice because it died before it saved its offset are stored once', async () => {
  await withKafka(async ({ reader, ship, stream }) => {
    const workers = rig.work({ reader });
    stream.append(clicks(0, 500));
    const first = ship();
    await rig.settled(stream);
    // Like a killed shipper: it never saved its offset.
    await first.stop(1_000);
    rmSync(join(rig.dataDir, 'journal', 'ingest-0', 'shipped.json'));
    stream.append(clicks(1_000, 500));
    ship();
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 1_000, distinct: 1_000 });
    expect(await metric(workers.registry, 'hoplog_worker_duplicates_dropped_total')).toBe(500);
    await workers.stop(0);
  });
});

test.each(['while workers are away', 'under running workers'])(
  'a topic that is created again %s is stored from its start, and logged once',
  async (when) => {
    await withKafka(async ({ reader, newReader, ship, admin, topic, stream }) => {
      let workers = rig.work({ reader });
      const first = ship();
      for (let at = 0; at < 200; at += 10) {
        stream.append(clicks(at, 10));
        await new Promise((resolve) => setTimeout(resolve, 60)); // separate records
      }
      await rig.settled(stream);
      await first.stop(1_000);
      if (when === 'while workers are away') await workers.stop();
      await admin.deleteTopics({ topics: [topic] });
      await expect.poll(() => admin.listTopics(), { interval: 100 }).not.toContain(topic);
      await admin.createTopics({
        topics: [{ topic, numPartitions: 1, replicationFactor: 1 }],
        waitForLeaders: false, // queries once; the broker may not know the topic yet
      });
      if (when === 'while workers are away') workers = rig.work({ reader: newReader() });
      stream.append(clicks(1_000, 50));
      ship();
      await rig.settled(stream);
      expect(await rig.stored()).toEqual({ rows: 250, distinct: 250 });
      expect(await metric(workers.registry, 'hoplog_worker_log_lost_total')).toBe(1);
      expect(await metric(workers.registry, 'hoplog_worker_log_lost_total', { cause: 'cut' })).toBe(1);
      await workers.stop(0);
    });
  },
);

test('a topic whose retention is shorter than an outage is stored from its current start', async () => {
  await withKafka(async ({ reader, ship, admin, topic, stream }) => {
    const before = rig.work({ reader });
    ship();
    stream.append(clicks(0, 100));
    await rig.settled(stream);
    await before.stop();
    const end = async () => BigInt((await admin.fetchTopicOffsets(topic))[0]?.high ?? 0);
    const stored = await end();
    stream.append(clicks(1_000, 100));
    await until('the events in the topic', end, (offset) => offset > stored);
    const gone = await end();
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: String(gone) }] });
    const workers = rig.work({ reader });
    stream.append(clicks(2_000, 100));
    await rig.settled(stream);
    expect(await rig.stored()).toEqual({ rows: 200, distinct: 200 });
    expect(await metric(workers.registry, 'hoplog_worker_log_lost_total', { cause: 'freed' })).toBe(1);
    await workers.stop(0);
  });
});
