import { readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { LARGEST_RECORD } from './arena.ts';

/**
 * How the table stands in its files: `u32le length | u32le crc | u8 operation | payload`, the length and the
 * checksum over operation and payload. A file ends where a frame is torn or damaged.
 */

export const OPERATIONS = { put: 1, remove: 2, putKey: 3, removeKey: 4 } as const;
export type Operation = (typeof OPERATIONS)[keyof typeof OPERATIONS];

const HEADER = 8;
const LARGEST_FRAME = HEADER + 1 + LARGEST_RECORD;
const PIECE = 2 ** 22;

export function encodeFrame(operation: Operation, payload: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEADER + 1 + payload.length);
  frame[HEADER] = operation;
  frame.set(payload, HEADER + 1);
  frame.writeUInt32LE(payload.length + 1, 0);
  frame.writeUInt32LE(crc32(frame.subarray(HEADER)), 4);
  return frame;
}

/**
 * Reads frames until the file ends. Synchronous: it runs before anything listens.
 *
 * @param take gets the operation and a view of the payload that is valid during the call
 * @returns bytes of whole frames, and whether the file ended with one
 */
export function readFrames(
  fd: number,
  take: (operation: number, payload: Buffer) => void,
): { bytes: number; whole: boolean } {
  const buffer = Buffer.allocUnsafe(PIECE + LARGEST_FRAME);
  let filled = 0;
  let bytes = 0;
  for (;;) {
    const got = readSync(fd, buffer, filled, PIECE, null);
    filled += got;
    let at = 0;
    while (filled - at >= HEADER) {
      const length = buffer.readUInt32LE(at);
      if (length === 0 || length > LARGEST_FRAME - HEADER) return { bytes, whole: false };
      if (filled - at < HEADER + length) break;
      const body = buffer.subarray(at + HEADER, at + HEADER + length);
      if (crc32(body) !== buffer.readUInt32LE(at + 4)) return { bytes, whole: false };
      take(body[0] ?? 0, body.subarray(1));
      at += HEADER + length;
      bytes += HEADER + length;
    }
    if (got === 0) return { bytes, whole: at === filled };
    buffer.copyWithin(0, at, filled);
    filled -= at;
  }
}
