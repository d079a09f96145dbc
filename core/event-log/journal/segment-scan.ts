import type { LogBatch, LogDamage } from '../port.ts';
import { FRAME_HEADER_BYTES, findFrame, frameAt, MAX_PAYLOAD_BYTES } from './frame.ts';

/** Bytes of a scan's first read. */
export const FIRST_CHUNK_BYTES = 16 * 1024;
const LARGEST_CHUNK_BYTES = 1024 * 1024;
/**
 * Growth of the chunks of one scan. Most scans read a fraction of a second of clicks, and a chunk that is much larger
 * than these only fills memory outside the heap, for which V8 collects the whole heap.
 */
const CHUNK_GROWTH = 4;
const LARGEST_FRAME_BYTES = FRAME_HEADER_BYTES + MAX_PAYLOAD_BYTES;
/** Largest window of a search: it holds each frame that begins in its first half as a whole. */
const LARGEST_WINDOW_BYTES = 2 * LARGEST_FRAME_BYTES;

/** Largest piece of damage, so that each fits into a dead letter. */
const DAMAGE_PIECE_BYTES = 512 * 1024;

/** How far behind damage a search for the next frame goes in a segment that is still written. */
export const LIVE_SEARCH_BYTES = 2 * LARGEST_FRAME_BYTES;

/** Reads from a segment like a file handle of Node.js, but synchronously where that does not wait for a disk. */
export type SegmentBytes = {
  read(buffer: Buffer, offset: number, length: number, position: number): Read | Promise<Read>;
};
type Read = { bytesRead: number };

export type ScanOptions = {
  /** No frame will follow in this segment: bytes behind the last one are damage. */
  sealed: boolean;
  /** Stops after about this many bytes of batches and damage, but returns at least one of them. */
  maxBytes: number;
  /** Bytes to search for a frame behind a position without one, in an unsealed segment; 0: only wait. */
  searchBytes: number;
  /** Allocates the memory for batches. By default each scan gets new memory. */
  memory?: (bytes: number) => Buffer;
};

/** `more`: stopped by `maxBytes`. `wait`: nothing further yet. `finished`: the end of a sealed segment. */
export type SegmentScan = {
  batches: LogBatch[];
  damage: LogDamage[];
  position: number;
  ended: 'more' | 'wait' | 'finished';
};

/**
 * Reads the frames of one segment from `from` on. A position without an intact frame is waited at while it may still
 * be written. It is skipped as damage once an intact frame follows it or the segment is sealed.
 *
 * @param start logical offset of the segment
 * @param from position in the file
 */
export async function scanSegment(
  file: SegmentBytes,
  start: bigint,
  from: number,
  options: ScanOptions,
): Promise<SegmentScan> {
  const batches: LogBatch[] = [];
  const damage: LogDamage[] = [];
  let position = from;
  const { memory = Buffer.allocUnsafeSlow } = options;
  let chunkBytes = FIRST_CHUNK_BYTES;
  const scanned = (ended: SegmentScan['ended']): SegmentScan => ({ batches, damage, position, ended });
  while (position - from < options.maxBytes) {
    const chunk = await readInto(file, memory(chunkBytes), position);
    const offset = start + BigInt(position);
    let at = 0;
    let found = frameAt(chunk, at, offset);
    while (found.kind === 'frame') {
      batches.push(found.batch);
      at = found.end;
      if (position + at - from >= options.maxBytes) break;
      found = frameAt(chunk, at, offset + BigInt(at));
    }
    position += at;
    if (found.kind === 'frame') break;
    const wholeChunk = chunk.length === chunkBytes;
    if (wholeChunk && (found.kind === 'short' || at === chunk.length)) {
      chunkBytes = Math.max(Math.min(chunkBytes * CHUNK_GROWTH, LARGEST_CHUNK_BYTES), neededBytes(found));
      continue;
    }
    const limit = options.sealed ? Number.POSITIVE_INFINITY : options.searchBytes;
    const next = await searchFrame(file, start, position, limit);
    if (next < 0 && !options.sealed) return scanned('wait');
    if (next >= 0 && (await holdsFrame(file, start, position))) continue; // the writer completed it meanwhile
    const end = next >= 0 ? next : await endOfBytes(file, position);
    const reached = await readDamage(file, start, position, end, options.maxBytes, damage);
    if (next < 0 && reached === end) {
      position = end;
      return scanned('finished');
    }
    position = reached;
  }
  return scanned('more');
}

function neededBytes(found: { kind: string; needed?: number }): number {
  return found.needed ?? 0;
}

function readChunk(file: SegmentBytes, position: number, bytes: number): Promise<Buffer> {
  return readInto(file, Buffer.allocUnsafeSlow(bytes), position);
}

async function readInto(file: SegmentBytes, chunk: Buffer, position: number): Promise<Buffer> {
  const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
  return chunk.subarray(0, bytesRead);
}

async function holdsFrame(file: SegmentBytes, start: bigint, position: number): Promise<boolean> {
  for (const bytes of [FIRST_CHUNK_BYTES, LARGEST_FRAME_BYTES]) {
    const chunk = await readChunk(file, position, bytes);
    if (frameAt(chunk, 0, start + BigInt(position)).kind === 'frame') return true;
    if (chunk.length < bytes) return false;
  }
  return false;
}

async function searchFrame(
  file: SegmentBytes,
  start: bigint,
  position: number,
  limit: number,
): Promise<number> {
  // The first window is small: most segments end, or continue, close to the damage.
  let bytes = FIRST_CHUNK_BYTES;
  for (let from = position + 1; from - position <= limit; ) {
    const window = await readChunk(file, from, bytes);
    const found = findFrame(window, 0, start + BigInt(from));
    if (found >= 0) return from + found;
    if (window.length < bytes) return -1;
    if (bytes === LARGEST_WINDOW_BYTES) from += LARGEST_FRAME_BYTES;
    bytes = Math.min(bytes * 8, LARGEST_WINDOW_BYTES);
  }
  return -1;
}

/** Returns the end of the bytes that are not zero, from `position` on. What follows was never written. */
async function endOfBytes(file: SegmentBytes, position: number): Promise<number> {
  let end = position;
  let bytes = FIRST_CHUNK_BYTES;
  for (let from = position; ; ) {
    const chunk = await readChunk(file, from, bytes);
    for (let i = chunk.length - 1; i >= 0; i--) {
      if (chunk[i] !== 0) {
        end = from + i + 1;
        break;
      }
    }
    if (chunk.length < bytes) return end;
    from += bytes;
    bytes = Math.min(bytes * 8, LARGEST_CHUNK_BYTES);
  }
}

/**
 * Adds the bytes from `position` to `end` as damage, in pieces of at most `maxBytes` in all.
 *
 * @returns where it stopped
 */
async function readDamage(
  file: SegmentBytes,
  start: bigint,
  position: number,
  end: number,
  maxBytes: number,
  damage: LogDamage[],
): Promise<number> {
  let at = position;
  while (at < end && at - position < maxBytes) {
    const bytes = await readChunk(file, at, Math.min(DAMAGE_PIECE_BYTES, end - at));
    const offset = start + BigInt(at);
    at = Math.min(at + DAMAGE_PIECE_BYTES, end);
    damage.push({
      offset,
      nextOffset: start + BigInt(at),
      reason: `bytes ${position} to ${end} of segment ${start} are not an intact batch`,
      bytes,
    });
  }
  return at;
}
