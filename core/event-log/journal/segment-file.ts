import {
  closeSync,
  constants,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
  writevSync,
} from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freeBytes } from '../../tier/free-bytes.ts';
import { FILE_MODE, preparedPath, segmentPath } from './segments.ts';
import { syncDirectory, syncDirectoryNow } from './sync-directory.ts';

/** A segment while it is written. */
export type SegmentFile = {
  fd: number;
  /** Logical offset of its first byte. */
  start: bigint;
  /** Bytes it may hold. */
  capacity: number;
  /** Where the next frame goes: all before it is frames. */
  position: number;
  /** Up to here whole blocks have been written: frames, and zeros behind them. */
  blocksEnd: number;
};

/** What file systems read and write at once; a smaller block of theirs goes into it. */
const BLOCK_BYTES = 4096;
const ZEROS = Buffer.alloc(BLOCK_BYTES);

/**
 * Written at once while a file is filled with rests: more would keep the system, and so whoever shares its core, for
 * milliseconds.
 */
const FILL_BYTES = 256 * 1024;
/** Written at once while it is filled as fast as can be. */
const HASTY_FILL_BYTES = 1024 * 1024;
/** So much is filled before it is synced, so that clicks that are synced meanwhile wait for no more than that. */
const SYNC_BYTES = 4 * 1024 * 1024;
const CREATE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;

/**
 * Makes a segment file full of zeros, synced, under a name that no reader looks at. Because its blocks are
 * there and its size never changes, `fdatasync` need not touch the file system's own journal: medians of 0.1 to
 * 0.2 ms instead of 0.2 to 3.8 ms in a growing file (`bench/journal.ts`, runs on a busy machine). And a disk that
 * is getting full shows now, not at a click.
 *
 * Runs off the event loop. On failure nothing is left behind. A disk that is nearly full is left to the clicks.
 *
 * @param start called when the file is ready: where it will begin
 * @param rest called after each piece with the share of the file that is filled, 0 to 1: how long to rest, milliseconds
 * @returns the file, still under its prepared name
 */
export async function prepareSegment(
  directory: string,
  capacity: number,
  start: () => bigint,
  rest: (filled: number) => number = () => 0,
): Promise<SegmentFile> {
  await leaveRoom(directory, capacity);
  let name = join(directory, 'preparing');
  rmSync(name, { force: true });
  try {
    const handle = await open(name, CREATE, FILE_MODE);
    try {
      await fill(handle, capacity, rest);
      await handle.sync();
    } finally {
      await handle.close();
    }
    let at = start();
    while (name !== preparedPath(directory, at)) {
      await rename(name, preparedPath(directory, at));
      name = preparedPath(directory, at);
      await syncDirectory(directory);
      at = start(); // moved on when the writer could not wait for this file
    }
    return { fd: openSync(name, 'r+'), start: at, capacity, position: 0, blocksEnd: 0 };
  } catch (error) {
    rmSync(name, { force: true });
    throw error;
  }
}

async function fill(handle: FileHandle, capacity: number, rest: (filled: number) => number): Promise<void> {
  const zeros = Buffer.alloc(Math.min(HASTY_FILL_BYTES, capacity));
  let unsynced = 0;
  for (let at = 0, ms = rest(0); at < capacity; ms = rest(at / capacity)) {
    if (ms > 0) await delay(ms);
    const piece = Math.min(ms > 0 ? FILL_BYTES : zeros.length, capacity - at);
    await handle.write(zeros, 0, piece, at);
    at += piece;
    unsynced += piece;
    if (ms === 0 || unsynced < SYNC_BYTES) continue;
    await handle.datasync();
    unsynced = 0;
  }
}

/** @throws Error when a file of `bytes` would leave less than as much again */
async function leaveRoom(directory: string, bytes: number): Promise<void> {
  const free = await freeBytes(directory);
  if (free < 2 * bytes) throw new Error(`${free} bytes free on the disk of ${directory}`);
}

/**
 * Gives a prepared file its segment name. The name need not be synced: after a power cut a prepared file with
 * frames in it is taken for the segment that it was.
 */
export function takePrepared(directory: string, file: SegmentFile): void {
  renameSync(preparedPath(directory, file.start), segmentPath(directory, file.start));
}

/** Makes a segment at once, without blocks of its own, for when clicks outrun the preparing. */
export function sparseSegment(directory: string, start: bigint, capacity: number): SegmentFile {
  const path = segmentPath(directory, start);
  const fd = openSync(path, CREATE, FILE_MODE);
  try {
    ftruncateSync(fd, capacity);
    fsyncSync(fd);
    syncDirectoryNow(directory);
  } catch (error) {
    closeSync(fd);
    rmSync(path, { force: true });
    throw error;
  }
  return { fd, start, capacity, position: 0, blocksEnd: 0 };
}

/**
 * Writes all of `bytes` at the file's position, without moving it. A block that they are the first in is written whole, with
 * the zeros that stand there anyway: for a part of one, the system would have to read it first where it has given its memory
 * to others since the file was made, and the event loop would wait for the disk.
 *
 * @throws what the disk says
 */
export function writeFrame(file: SegmentFile, bytes: Uint8Array): void {
  const end = file.position + bytes.length;
  let written = 0;
  if (end > file.blocksEnd) {
    const blocksEnd = Math.min(Math.ceil(end / BLOCK_BYTES) * BLOCK_BYTES, file.capacity);
    const zeros = ZEROS.subarray(0, blocksEnd - end);
    written = writevSync(file.fd, [bytes, zeros], file.position);
    if (written === bytes.length + zeros.length) file.blocksEnd = blocksEnd;
  }
  while (written < bytes.length) {
    written += writeSync(file.fd, bytes, written, bytes.length - written, file.position + written);
  }
}

/** Cuts the unused end off and closes. */
export function finishSegment(file: SegmentFile): void {
  try {
    ftruncateSync(file.fd, file.position);
  } finally {
    closeSync(file.fd);
  }
}

/** Bytes of a file, or 0 when it is gone. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
