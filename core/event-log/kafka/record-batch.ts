import Encoder from 'kafkajs/src/protocol/encoder.js';
import type { RecordBatchOptions } from 'kafkajs/src/protocol/recordBatch/v0/index.js';
import { COMPRESSION, compress } from './compression.ts';

/** Positions of the checksum and of the first byte that it covers (Kafka's record batch, magic 2). */
const CHECKSUM_AT = 17;
const CHECKSUM_FROM = 21;
const HEADER_BYTES = 49;
const MAGIC = 2;

/** CRC-32C (Castagnoli) of the bytes. */
export type Crc32c = (bytes: Buffer) => number;

type EncodeBatch = (options: RecordBatchOptions) => Promise<Encoder>;

/**
 * Returns a function that writes a record batch byte for byte as kafkajs does, with one copy of the compressed bytes
 * instead of three and a native checksum. Transactions and other codecs are left to kafkajs' own function.
 */
export function encodeRecordBatch(byKafkajs: EncodeBatch, crc32c: Crc32c): EncodeBatch {
  return async (options) => {
    const { records, compression } = options;
    if (compression !== COMPRESSION || options.transactional) return byKafkajs(options);
    const [only] = records;
    const compressed = compress(
      records.length === 1 && only ? only : new Encoder().writeEncoderArray(records),
    );
    const batch = new Encoder()
      .writeInt64(options.firstOffset ?? 0)
      .writeInt32(HEADER_BYTES + compressed.length)
      .writeInt32(options.partitionLeaderEpoch ?? 0)
      .writeInt8(MAGIC)
      .writeInt32(0)
      .writeInt16(COMPRESSION)
      .writeInt32(options.lastOffsetDelta ?? 0)
      .writeInt64(options.firstTimestamp ?? Date.now())
      .writeInt64(options.maxTimestamp ?? Date.now())
      .writeInt64(options.producerId ?? -1)
      .writeInt16(options.producerEpoch ?? 0)
      .writeInt32(options.firstSequence ?? 0)
      .writeInt32(records.length)
      .writeBuffer(compressed);
    const { buffer } = batch;
    buffer.writeUInt32BE(crc32c(buffer.subarray(CHECKSUM_FROM)), CHECKSUM_AT);
    return batch;
  };
}
