import { closeSync, constants, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { FILE_MODE } from './segments.ts';
import type { ClockCorrection, FollowedJump } from './stream-clock.ts';

/** What a stream needs to know even when its segments are lost. */
export type EpochRecord = {
  /** The start epoch in use: the high 24 bits of every sequence. */
  epoch: number;
  /** Every later segment starts at or above this logical offset. */
  floor: bigint;
  /** Every later event has a time above this. Microseconds. */
  lastTs: number;
  /** The jump of the wall clock that may still be taken back, if there is one. */
  jump?: FollowedJump | null;
  /** The correction of earlier times that the log does not have yet, if there is one. */
  owed?: ClockCorrection | null;
};

/** The largest start epoch. One start a second reaches it after half a year. */
export const MAX_EPOCH = 0xff_ffff;

const FIRST_MINUTE = Date.UTC(2026, 0, 1) / 60_000;

/**
 * Returns the lowest epoch for a start at this time: the minutes since 2026. A directory restored from an older copy
 * has lost the epochs since; their sequences, assigned again to other events, would be dropped as duplicates.
 *
 * It is at most half of all epochs, which a right clock reaches in 2041. Beyond that, each start adds one.
 *
 * @param micros since 1970
 */
export function epochAt(micros: number): number {
  return Math.min(Math.floor(micros / 60_000_000) - FIRST_MINUTE, MAX_EPOCH >> 1);
}

const FILE_NAME = 'epoch';
const MAGIC = 0x31454c48;
const SLOT_BYTES = 512;
const RECORD_BYTES = 36;
// The jump and the correction each have a checksum of their own: a record without them is valid.
const JUMP_AT = 64;
const JUMP_END = JUMP_AT + 28;
const OWED_AT = 96;
const OWED_END = OWED_AT + 44;

type Slot = { serial: number; record: EpochRecord };

/**
 * Stores the record in two slots of one disk sector each, written in turn and in place. A torn write leaves the other
 * slot intact, and a full disk does not prevent a start.
 */
export class EpochFile {
  readonly #fd: number;
  #newest: Slot | null;

  constructor(directory: string) {
    this.#fd = openSync(join(directory, FILE_NAME), constants.O_RDWR | constants.O_CREAT, FILE_MODE);
    const slots = [readSlot(this.#fd, 0), readSlot(this.#fd, 1)].filter((slot) => slot !== null);
    this.#newest = slots.sort((a, b) => b.serial - a.serial)[0] ?? null;
  }

  /** The newest record; null when the file is new or can't be read. */
  get record(): EpochRecord | null {
    return this.#newest?.record ?? null;
  }

  write(record: EpochRecord): void {
    const serial = (this.#newest?.serial ?? 0) + 1;
    const bytes = Buffer.alloc(SLOT_BYTES);
    bytes.writeUInt32LE(MAGIC, 0);
    bytes.writeBigUInt64LE(BigInt(serial), 8);
    bytes.writeUInt32LE(record.epoch, 16);
    bytes.writeBigUInt64LE(record.floor, 20);
    bytes.writeBigUInt64LE(BigInt(record.lastTs), 28);
    bytes.writeUInt32LE(crc32(bytes.subarray(8, RECORD_BYTES)), 4);
    if (record.jump) writeJump(bytes, record.jump);
    if (record.owed) writeOwed(bytes, record.owed);
    writeSync(this.#fd, bytes, 0, SLOT_BYTES, (serial % 2) * SLOT_BYTES);
    fsyncSync(this.#fd);
    this.#newest = { serial, record };
  }

  close(): void {
    closeSync(this.#fd);
  }
}

function readSlot(fd: number, index: number): Slot | null {
  const bytes = Buffer.alloc(SLOT_BYTES);
  const read = readSync(fd, bytes, 0, SLOT_BYTES, index * SLOT_BYTES);
  if (read < RECORD_BYTES || bytes.readUInt32LE(0) !== MAGIC) return null;
  if (bytes.readUInt32LE(4) !== crc32(bytes.subarray(8, RECORD_BYTES))) return null;
  return {
    serial: Number(bytes.readBigUInt64LE(8)),
    record: {
      epoch: bytes.readUInt32LE(16),
      floor: bytes.readBigUInt64LE(20),
      lastTs: Number(bytes.readBigUInt64LE(28)),
      jump: readJump(bytes),
      owed: readOwed(bytes),
    },
  };
}

function writeJump(bytes: Buffer, { sequence, ts, micros }: FollowedJump): void {
  bytes.writeBigUInt64LE(sequence, JUMP_AT + 4);
  bytes.writeBigUInt64LE(BigInt(ts), JUMP_AT + 12);
  bytes.writeBigUInt64LE(BigInt(Math.floor(micros)), JUMP_AT + 20);
  bytes.writeUInt32LE(crc32(bytes.subarray(JUMP_AT + 4, JUMP_END)), JUMP_AT);
}

function readJump(bytes: Buffer): FollowedJump | null {
  const micros = Number(bytes.readBigUInt64LE(JUMP_AT + 20));
  if (micros === 0 || bytes.readUInt32LE(JUMP_AT) !== crc32(bytes.subarray(JUMP_AT + 4, JUMP_END)))
    return null;
  return {
    sequence: bytes.readBigUInt64LE(JUMP_AT + 4),
    ts: Number(bytes.readBigUInt64LE(JUMP_AT + 12)),
    micros,
  };
}

function writeOwed(bytes: Buffer, { first, before, fromTs, toTs, shift }: ClockCorrection): void {
  const numbers = [first, before, BigInt(fromTs), BigInt(toTs), BigInt(shift)];
  for (const [index, number] of numbers.entries()) bytes.writeBigUInt64LE(number, OWED_AT + 4 + 8 * index);
  bytes.writeUInt32LE(crc32(bytes.subarray(OWED_AT + 4, OWED_END)), OWED_AT);
}

function readOwed(bytes: Buffer): ClockCorrection | null {
  const number = (index: number) => bytes.readBigUInt64LE(OWED_AT + 4 + 8 * index);
  const shift = Number(number(4));
  if (shift === 0 || bytes.readUInt32LE(OWED_AT) !== crc32(bytes.subarray(OWED_AT + 4, OWED_END)))
    return null;
  return { first: number(0), before: number(1), fromTs: Number(number(2)), toTs: Number(number(3)), shift };
}
