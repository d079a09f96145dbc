import { randomBytes } from 'node:crypto';
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { heldMemory } from '../../../test/support/held-memory.ts';
import { NO_KAFKA, startKafka, type TestKafka } from '../../../test/support/kafka.ts';
import { retainedByReads, STRAY_OBJECTS } from '../../../test/support/retained-objects.ts';
import { ConfigError, type KafkaSettings, readConfig } from '../../settings/config.ts';
import { silentLogger } from '../../tier/log.ts';
import type { LogBatch, LogDamage } from '../port.ts';
import { createKafka } from './client.ts';
import { COMPRESSION } from './compression.ts';
import { KafkaReader } from './reader.ts';
import { toMessage } from './record.ts';

const STREAM = '01a1fd81-2a35-7000-b576-f6765cc766a2';
const PATIENT = { maxBytes: 1, waitMs: 20_000 };

let kafka: TestKafka;
let settings: KafkaSettings;
let topics = 0;

beforeAll(async () => {
  if (NO_KAFKA === false) kafka = await startKafka(1);
}, 240_000);
afterAll(async () => {
  if (NO_KAFKA === false) await kafka.close();
});
beforeEach((context) => {
  context.skip(NO_KAFKA !== false, String(NO_KAFKA));
  topics += 1;
  settings = { ...readConfig({}).kafka, topic: `reader-${topics}`, partitions: 2, replication: 1 };
});

const client = () =>
  createKafka({ brokers: kafka.brokers.split(','), kafka: settings }, 'test', silentLogger());

async function withReader<T>(work: (reader: KafkaReader) => Promise<T>, changes = {}): Promise<T> {
  const reader = new KafkaReader(client(), { ...settings, ...changes }, silentLogger());
  try {
    return await work(reader);
  } finally {
    await reader.close();
  }
}

const heldBytes = () => heldMemory().buffers;

/** The same, settled: buffers are freed some time after the garbage collection. */
async function settledBytes(): Promise<number> {
  for (let last = heldBytes(); ; ) {
    await delay(100);
    const held = heldBytes();
    if (held >= last) return held;
    last = held;
  }
}

function batchOf(sequence: number): LogBatch {
  return {
    offset: 0n,
    nextOffset: 1n,
    streamId: STREAM,
    firstSequence: BigInt(sequence),
    count: 1,
    minTs: 1,
    maxTs: 1,
    payload: Buffer.from('event'),
  };
}

async function produce(partition: number, sequences: number[]): Promise<void> {
  const producer = client().producer();
  await producer.connect();
  for (const sequence of sequences) {
    await producer.send({ topic: settings.topic, messages: [toMessage(batchOf(sequence), partition)] });
  }
  await producer.disconnect();
}

/** Changes one byte in the middle of a segment's second record batch. Each batch begins with its offset and length. */
function damageSecond(segment: string): void {
  const bytes = readFileSync(segment);
  const second = 12 + bytes.readUInt32BE(8);
  const middle = second + Math.floor(bytes.readUInt32BE(second + 8) / 2);
  bytes[middle] = (bytes[middle] ?? 0) ^ 0x10;
  const file = openSync(segment, 'r+');
  writeSync(file, bytes, middle, 1, middle);
  closeSync(file);
}

/** Reads on from an offset, one piece at a time, until this many batches have come. */
async function read(reader: KafkaReader, partition: number, from: bigint, count: number): Promise<number[]> {
  const sequences: number[] = [];
  for (let at = from; sequences.length < count; ) {
    const { batches, nextOffset } = await reader.read(`${settings.topic}/${partition}`, at, PATIENT);
    expect(nextOffset).toBeGreaterThanOrEqual(at);
    sequences.push(...batches.map(({ firstSequence }) => Number(firstSequence)));
    at = nextOffset;
  }
  return sequences;
}

const upTo = (end: number, start = 0) => Array.from({ length: end - start }, (_, index) => start + index);

describe('a reader', () => {
  test('retains no memory of 20,000 reads with one signal', async () => {
    expect(await retainedByReads('kafka', kafka.brokers, settings.topic)).toBeLessThan(STRAY_OBJECTS);
  });

  test('returns what a partition holds from any offset on, also before its position', async () => {
    await withReader(async (reader) => {
      expect(await reader.partitions()).toEqual([`${settings.topic}/0`, `${settings.topic}/1`]);
      await produce(0, upTo(40));
      await produce(1, upTo(120, 100));
      expect(await reader.end(`${settings.topic}/0`)).toBe(40n);
      expect(await reader.start(`${settings.topic}/0`)).toBe(0n);
      for (const from of [0, 25, 3, 39, 10, 0]) {
        expect(await read(reader, 0, BigInt(from), 40 - from)).toEqual(upTo(40, from));
      }
      expect(await read(reader, 1, 5n, 15)).toEqual(upTo(120, 105));
    });
  });

  test('returns correct results when two consumers share it by mistake', async () => {
    await withReader(async (reader) => {
      await reader.partitions();
      await produce(0, upTo(8));
      const answers = await Promise.all([
        read(reader, 0, 0n, 8),
        read(reader, 0, 4n, 4),
        read(reader, 0, 6n, 2),
      ]);
      expect(answers).toEqual([upTo(8), upTo(8, 4), upTo(8, 6)]);
    });
  });

  test('fetches a partition ahead up to its limit, however much it holds', async () => {
    await withReader(async (reader) => {
      const [first = ''] = await reader.partitions();
      const producer = client().producer();
      await producer.connect();
      for (let sequence = 0; sequence < 120; sequence++) {
        const batch = { ...batchOf(sequence), payload: randomBytes(700 * 1024) };
        await producer.send({ topic: settings.topic, messages: [toMessage(batch, 0)] });
      }
      await producer.disconnect();
      const before = await settledBytes();
      let at = 0n;
      let most = 0;
      const measure = () => {
        most = Math.max(most, heldBytes() - before);
        return most;
      };
      for (let reads = 0; reads < 12; reads++) {
        at = (await reader.read(first, at, PATIENT)).nextOffset;
        await delay(150); // as a consumer that is slower than the broker
        measure();
      }
      expect(at).toBe(12n);
      // 16 MiB ahead, and the fetches on their way; there are 80 MiB.
      await expect.poll(measure).toBeGreaterThan(4 * 2 ** 20);
      expect(most).toBeLessThan(40 * 2 ** 20);
    });
  });

  test('waits for new records, and no longer than its limit', async () => {
    await withReader(async (reader) => {
      const [first = ''] = await reader.partitions();
      expect(await reader.read(first, 0n, { maxBytes: 1, waitMs: 50 })).toMatchObject({ nextOffset: 0n });
      const waiting = read(reader, 0, 0n, 1);
      await produce(0, [7]);
      expect(await waiting).toEqual([7]);
      const ended = new AbortController();
      const endless = reader.read(first, 1n, { maxBytes: 1, waitMs: 600_000, signal: ended.signal });
      ended.abort();
      expect(await endless).toMatchObject({ nextOffset: 1n });
    });
  });

  test('reports what retention has removed, and continues behind it', async () => {
    await withReader(async (reader) => {
      await reader.partitions();
      await produce(0, upTo(6));
      expect(await read(reader, 0, 0n, 1)).toEqual([0]);
      const admin = client().admin();
      await admin.connect();
      await admin.fetchTopicOffsets(settings.topic); // tells the client about the topic
      await admin.deleteTopicRecords({ topic: settings.topic, partitions: [{ partition: 0, offset: '4' }] });
      await admin.disconnect();
      await withReader(async (late) => {
        const { damage, nextOffset } = await late.read(`${settings.topic}/0`, 1n, PATIENT);
        expect(damage).toMatchObject([{ offset: 1n, nextOffset: 4n, reason: 'expired' }]);
        expect(await read(late, 0, nextOffset, 2)).toEqual([4, 5]);
      });
    });
  });

  test('reports a record damaged on the broker’s disk, and continues behind it', async (context) => {
    context.skip(kafka.directory === '', 'the disk of the broker is inside a container');
    await withReader(async (reader) => {
      const [first = ''] = await reader.partitions();
      const producer = client().producer();
      await producer.connect();
      for (const sequence of upTo(3)) {
        // Incompressible bytes are stored as they are: only the checksum shows that one has changed.
        const message = toMessage({ ...batchOf(sequence), payload: randomBytes(2_000) }, 0);
        await producer.send({ topic: settings.topic, compression: COMPRESSION, messages: [message] });
      }
      await producer.disconnect();
      damageSecond(join(kafka.directory, '1', 'data', `${settings.topic}-0`, '00000000000000000000.log'));

      const batches: LogBatch[] = [];
      const damage: LogDamage[] = [];
      for (let at = 0n; at < 3n; ) {
        const read = await reader.read(first, at, PATIENT);
        batches.push(...read.batches);
        damage.push(...read.damage);
        at = read.nextOffset;
      }
      expect(batches.map(({ firstSequence }) => firstSequence)).toEqual([0n, 2n]);
      const reason = expect.stringContaining("the record can't be decompressed");
      expect(damage).toMatchObject([{ offset: 1n, nextOffset: 2n, reason }]);
      expect(damage[0]?.bytes.length).toBeGreaterThan(2_000);
    });
  });

  test('continues after the broker was down', { timeout: 240_000 }, async () => {
    await withReader(async (reader) => {
      await reader.partitions();
      await produce(0, upTo(5));
      expect(await read(reader, 0, 0n, 5)).toEqual(upTo(5));
      await kafka.nodes[0]?.kill();
      const nothing = await reader.read(`${settings.topic}/0`, 5n, { maxBytes: 1, waitMs: 500 });
      expect(nothing.batches).toEqual([]);
      await kafka.nodes[0]?.start();
      await produce(0, upTo(9, 5));
      expect(await read(reader, 0, 5n, 4)).toEqual(upTo(9, 5));
      expect(await read(reader, 0, 2n, 7)).toEqual(upTo(9, 2));
    });
  });
});

describe('the topic', () => {
  test('is created as the settings say, and found at the second start', async () => {
    settings = { ...settings, partitions: 3, retentionHours: 5 };
    for (const _start of [1, 2]) await withReader((reader) => reader.partitions());
    const admin = client().admin();
    await admin.connect();
    const names = [
      'retention.ms',
      'min.insync.replicas',
      'max.message.bytes',
      'unclean.leader.election.enable',
      'message.timestamp.type',
    ];
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [{ type: 2, name: settings.topic, configNames: names }],
    });
    await admin.disconnect();
    const entries = resources[0]?.configEntries.map(({ configName, configValue }) => [
      configName,
      configValue,
    ]);
    expect(Object.fromEntries(entries ?? [])).toEqual({
      'retention.ms': String(5 * 3_600_000),
      'min.insync.replicas': '1',
      'max.message.bytes': String(964 * 1024),
      'unclean.leader.election.enable': 'false',
      'message.timestamp.type': 'LogAppendTime',
    });
  });

  test('that keeps events for less than the setting keeps them longer, with its other settings; never shorter', async () => {
    settings = { ...settings, partitions: 1, retentionHours: 5 };
    await withReader((reader) => reader.partitions());
    const admin = client().admin();
    await admin.connect();
    onTestFinished(() => admin.disconnect());
    const configs = async () => {
      const { resources } = await admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: 2, name: settings.topic }],
      });
      const own = resources[0]?.configEntries.filter(({ configSource }) => Number(configSource) === 1) ?? [];
      return Object.fromEntries(own.map(({ configName, configValue }) => [configName, configValue]));
    };
    const before = await configs();
    expect(before).toMatchObject({ 'retention.ms': String(5 * 3_600_000), 'min.insync.replicas': '1' });
    await withReader((reader) => reader.partitions(), { retentionHours: 48 });
    expect(await configs()).toEqual({ ...before, 'retention.ms': String(48 * 3_600_000) });
    await withReader((reader) => reader.partitions(), { retentionHours: 2 });
    expect(await configs()).toEqual({ ...before, 'retention.ms': String(48 * 3_600_000) });
  });

  test('is rejected when it has too few replicas', async () => {
    await withReader((reader) => reader.partitions());
    const refused = withReader((reader) => reader.partitions(), { replication: 2 });
    await expect(refused).rejects.toThrow(ConfigError);
    await expect(refused).rejects.toThrow(/^setting KAFKA_REPLICATION="2": topic /);
  });

  test('that cannot be created yet is reported with its settings, and retried', async () => {
    const refused = withReader((reader) => reader.partitions(), { replication: 3 });
    await expect(refused).rejects.toThrow(/KAFKA_REPLICATION=3 .* could not be created: /);
    await expect(refused).rejects.not.toThrow(ConfigError);
  });
});
