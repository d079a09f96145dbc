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
  missingIsNull,
  type Segment,
  segmentPath,
} from './segments.ts';
import { type ClockCorrection, correctedTime, type FollowedJump } from './stream-clock.ts';

/** Logical offsets that a start skips, so that none that a reader has seen is reused. */
const GAP_BYTES = 64n * 1024n * 1024n;
/**
 * Offsets that a start adds for each minute of the clock while PostgreSQL does not respond: a gigabyte a second. At
 * most 2^59 in all.
 */
const BYTES_A_MINUTE = 64n * 1024n * 1024n * 1024n;

/** Where a start continues. */
export type Recovered = {
  epoch: number;
  start: bigint;
  /** Largest event time so far, in microseconds; 0 in a new stream. */
  lastTs: number;
  jump: FollowedJump | null;
  /** The correction that the log does not have yet. */
  owed: ClockCorrection | null;
  /** Torn or damaged bytes, copied to `damage/`. */
  damagedBytes: number;
};

/**
 * Prepares a stream's directory for a new start:
 *
 * 1. Reads the last segments back to one with intact frames. What follows the last intact frame is a torn tail, a write
 *    cut by a crash or a power cut; it is copied to `damage/` and cut. Damage between intact frames is copied too and
 *    stays, for readers to skip.
 *
 * 2. Takes the highest epoch ever seen plus one, or that of this time if it is higher, and syncs it before anything is
 *    cut. The sequences of the torn tail belong to an older epoch and are never reused.
 *
 * 3. Syncs the segments: a killed process did not.
 *
 * 4. Begins the new segment beyond every offset that a reader can have seen, lost ones included.
 *
 * A new or restored directory knows neither the epoch nor the offset: `record`, or else the time, supplies both.
 * `record` also supplies the newest time of what was lost.
 *
 * @throws Error when the epochs are used up, or when the disk rejects even the epoch file
 */
export async function recover(
  directory: string,
  epochFile: EpochFile,
  { now, record, log }: { now: MicrosecondClock; record: StreamRecord; log: Logger },
): Promise<Recovered> {
  adoptPrepared(directory);
  const segments = listSegmentsNow(directory);
  const before: EpochRecord = epochFile.record ?? { epoch: 0, floor: 0n, lastTs: 0 };
  const found = { epoch: before.epoch, lastTs: before.lastTs, lastSequence: -1n, damagedBytes: 0 };
  const cuts: { path: string; end: number }[] = [];
  for (const segment of segments.toReversed()) {
    const check = await checkSegment(segment);
    for (const damage of check.damage) copyDamage(directory, damage, log);
    found.damagedBytes += check.damage.reduce((sum, damage) => sum + damage.bytes.length, 0);
    found.epoch = Math.max(found.epoch, check.lastEpoch);
    found.lastTs = Math.max(found.lastTs, lastTimeOf(check, before.owed));
    found.lastSequence = max(found.lastSequence, check.lastSequence);
    if (check.end < sizeOf(segment.path)) cuts.push({ path: segment.path, end: check.end });
    if (check.end > 0) break;
  }
  for (const segment of segments) await syncSegment(segment, log);
  const last = segments.at(-1);
  const own = last
    ? max(before.floor, last.start + BigInt(sizeOf(last.path)) + GAP_BYTES)
    : beyond(before.floor);
  const others = record.state === null ? unseenAt(now(), own) : 0n;
  const start = [own, others, beyond(record.readUpTo)].reduce(max);
  const epoch = Math.max(found.epoch + 1, epochOf(record.stored) + 1, epochAt(now()));
  if (epoch > MAX_EPOCH) throw new Error(`journal ${directory} has used up its ${MAX_EPOCH} start epochs`);
  const { jump = null, owed = null } = before;
  const lastTs = Math.max(found.lastTs, newestOfLost(record, found.lastSequence));
  epochFile.write({ epoch, floor: start, lastTs, jump, owed });
  for (const { path, end } of cuts) if (existsSync(path)) truncateSync(path, end);
  return { epoch, start, lastTs, jump, owed, damagedBytes: found.damagedBytes };
}

/** Returns the stream's last time, corrected even where the correction is not in the log yet. */
function lastTimeOf({ lastSequence: sequence, lastTs: ts }: SegmentCheck, owed?: ClockCorrection | null) {
  return owed ? correctedTime(owed, { sequence, ts }) : ts;
}

/**
 * Returns the time of the newest event that workers have stored and the journal has lost, such as a heartbeat lost in a
 * power cut; 0 when there is none. The watermark may have passed it, so a clock that is behind must not start before
 * it.
 */
function newestOfLost({ state, stored, visibleBefore }: StreamRecord, lastSequence: bigint): number {
  return state === 'active' && stored > lastSequence ? Math.max(0, visibleBefore - 1) : 0;
}

/**
 * Restores prepared files that were renamed just before a power cut: the rename is lost, the frames are not. A prepared
 * file whose segment exists has no frames: the writer made that segment without waiting for the file.
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
  end: number;
  lastEpoch: number;
  lastTs: number;
  lastSequence: bigint;
};

/**
 * Syncs what a killed process wrote and did not sync. Its responses were sent, so a power cut soon after the start must
 * not lose the clicks.
 */
async function syncSegment({ path }: Segment, log: Logger): Promise<void> {
  const file = await open(path, 'r').catch(missingIsNull);
  try {
    await file?.datasync();
  } catch (error) {
    log.warn({ err: error, path }, 'failed to sync a recovered segment; continuing');
  } finally {
    await file?.close();
  }
}

/** Checks a segment. A worker may truncate the log meanwhile: a segment that is gone has nothing. */
async function checkSegment(segment: Segment): Promise<SegmentCheck> {
  const file = await open(segment.path, 'r').catch(missingIsNull);
  if (!file) return nothingFound();
  try {
    return await checkFrames(file, segment.start);
  } finally {
    await file.close();
  }
}

function nothingFound(): SegmentCheck {
  return { damage: [], end: 0, lastEpoch: 0, lastTs: 0, lastSequence: -1n };
}

async function checkFrames(file: FileHandle, start: bigint): Promise<SegmentCheck> {
  const check = nothingFound();
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
      check.lastSequence = batch.firstSequence + BigInt(batch.count - 1);
    }
    if (scan.ended === 'finished') return check;
  }
}

/** Copies damaged bytes for inspection. A failed copy does not stop the start. */
function copyDamage(directory: string, damage: LogDamage, log: Logger): void {
  const path = join(directory, 'damage', `${damage.offset}-${damage.nextOffset}.bin`);
  log.error(
    { path, reason: damage.reason },
    'the journal is damaged; copying the damaged bytes and continuing',
  );
  try {
    mkdirSync(join(directory, 'damage'), { recursive: true, mode: DIRECTORY_MODE });
    writeFileSync(path, damage.bytes, { mode: FILE_MODE });
  } catch (error) {
    log.error({ err: error, path }, 'failed to copy the damaged bytes of the journal; continuing');
  }
}

/** Returns the start of a segment when only `offset` is known to have been seen; 0 when none was. */
function beyond(offset: bigint): bigint {
  return offset && offset + GAP_BYTES;
}

/**
 * Returns an offset beyond every one that a reader can have seen while PostgreSQL does not respond: a copy that was
 * restored does not know how far the journal was. Grows by the minute, faster than a disk writes.
 *
 * @param own what the directory knows; 0: a new stream
 */
function unseenAt(micros: number, own: bigint): bigint {
  return own && BigInt(epochAt(micros)) * BYTES_A_MINUTE;
}

function epochOf(sequence: bigint): number {
  return Number(sequence >> 40n);
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
