import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { crc32c } from '@node-rs/crc32';
import kafkajs from 'kafkajs';
import type Encoder from 'kafkajs/src/protocol/encoder.js';
import encodeRecord from 'kafkajs/src/protocol/recordBatch/record/v0/index.js';
import protocol, { type RecordBatchOptions } from 'kafkajs/src/protocol/recordBatch/v0/index.js';
import { expect, test } from 'vitest';
import { adaptKafkajs } from './client.ts';
import { COMPRESSION } from './compression.ts';

adaptKafkajs(crc32c);
const ours = protocol.RecordBatch;
const byKafkajs = unchanged();

/** The function of kafkajs, from a fresh copy of its module. */
function unchanged(): typeof ours {
  const load = createRequire(import.meta.url);
  const path = load.resolve('kafkajs/src/protocol/recordBatch/v0/index.js');
  const { [path]: loaded } = load.cache;
  delete load.cache[path];
  const copy = load(path) as typeof protocol;
  load.cache[path] = loaded;
  return copy.RecordBatch;
}

const NOW = 1_795_400_000_000;

/** Encoders are read once: their memory is reused. */
function records(values: Buffer[]): Encoder[] {
  return values.map((value) => encodeRecord({ key: 'stream', value, headers: { format: 'x', count: '7' } }));
}

function options(values: Buffer[], changes: Partial<RecordBatchOptions> = {}): RecordBatchOptions {
  return {
    compression: COMPRESSION,
    firstTimestamp: NOW,
    maxTimestamp: NOW + 5,
    lastOffsetDelta: values.length - 1,
    records: records(values),
    ...changes,
  };
}

test.each([
  ['one record', [randomBytes(300)], {}],
  ['a large one', [Buffer.concat([randomBytes(400_000), Buffer.alloc(380_000)])], {}],
  ['several', [randomBytes(10), Buffer.alloc(0), randomBytes(70_000)], {}],
  [
    'a producer with a sequence',
    [randomBytes(40)],
    { producerId: '81985529216486895', producerEpoch: 3, firstSequence: 9 },
  ],
  ['a transaction', [randomBytes(40)], { transactional: true, producerId: 5, producerEpoch: 1 }],
  ['gzip', [randomBytes(40)], { compression: kafkajs.CompressionTypes.GZIP }],
])('%s: the bytes are those of kafkajs, checksum included', async (_, values, changes) => {
  expect(ours).not.toBe(byKafkajs);
  const expected = (await byKafkajs(options(values, changes))).buffer;
  const written = (await ours(options(values, changes))).buffer;
  expect(written.equals(expected)).toBe(true);
});
