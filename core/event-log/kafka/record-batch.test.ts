import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import kafkajs from 'kafkajs';
import type Encoder from 'kafkajs/src/protocol/encoder.js';
import encodeRecord from 'kafkajs/src/protocol/recordBatch/record/v0/index.js';
import protocol, { type RecordBatchOptions } from 'kafkajs/src/protocol/recordBatch/v0/index.js';
import { expect, test } from 'vitest';
import { COMPRESSION } from './compression.ts';
import './record-batch.ts';

const ours = protocol.RecordBatch;
const byTheClient = untouched();

/** The client's own, from a copy of its module that nobody has changed. */
function untouched(): typeof ours {
  const load = createRequire(import.meta.url);
  const path = load.resolve('kafkajs/src/protocol/recordBatch/v0/index.js');
  const { [path]: known } = load.cache;
  delete load.cache[path];
  const copy = load(path) as typeof protocol;
  load.cache[path] = known;
  return copy.RecordBatch;
}

const NOW = 1_795_400_000_000;

/** Written anew for each who reads them: their memory is used again. */
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
])('%s: the same bytes as by the client itself, its checksum too', async (_, values, changes) => {
  expect(ours).not.toBe(byTheClient);
  const expected = (await byTheClient(options(values, changes))).buffer;
  const written = (await ours(options(values, changes))).buffer;
  expect(written.equals(expected)).toBe(true);
});
