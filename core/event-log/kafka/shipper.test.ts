import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import {
  appendClicks,
  openTestJournal,
  readJournal,
  TEST_STREAM,
  TEST_STREAM_NAME,
  temporaryDataDir,
  testSealer,
} from '../../../test/support/journal.ts';
import { NO_KAFKA, startKafka, type TestKafka } from '../../../test/support/kafka.ts';
import { decodeEvents } from '../../events/codec.ts';
import { type KafkaSettings, readConfig } from '../../settings/config.ts';
import { silentLogger } from '../../tier/log.ts';
import type { JournalWriter } from '../journal/writer.ts';
import { storedUpTo } from '../port.ts';
import { createKafka } from './client.ts';
import { KafkaReader } from './reader.ts';
import { shipToKafka } from './ship.ts';
import { type Shipper, startShipper } from './shipper.ts';
import { readShipperState } from './shipper-state.ts';
import { addPartitions } from './topic.ts';

let kafka: TestKafka;
let settings: KafkaSettings;
let dataDir: string;
let remove: () => void;
let journal: JournalWriter;
let shipper: Shipper | undefined;
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
  settings = { ...readConfig({}).kafka, topic: `shipper-${topics}`, partitions: 2, replication: 1 };
  ({ dataDir, remove } = temporaryDataDir());
  journal = await openTestJournal(dataDir);
});
afterEach(async () => {
  if (NO_KAFKA !== false) return;
  await shipper?.stop(2_000);
  shipper = undefined;
  await journal.close();
  remove();
});

const directory = () => join(dataDir, 'journal', TEST_STREAM_NAME);
const client = () =>
  createKafka({ brokers: kafka.brokers.split(','), kafka: settings }, 'test', silentLogger());

function ship(toKafka = client()): Shipper {
  shipper = startShipper({
    client: toKafka,
    kafka: settings,
    dataDir,
    streamName: TEST_STREAM_NAME,
    stream: TEST_STREAM,
    log: silentLogger(),
    onShipped: () => {},
    onOutage: () => {},
  });
  return shipper;
}

/** Appends this many clicks over many turns, enough to fill several segments of 64 KiB. */
async function append(from: number, count: number): Promise<bigint> {
  let last = -1n;
  for (let at = from; at < from + count; at += 20) {
    const names = Array.from({ length: 20 }, (_, index) => `${at + index}-${'x'.repeat(400)}`);
    for (const { sequence } of await appendClicks(journal, names)) last = sequence;
  }
  return last;
}

async function shippedUpTo(sequence: bigint): Promise<void> {
  await vi.waitFor(
    () => {
      if ((readShipperState(directory())?.acknowledged ?? -1n) < sequence) throw new Error('not yet');
    },
    { timeout: 40_000, interval: 50 },
  );
}

/** Returns the clicks of the topic by the numbers of their user agents, duplicates included, up to `last`. */
async function inKafka(last: bigint, number = TEST_STREAM.ordinal % 2): Promise<number[]> {
  const reader = new KafkaReader(client(), settings, silentLogger());
  const partition = `${settings.topic}/${number}`;
  const clicks: number[] = [];
  for (let [at, newest] = [0n, -1n]; newest < last; ) {
    const read = await reader.read(partition, at, { maxBytes: 1 << 20, waitMs: 20_000 });
    for (const batch of read.batches) {
      for (const { event, sequence } of decodeEvents(batch, testSealer).events) {
        newest = sequence;
        if (event.kind === 'click') clicks.push(Number.parseInt(event.userAgent, 10));
      }
    }
    at = read.nextOffset;
  }
  await reader.close();
  return clicks;
}

test('incompressible clicks are sent in smaller records, each once and in order', async () => {
  await journal.close();
  journal = await openTestJournal(dataDir, { budgetBytes: 64 * 1024 * 1024 });
  const clicks = 1_500;
  let last = -1n;
  for (let at = 0; at < clicks; at += 50) {
    const names = Array.from(
      { length: 50 },
      (_, index) => `${at + index}-${randomBytes(1_500).toString('base64')}`,
    );
    for (const { sequence } of await appendClicks(journal, names)) last = sequence;
  }
  ship();
  await shippedUpTo(last);
  expect(await inKafka(last)).toEqual(Array.from({ length: clicks }, (_, index) => index));
});

test('every click is in the topic in order, also across a restart and a kill', async () => {
  ship();
  await shippedUpTo(await append(0, 100));
  await shipper?.stop(5_000);
  await append(100, 100);
  ship();
  const last = await append(200, 100);
  await shippedUpTo(last);
  const clicks = await inKafka(last);
  expect(clicks).toEqual(Array.from({ length: 300 }, (_, index) => index));
});

test('records are compressed, and each is a whole batch of the journal', async (context) => {
  context.skip(kafka.directory === '', 'the brokers keep their files in containers');
  ship();
  await shippedUpTo(await append(0, 400));
  const partition = `${settings.topic}-${TEST_STREAM.ordinal % 2}`;
  const segment = readFileSync(join(kafka.directory, '1', 'data', partition, `${'0'.repeat(20)}.log`));
  // The lowest three bits of a record batch's attributes name its compression; 4 is Zstandard.
  expect(segment.readInt16BE(21) & 0b111).toBe(4);
  // The clicks alone are 400 of 400 bytes.
  expect(segment.length).toBeLessThan(400 * 400);
});

test('clicks in a row are sent together, in records at least the linger time apart', async () => {
  ship();
  let last = await append(0, 20);
  await shippedUpTo(last);
  // Heartbeats are sent meanwhile too, so the time covers both counts.
  const began = performance.now();
  const before = await recordsInTopic();
  for (let at = 20; at < 400; at += 2) {
    for (const { sequence } of await appendClicks(journal, [`${at}`, `${at + 1}`])) last = sequence;
    await delay(2);
  }
  await shippedUpTo(last);
  const records = (await recordsInTopic()) - before;
  const elapsed = performance.now() - began;
  // 190 batches; a timer may fire a millisecond early.
  expect(records).toBeLessThanOrEqual(elapsed / 79 + 2);
  expect(await inKafka(last)).toEqual(Array.from({ length: 400 }, (_, index) => index));
});

async function recordsInTopic(): Promise<number> {
  const admin = client().admin();
  await admin.connect();
  const offsets = await admin.fetchTopicOffsets(settings.topic);
  await admin.disconnect();
  return offsets.reduce((sum, { high }) => sum + Number(high), 0);
}

test('a shipper that has lost its offset, or has a new topic, ships what the journal holds', async () => {
  ship();
  const last = await append(0, 60);
  await shippedUpTo(last);
  await shipper?.stop(5_000);
  settings = { ...settings, topic: `${settings.topic}-other` };
  ship();
  await vi.waitFor(() => expect(readShipperState(directory())?.log).toMatch(/-other$/), 40_000);
  await shippedUpTo(last);
  expect(await inKafka(last)).toEqual(Array.from({ length: 60 }, (_, index) => index));
});

test('the journal keeps what Kafka has until workers have stored it', async () => {
  const { truncate } = ship();
  const last = await append(0, 400);
  await shippedUpTo(last);
  const whole = (await readJournal(dataDir)).clicks.length;
  await truncate(storedUpTo(-1n), 0.1);
  await truncate(null, 0.1);
  expect((await readJournal(dataDir)).clicks).toHaveLength(whole);
  const half = (await readJournal(dataDir)).clicks[200]?.sequence ?? 0n;
  await truncate(storedUpTo(half), 0.1);
  const left = (await readJournal(dataDir)).clicks.map(({ sequence }) => sequence);
  expect(left.length).toBeLessThan(whole);
  expect(left[0]).toBeLessThanOrEqual(half);
  expect(readShipperState(directory())?.truncatedAhead).toBe(-1n);
});

test('under pressure all that Kafka has is truncated and saved, also right after a restart', async () => {
  ship();
  const last = await append(0, 400);
  await shippedUpTo(last);
  await shipper?.stop(5_000);
  const { truncate } = ship();
  await truncate(null, 0.6); // before it has sent anything itself
  const { clicks } = await readJournal(dataDir);
  expect(clicks.length).toBeLessThan(400);
  const place = readShipperState(directory());
  expect(place?.truncatedAhead).toBeGreaterThanOrEqual(last);
  expect(place?.truncatedAhead).toBe(place?.acknowledged);
});

test('a disk without a block for the shipper’s offset stops nothing: what is shipped and stored is truncated', async () => {
  const refusal = join(directory(), 'shipped.json.new');
  mkdirSync(refusal); // no file can be written there
  const { truncate } = ship();
  const last = await append(0, 400);
  expect(await inKafka(last)).toHaveLength(400);
  expect(readShipperState(directory())).toBeNull();
  // Under pressure the offset must be saved first. Until that is possible, events that workers lack are not truncated.
  await vi.waitFor(() => expect(truncate(storedUpTo(-1n), 0.6)).rejects.toThrow(), 40_000);
  expect((await readJournal(dataDir)).clicks).toHaveLength(400);
  await vi.waitFor(async () => {
    await truncate(storedUpTo(last), 0.1);
    expect((await readJournal(dataDir)).clicks.length).toBeLessThan(100);
  }, 40_000);
  rmdirSync(refusal);
  await vi.waitFor(async () => {
    await truncate(storedUpTo(-1n), 0.6);
    expect(readShipperState(directory())?.truncatedAhead).toBeGreaterThanOrEqual(last);
  }, 40_000);
});

test('nothing is truncated that Kafka has not acknowledged, however full the journal is', {
  timeout: 240_000,
}, async () => {
  await kafka.nodes[0]?.kill();
  try {
    const { truncate } = ship();
    await append(0, 400);
    await truncate(null, 1);
    await truncate(storedUpTo(1n << 50n), 1);
    expect((await readJournal(dataDir)).clicks).toHaveLength(400);
  } finally {
    await shipper?.stop(0);
    shipper = undefined;
    await kafka.nodes[0]?.start();
  }
});

test('a thread that dies is replaced, and stopping works even while there is none', async () => {
  const registry = new Registry();
  const shipping = shipToKafka({
    journal,
    needs: async () => storedUpTo(-1n),
    giveUp: async () => {},
    log: silentLogger(),
    registry,
    // As a thread with a broken disk: it can't read its offset.
    dataDir: join(dataDir, 'missing'),
    brokers: kafka.brokers.split(','),
    kafka: settings,
    streamName: TEST_STREAM_NAME,
  });
  await vi.waitFor(async () => {
    expect(await registry.getSingleMetricAsString('hoplog_shipper_outage')).toMatch(/outage 1/);
  }, 40_000);
  await shipping.end();
});

test('a stream moves to its partition among more of them, once workers have stored what was sent', async () => {
  const admin = client().admin();
  await admin.connect();
  onTestFinished(() => admin.disconnect());
  // The topic has one partition, the setting says two. The shipper uses the one, and a log message says how to add the
  // other.
  await admin.createTopics({ topics: [{ topic: settings.topic, numPartitions: 1 }], waitForLeaders: true });
  const toKafka = client();
  let looks = 0;
  const opened = toKafka.admin.bind(toKafka);
  vi.spyOn(toKafka, 'admin').mockImplementation((options) => {
    const looking = opened(options);
    looking.on('admin.disconnect', () => {
      looks += 1;
    });
    return looking;
  });
  const shipping = ship(toKafka);
  await shippedUpTo(await append(0, 20));
  expect(readShipperState(directory())?.partition).toBe(0);
  expect(await addPartitions(admin, settings.topic, 2)).toBe(1);
  // Workers have stored every sequence that this process knows, also of the heartbeats. Their lane has not reached the
  // end, where more may be that an earlier process has sent.
  const stored = (reached: bigint) => ({
    ...storedUpTo(1n << 63n),
    reached: new Map([[`${settings.topic}/0`, reached]]),
  });
  await shipping.truncate(stored(1n), 0);
  const earlier = looks;
  await vi.waitFor(() => expect(looks).toBeGreaterThan(earlier), 40_000);
  // It has looked for partitions; what it sends afterwards shows that it has not moved.
  const before = await append(20, 20);
  await shippedUpTo(before);
  expect(readShipperState(directory())?.partition).toBe(0);
  await vi.waitFor(
    async () => {
      await shipping.truncate(stored(1n << 63n), 0);
      expect(readShipperState(directory())?.partition).toBe(1);
    },
    { timeout: 40_000, interval: 200 },
  );
  const last = await append(40, 40);
  await shippedUpTo(last);
  const numbers = (from: number) => Array.from({ length: 40 }, (_, at) => from + at);
  expect(await inKafka(before, 0)).toEqual(numbers(0));
  expect(await inKafka(last, 1)).toEqual(numbers(40));
});

test('a topic with too few replicas is reported once, and nothing is sent', async () => {
  const made = new KafkaReader(client(), settings, silentLogger());
  await made.partitions();
  await made.close();
  const said: unknown[] = [];
  const log = { ...silentLogger(), error: (message: unknown) => said.push(message) } as never;
  shipper = startShipper({
    client: client(),
    kafka: { ...settings, replication: 2 },
    dataDir,
    streamName: TEST_STREAM_NAME,
    stream: TEST_STREAM,
    log,
    onShipped: () => {},
    onOutage: () => {},
  });
  await vi.waitFor(() => expect(said).toHaveLength(1), 40_000);
  expect(said[0]).toMatch(
    /^setting KAFKA_REPLICATION="2": topic .* has 1 replicas: events wait in the journal/,
  );
  expect(readShipperState(directory())).toBeNull();
});
