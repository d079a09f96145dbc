import { crc32c } from '@node-rs/crc32';
import Encoder from 'kafkajs/src/protocol/encoder.js';
import recordBatch, { type RecordBatchOptions } from 'kafkajs/src/protocol/recordBatch/v0/index.js';
import { COMPRESSION, compress } from './compression.ts';

/** Where the checksum stands, and where what it is of begins (Kafka's record batch, magic 2). */
const CHECKSUM_AT = 17;
const SUMMED_FROM = 21;
/** Of a batch's head behind its length. */
const HEAD_BYTES = 49;
const MAGIC = 2;

const byTheClient = recordBatch.RecordBatch;

/**
 * What kafkajs writes, byte for byte. It copies a compressed batch three times and sums it in JavaScript, which was a tenth of
 * what the shipper took; here it is copied once, and summed by an instruction of the processor. A single record, which is what
 * the shipper sends, is compressed as it stands.
 */
recordBatch.RecordBatch = async (given: RecordBatchOptions): Promise<Encoder> => {
  const { records, compression } = given;
  if (compression !== COMPRESSION || given.transactional) return byTheClient(given);
  const [only] = records;
  const compressed = compress(records.length === 1 && only ? only : new Encoder().writeEncoderArray(records));
  const batch = new Encoder()
    .writeInt64(given.firstOffset ?? 0)
    .writeInt32(HEAD_BYTES + compressed.length)
    .writeInt32(given.partitionLeaderEpoch ?? 0)
    .writeInt8(MAGIC)
    .writeInt32(0)
    .writeInt16(COMPRESSION)
    .writeInt32(given.lastOffsetDelta ?? 0)
    .writeInt64(given.firstTimestamp ?? Date.now())
    .writeInt64(given.maxTimestamp ?? Date.now())
    .writeInt64(given.producerId ?? -1)
    .writeInt16(given.producerEpoch ?? 0)
    .writeInt32(given.firstSequence ?? 0)
    .writeInt32(records.length)
    .writeBuffer(compressed);
  const { buffer } = batch;
  buffer.writeUInt32BE(crc32c(buffer.subarray(SUMMED_FROM)), CHECKSUM_AT);
  return batch;
};
