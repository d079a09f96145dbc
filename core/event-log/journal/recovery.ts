import { existsSync, mkdirSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../tier/log.ts';
import type { MicrosecondClock } from '../../time/wall-clock.ts';
import type { LogDamage, StreamRecord } from '../port.ts';
import { type EpochFile, type EpochRecord, epochAt, MAX_EPOCH } from './epoch-file.ts';
import { sizeOf } from './segment-file.ts';
import { scanSegment } from './segment-scan.ts';
import {
  DIRECTORY_MODE,
  FILE_MODE,
  listPreparedNow,
  listSegmentsNow,
  type Segment,
  segmentPath,
} from './segments.ts';
import type { FollowedJump } from './stream-clock.ts';

/** Logical offsets that a start leaves out, so that none which a reader has seen can ever be re-used. */
const GAP_BYTES = 64n * 1024n * 1024n;

/** Where a start goes on. */
export type Recovered = {
  epoch: number;
  /** Logical offset of the new segment. */
  start: bigint;
  /** Largest event time so far, microseconds; 0 in a new stream. */
  lastTs: number;
  jump: FollowedJump | null;
  /** Bytes that were torn or damaged, kept in `damage/`. */
  damagedBytes: number;
};

/**
 * Makes a stream's directory ready for a new start:
 *
 * 1. The last segments are read back to one with intact frames. What is behind its last intact frame is a torn
 *    tail (a write that the end of the process or of the power cut in two): it is kept in `damage/` and cut.
 *    Damage between intact frames stays where it is, for the readers to pass over, and is copied there too.
 * 2. The new epoch is the highest that was ever seen plus one, or the one of this time if that is higher, and is synced before
 *    anything is cut. The torn tail's sequences belong to an older epoch: nobody gets them again.
 * 3. The new segment begins beyond every offset that a reader can have seen, lost ones included.
 *
 * A directory that was put back from an older copy, or made anew, knows neither: `record` and the time tell it what others have seen.
 *
 * @throws Error when the epochs are used up, or when the disk refuses even the few bytes of the epoch file
 */
export async function recover(
  directory: string,
  epochFile: EpochFile,
  { now, record, log }: { now: MicrosecondClock; record: StreamRecord; log: Logger },
): Promise<Recovered> {
  adoptPrepared(directory);
  const segments = listSegmentsNow(directory);
  const before: EpochRecord = epochFile.record ?? { epoch: 0, floor: 0n, lastTs: 0 };
  const found = { epoch: before.epoch, lastTs: before.lastTs, damagedBytes: 0 };
  const cuts: { path: string; end: number }[] = [];
  for (const segment of segments.toReversed()) {
    const check = await checkSegment(segment);
    for (const damage of check.damage) setAside(directory, damage, log);
    found.damagedBytes += check.damage.reduce((sum, damage) => sum + damage.bytes.length, 0);
    found.epoch = Math.max(found.epoch, check.lastEpoch);
    found.lastTs = Math.max(found.lastTs, check.lastTs);
    if (check.end < sizeOf(segment.path)) cuts.push({ path: segment.path, end: check.end });
    if (check.end > 0) break;
  }
  const last = segments.at(-1);
  const own = last
    ? max(before.floor, last.start + BigInt(sizeOf(last.path)) + GAP_BYTES)
    : beyond(before.floor);
  const start = max(own, beyond(record.readUpTo));
  const epoch = Math.max(found.epoch + 1, epochOf(record.stored) + 1, epochAt(now()));
  if (epoch > MAX_EPOCH) throw new Error(`journal ${directory} has used up its ${MAX_EPOCH} start epochs`);
  const { jump = null } = before;
  epochFile.write({ epoch, floor: start, lastTs: found.lastTs, jump });
  for (const cut of cuts) truncateSync(cut.path, cut.end);
  return { epoch, start, lastTs: found.lastTs, jump, damagedBytes: found.damagedBytes };
}

/**
 * A prepared file that was taken just before a power cut has lost its new name, but not its frames. One whose segment is
 * there has none: the writer could not wait for it and made that segment itself.
 */
function adoptPrepared(directory: string): void {
  rmSync(join(directory, 'preparing'), { force: true });
  for (const prepared of listPreparedNow(directory)) {
    const segment = segmentPath(directory, prepared.start);
    if (existsSync(segment)) rmSync(prepared.path);
    else renameSync(prepared.path, segment);
  }
}

type SegmentCheck = {
  damage: LogDamage[];
  /** Where its last intact frame ends. */
  end: number;
  lastEpoch: number;
  lastTs: number;
};

async function checkSegment(segment: Segment): Promise<SegmentCheck> {
  const file = await open(segment.path, 'r');
  try {
    return await checkFrames(file, segment.start);
  } finally {
    await file.close();
  }
}

async function checkFrames(file: FileHandle, start: bigint): Promise<SegmentCheck> {
  const check: SegmentCheck = { damage: [], end: 0, lastEpoch: 0, lastTs: 0 };
  let position = 0;
  for (;;) {
    const scan = await scanSegment(file, start, position, {
      sealed: true,
      maxBytes: 4 * 1024 * 1024,
      searchBytes: 0,
    });
    position = scan.position;
    check.damage.push(...scan.damage);
    for (const batch of scan.batches) {
      check.end = Number(batch.nextOffset - start);
      check.lastEpoch = Math.max(check.lastEpoch, epochOf(batch.firstSequence));
      // Not the largest: a stream's time goes back where its clock was set back.
      check.lastTs = batch.maxTs;
    }
    if (scan.ended === 'finished') return check;
  }
}

/** Keeps damaged bytes for whoever wants to look at them. A disk that refuses the copy must not stop a start. */
function setAside(directory: string, damage: LogDamage, log: Logger): void {
  const path = join(directory, 'damage', `${damage.offset}-${damage.nextOffset}.bin`);
  log.error({ path, reason: damage.reason }, 'journal damage set aside');
  try {
    mkdirSync(join(directory, 'damage'), { recursive: true, mode: DIRECTORY_MODE });
    writeFileSync(path, damage.bytes, { mode: FILE_MODE });
  } catch (error) {
    log.error({ err: error, path }, 'damaged bytes could not be copied');
  }
}

/** Where a segment begins when all that is known is that offsets up to this one were seen; 0: none. */
function beyond(offset: bigint): bigint {
  return offset && offset + GAP_BYTES;
}

function epochOf(sequence: bigint): number {
  return Number(sequence >> 40n);
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
