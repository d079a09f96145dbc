import { readSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { LARGEST_RECORD } from './arena.ts';

/**
 * Changes of the table as bytes, in its files and between threads: `u32le length | u32le crc | u8 operation | payload`,
 * the length and the checksum over operation and payload. Reading ends where a frame is torn or damaged.
 */

export const OPERATIONS = { put: 1, remove: 2, putKey: 3, removeKey: 4, stand: 5 } as const;
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

/** Gets the operation and a view of the payload that is valid during the call. */
export type Take = (operation: number, payload: Buffer) => void;

/**
 * Takes the whole frames at the beginning of `bytes`.
 *
 * @returns bytes of the frames taken, and whether what follows them is no frame
 */
export function takeFrames(bytes: Buffer, take: Take): { taken: number; damaged: boolean } {
  let at = 0;
  while (bytes.length - at >= HEADER) {
    const length = bytes.readUInt32LE(at);
    if (length === 0 || length > LARGEST_FRAME - HEADER) return { taken: at, damaged: true };
    if (bytes.length - at < HEADER + length) break;
    const body = bytes.subarray(at + HEADER, at + HEADER + length);
    if (crc32(body) !== bytes.readUInt32LE(at + 4)) return { taken: at, damaged: true };
    take(body[0] ?? 0, body.subarray(1));
    at += HEADER + length;
  }
  return { taken: at, damaged: false };
}

/**
 * Reads frames until the file ends. Synchronous: it runs before anything listens.
 *
 * @returns bytes of whole frames, and whether the file ended with one
 */
export function readFrames(fd: number, take: Take): { bytes: number; whole: boolean } {
  const buffer = Buffer.allocUnsafe(PIECE + LARGEST_FRAME);
  let filled = 0;
  let bytes = 0;
  for (;;) {
    const got = readSync(fd, buffer, filled, PIECE, null);
    filled += got;
    const { taken, damaged } = takeFrames(buffer.subarray(0, filled), take);
    bytes += taken;
    if (damaged) return { bytes, whole: false };
    if (got === 0) return { bytes, whole: taken === filled };
    buffer.copyWithin(0, taken, filled);
    filled -= taken;
  }
}
