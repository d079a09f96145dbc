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

/** A segment that is being written. */
export type SegmentFile = {
  fd: number;
  start: bigint;
  capacity: number;
  /** Where the next frame goes. Everything before it is frames. */
  position: number;
  /** End of the blocks written so far: frames, and zeros behind them. */
  blocksEnd: number;
};

/** Unit in which file systems read and write. It holds a whole number of smaller blocks. */
const BLOCK_BYTES = 4096;
const ZEROS = Buffer.alloc(BLOCK_BYTES);

/**
 * Bytes of one write while a file is filled with pauses. Larger writes block the system, and other processes on the
 * core, for milliseconds.
 */
const FILL_BYTES = 256 * 1024;
/** Bytes of one write while a file is filled without pauses. */
const HASTY_FILL_BYTES = 1024 * 1024;
/** Bytes filled before each sync, so that clicks that are synced meanwhile wait for no more than this. */
const SYNC_BYTES = 4 * 1024 * 1024;
const CREATE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;

/**
 * Makes a segment file full of zeros, synced, under a name that readers ignore. Its blocks exist and its size never
 * changes, so `fdatasync` leaves the file system's own journal alone (`bench/journal.ts`). A disk that is nearly full
 * fails here, not at a click.
 *
 * Runs off the event loop, and leaves nothing behind when it fails.
 *
 * @param start called when the file is ready; returns where it begins
 * @param rest called after each piece with the filled share, 0 to 1; returns how long to rest, in milliseconds
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
      at = start(); // moved, when the writer could not wait for this file
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

/**
 * Checks the free space.
 *
 * @throws Error when less than `bytes` would be free after a file of `bytes`
 */
async function leaveRoom(directory: string, bytes: number): Promise<void> {
  const free = await freeBytes(directory);
  if (free < 2 * bytes) throw new Error(`only ${free} bytes are free on the disk of ${directory}`);
}

/**
 * Gives a prepared file its segment name. The name need not be synced: after a power cut, a prepared file with frames
 * is adopted as a segment.
 */
export function takePrepared(directory: string, file: SegmentFile): void {
  renameSync(preparedPath(directory, file.start), segmentPath(directory, file.start));
}

/** Makes a segment at once, without allocated blocks, for when writes outrun the preparation. */
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
 * Writes all of `bytes` at the file's position, without moving it. The first write to a block covers the whole block,
 * with the zeros that are there anyway. For a part of a block, the system may have to read it first, and the event
 * loop would wait for the disk.
 *
 * @throws the error of the disk
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

/** Cuts the unused end off and closes the file. */
export function finishSegment(file: SegmentFile): void {
  try {
    ftruncateSync(file.fd, file.position);
  } finally {
    closeSync(file.fd);
  }
}

/** Returns the bytes of a file; 0 when it is gone. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
