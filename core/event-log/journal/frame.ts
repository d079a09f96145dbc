import { crc32 } from 'node:zlib';
import { bytesToUuid } from '../../ids.ts';
import type { LogBatch } from '../port.ts';

/**
 * A frame is one batch in a segment file, little-endian:
 *
 *     0  u32  magic "HLJ1"             24  16 B  stream id
 *     4  u32  CRC-32 of all that follows  40  u64   first sequence
 *     8  u32  bytes of payload          48  u64   smallest ts, microseconds
 *    12  u32  events in the payload     56  u64   largest ts, microseconds
 *    16  u64  logical offset of the frame  64  payload
 *
 * The offset is part of the header, so old bytes of another position are never read as a frame here.
 */
export const FRAME_HEADER_BYTES = 64;

/** Longest payload. A frame stays below the 900 KB of one Kafka record. */
export const MAX_PAYLOAD_BYTES = 768 * 1024;

const MAGIC = 0x314a4c48;
const MAGIC_BYTES = Buffer.from('HLJ1');

export type FrameHeader = {
  offset: bigint;
  firstSequence: bigint;
  count: number;
  minTs: number;
  maxTs: number;
};

/** Writes the header of the frame at position 0. Its payload of `payloadBytes` already follows the header. */
export function sealFrame(
  frame: Buffer,
  streamId: Uint8Array,
  header: FrameHeader,
  payloadBytes: number,
): void {
  frame.writeUInt32LE(MAGIC, 0);
  frame.writeUInt32LE(payloadBytes, 8);
  frame.writeUInt32LE(header.count, 12);
  frame.writeBigUInt64LE(header.offset, 16);
  frame.set(streamId, 24);
  frame.writeBigUInt64LE(header.firstSequence, 40);
  frame.writeBigUInt64LE(BigInt(header.minTs), 48);
  frame.writeBigUInt64LE(BigInt(header.maxTs), 56);
  frame.writeUInt32LE(crc32(frame.subarray(8, FRAME_HEADER_BYTES + payloadBytes)), 4);
}

/**
 * What a position of a segment holds. `short`: perhaps a frame that continues behind the given bytes. `empty`:
 * nothing was written here. `bad`: bytes that are not a frame of this position.
 */
export type FrameAt =
  | { kind: 'frame'; batch: LogBatch; end: number }
  | { kind: 'short'; needed: number }
  | { kind: 'empty' }
  | { kind: 'bad' };

/**
 * Reads the frame at `position` of `bytes`. The batch's payload is a view into `bytes`.
 *
 * @param offset the logical offset of `position`
 */
export function frameAt(bytes: Buffer, position: number, offset: bigint): FrameAt {
  const available = bytes.length - position;
  if (available < 4)
    return available === 0 ? { kind: 'empty' } : { kind: 'short', needed: FRAME_HEADER_BYTES };
  const magic = bytes.readUInt32LE(position);
  if (magic === 0) return { kind: 'empty' };
  if (magic !== MAGIC) return { kind: 'bad' };
  if (available < FRAME_HEADER_BYTES) return { kind: 'short', needed: FRAME_HEADER_BYTES };
  const payloadBytes = bytes.readUInt32LE(position + 8);
  if (payloadBytes > MAX_PAYLOAD_BYTES || bytes.readBigUInt64LE(position + 16) !== offset) {
    return { kind: 'bad' };
  }
  const end = position + FRAME_HEADER_BYTES + payloadBytes;
  if (end > bytes.length) return { kind: 'short', needed: end - position };
  if (crc32(bytes.subarray(position + 8, end)) !== bytes.readUInt32LE(position + 4)) return { kind: 'bad' };
  return {
    kind: 'frame',
    end,
    batch: {
      offset,
      nextOffset: offset + BigInt(end - position),
      streamId: bytesToUuid(bytes, position + 24),
      firstSequence: bytes.readBigUInt64LE(position + 40),
      count: bytes.readUInt32LE(position + 12),
      minTs: Number(bytes.readBigUInt64LE(position + 48)),
      maxTs: Number(bytes.readBigUInt64LE(position + 56)),
      payload: bytes.subarray(position + FRAME_HEADER_BYTES, end),
    },
  };
}

/**
 * Returns the first position at or after `from` with an intact frame, or -1.
 *
 * @param offset the logical offset of position 0 of `bytes`
 */
export function findFrame(bytes: Buffer, from: number, offset: bigint): number {
  let position = bytes.indexOf(MAGIC_BYTES, from);
  while (position >= 0) {
    if (frameAt(bytes, position, offset + BigInt(position)).kind === 'frame') return position;
    position = bytes.indexOf(MAGIC_BYTES, position + 1);
  }
  return -1;
}
