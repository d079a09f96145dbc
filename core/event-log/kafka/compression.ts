import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import kafkajs from 'kafkajs';
import type Encoder from 'kafkajs/src/protocol/encoder.js';
import encodeRecord from 'kafkajs/src/protocol/recordBatch/record/v0/index.js';
import { asDamage } from './record.ts';
import { giveBack } from './request-memory.ts';
import { RECORD_MAX_BYTES } from './topic.ts';

/**
 * Level 3 with tables of a quarter of its size, which stay in the caches: a fifth less CPU time for 0.6 % more bytes. The checksum is of
 * what was compressed: a broker does not look at a record again once it has it, nor does kafkajs when it comes back.
 */
const PARAMS = {
  [constants.ZSTD_c_compressionLevel]: 3,
  [constants.ZSTD_c_hashLog]: 15,
  [constants.ZSTD_c_chainLog]: 14,
  [constants.ZSTD_c_checksumFlag]: 1,
};

/** A record is below 900 KB; several travel as one, 16 MiB at most. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Clicks are a fourth to a fifth of their size: nearly all come back in one piece. Each further one is a call of its own. */
const SHRINKS_BY = 6;

/**
 * Zstandard for kafkajs, which knows gzip only: a fourth of its CPU time for the same bytes (`bench/shipper.ts`).
 * Records that were written with gzip stay readable. Both ends run off the redirect's thread, so that neither waits for
 * another thread.
 */
export const COMPRESSION = kafkajs.CompressionTypes.ZSTD;

kafkajs.CompressionCodecs[COMPRESSION] = () => ({
  compress: async (encoder: Encoder) => compress(encoder),
  decompress: async (bytes: Buffer) => {
    try {
      const chunkSize = Math.max(1024, SHRINKS_BY * bytes.length);
      return zstdDecompressSync(bytes, { maxOutputLength: MOST_BYTES, chunkSize });
    } catch (error) {
      return inPlaceOf(bytes, error);
    }
  },
});

/** What is larger than a topic takes, though it was compressed: nothing was sent. */
export class RecordTooLarge extends Error {
  constructor(bytes: number) {
    super(`${bytes} bytes of records are more than the ${RECORD_MAX_BYTES} that a topic takes at once`);
    this.name = 'RecordTooLarge';
  }
}

/**
 * Compresses what was written and takes the encoder's memory back: nobody may read it any more.
 *
 * @throws {RecordTooLarge}
 */
export function compress(encoder: Encoder): Buffer {
  const { buffer } = encoder;
  const compressed = zstdCompressSync(buffer, { params: PARAMS, chunkSize: mostBytes(buffer.length) });
  giveBack(encoder);
  if (compressed.length > RECORD_MAX_BYTES) throw new RecordTooLarge(compressed.length);
  return compressed;
}

/** What so many bytes take at most when they are compressed (`ZSTD_COMPRESSBOUND`): with as much room it is done in one pass. */
function mostBytes(bytes: number): number {
  return bytes + (bytes >> 8) + (Math.max(0, 128 * 1024 - bytes) >> 11);
}

/**
 * What a consumer gets for a record that a broker's disk has damaged: its bytes, as damage. An error would end the consumer, and the
 * next one at the same record. The shipper sends one record at a time, so one stands for what is gone.
 */
function inPlaceOf(bytes: Buffer, error: unknown): Buffer {
  const reason = `the record can't be decompressed: ${error instanceof Error ? error.message : String(error)}`;
  return encodeRecord({ key: null, ...asDamage({ reason, bytes }) }).buffer;
}
