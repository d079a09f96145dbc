import { crc32 } from 'node:zlib';
import { LARGEST_RECORD } from './arena.ts';

/**
 * Changes of the table as bytes, sent between threads: `u32le length | u32le crc | u8 operation | payload`. Length and
 * checksum cover operation and payload.
 */

export const OPERATIONS = { put: 1, remove: 2, putKey: 3, removeKey: 4, beginLoad: 5, endLoad: 6 } as const;
export type Operation = (typeof OPERATIONS)[keyof typeof OPERATIONS];

const HEADER = 8;
const LARGEST_FRAME = HEADER + 1 + LARGEST_RECORD;

/** Returns an operation and its payload as one frame. */
export function encodeFrame(operation: Operation, payload: Uint8Array = new Uint8Array()): Buffer {
  const frame = Buffer.allocUnsafe(HEADER + 1 + payload.length);
  frame[HEADER] = operation;
  frame.set(payload, HEADER + 1);
  frame.writeUInt32LE(payload.length + 1, 0);
  frame.writeUInt32LE(crc32(frame.subarray(HEADER)), 4);
  return frame;
}

/** Receives an operation and a view of its payload, which is valid during the call. */
export type FrameHandler = (operation: number, payload: Buffer) => void;

/**
 * Passes each frame of `bytes` to the handler.
 *
 * @throws {RangeError} when `bytes` is not a whole number of intact frames
 */
export function decodeFrames(bytes: Buffer, handle: FrameHandler): void {
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.length - at < HEADER ? 0 : bytes.readUInt32LE(at);
    const body = bytes.subarray(at + HEADER, at + HEADER + length);
    if (length === 0 || length > LARGEST_FRAME - HEADER || body.length < length) {
      throw new RangeError(`a frame of ${length} bytes at ${at} of ${bytes.length}`);
    }
    if (crc32(body) !== bytes.readUInt32LE(at + 4))
      throw new RangeError(`wrong checksum of the frame at ${at}`);
    handle(body[0] ?? 0, body.subarray(1));
    at += HEADER + length;
  }
}
