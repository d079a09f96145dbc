import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import kafkajs from 'kafkajs';
import type Encoder from 'kafkajs/src/protocol/encoder.js';
import encodeRecord from 'kafkajs/src/protocol/recordBatch/record/v0/index.js';
import { asDamage } from './record.ts';
import { giveBack } from './request-memory.ts';
import { RECORD_MAX_BYTES } from './topic.ts';

/** The checksum lets a reader notice damage: neither a broker nor kafkajs verifies a stored record. */
const CHECKSUM = { [constants.ZSTD_c_checksumFlag]: 1 };

/** Small tables fit the CPU's caches. */
const QUICK = {
  ...CHECKSUM,
  [constants.ZSTD_c_compressionLevel]: 3,
  [constants.ZSTD_c_hashLog]: 15,
  [constants.ZSTD_c_chainLog]: 14,
};

/**
 * For records of some hundred clicks at most, which repeat little within themselves: 2.5 bytes a click less for 2 µs
 * (`bench/notes.md`). There are 25 such records a second at most: a busier stream fills larger ones.
 */
const THOROUGH = { ...CHECKSUM, [constants.ZSTD_c_compressionLevel]: 6 };
const THOROUGH_BELOW_BYTES = 128 * 1024;

/** Limit of decompressed bytes. A record is below 900 KB; a batch of several is at most 16 MiB. */
const DECOMPRESSED_MAX_BYTES = 64 * 1024 * 1024;
/** Clicks compress to a fourth or a fifth: this output chunk takes nearly all of them in one call. */
const EXPECTED_RATIO = 6;

/** The compression of every record that is sent: Zstandard. Records compressed with gzip stay readable. */
export const COMPRESSION = kafkajs.CompressionTypes.ZSTD;

/** The codec for kafkajs, which brings gzip only. Synchronous: neither end runs on the thread of the redirects. */
export const zstandard = {
  compress: async (encoder: Encoder) => compress(encoder),
  decompress: async (bytes: Buffer) => {
    try {
      const chunkSize = Math.max(1024, EXPECTED_RATIO * bytes.length);
      return zstdDecompressSync(bytes, { maxOutputLength: DECOMPRESSED_MAX_BYTES, chunkSize });
    } catch (error) {
      return damagedRecord(bytes, error);
    }
  },
};

/** Thrown when a record is larger than the topic allows even compressed. Nothing was sent. */
export class RecordTooLarge extends Error {
  constructor(bytes: number) {
    super(`a record has ${bytes} bytes compressed; the topic allows at most ${RECORD_MAX_BYTES}`);
    this.name = 'RecordTooLarge';
  }
}

/**
 * Compresses what the encoder holds and takes its memory back: it must not be read again.
 *
 * @throws {RecordTooLarge}
 */
export function compress(encoder: Encoder): Buffer {
  const { buffer } = encoder;
  const params = buffer.length < THOROUGH_BELOW_BYTES ? THOROUGH : QUICK;
  const compressed = zstdCompressSync(buffer, { params, chunkSize: compressBound(buffer.length) });
  giveBack(encoder);
  if (compressed.length > RECORD_MAX_BYTES) throw new RecordTooLarge(compressed.length);
  return compressed;
}

/** Most bytes that the input can compress to (`ZSTD_COMPRESSBOUND`): with that much room, one pass is enough. */
function compressBound(bytes: number): number {
  return bytes + (bytes >> 8) + (Math.max(0, 128 * 1024 - bytes) >> 11);
}

/**
 * Returns a record, marked as damage, in place of bytes that can't be decompressed. An error would end this consumer,
 * and the next one at the same record. The shipper sends one record a request, so one damaged record replaces all that
 * is lost.
 */
function damagedRecord(bytes: Buffer, error: unknown): Buffer {
  const reason = `the record can't be decompressed: ${error instanceof Error ? error.message : String(error)}`;
  return encodeRecord({ key: null, ...asDamage({ reason, bytes }) }).buffer;
}
