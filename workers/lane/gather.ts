import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLogReader, LogBatch, LogDamage } from '../../core/event-log/port.ts';

/** A piece of a partition: every batch and all damage in `[from, to)`. */
export type Range = {
  partition: string;
  from: bigint;
  to: bigint;
  batches: LogBatch[];
  damage: LogDamage[];
};

export type GatherOptions = {
  /** Stop at this many events; the last batch may go over. */
  maxEvents: number;
  /** How long to wait for the first event. */
  waitMs: number;
  /** How long to let more come once there is one. */
  lingerMs: number;
  /** Resolves when the range before this one is settled: until then there is no hurry. */
  settled: Promise<void>;
  signal: AbortSignal;
};

const READ_BYTES = 4 * 1_048_576;
const AGAIN_WAIT_MS = 200;

/**
 * Takes the next piece of a partition. Returns quickly when little is there and without waiting at all when much
 * is: then decoding overlaps with the insert of the range before.
 *
 * @returns null when nothing came within `waitMs`
 */
export async function gather(
  reader: EventLogReader,
  partition: string,
  from: bigint,
  options: GatherOptions,
): Promise<Range | null> {
  const { maxEvents, waitMs, lingerMs, settled, signal } = options;
  const range: Range = { partition, from, to: from, batches: [], damage: [] };
  let events = await take(reader, range, waitMs, maxEvents, signal);
  if (range.to === from) return null;
  if (events < maxEvents) {
    await sleep(lingerMs, undefined, { signal });
    await settled;
    events += await take(reader, range, 0, maxEvents - events, signal);
  }
  return range;
}

/** Reads until `maxEvents` or the end of what is there. @returns the number of events read */
async function take(
  reader: EventLogReader,
  range: Range,
  waitMs: number,
  maxEvents: number,
  signal: AbortSignal,
): Promise<number> {
  let events = 0;
  for (let wait = waitMs; events < maxEvents; wait = 0) {
    const read = await reader.read(range.partition, range.to, { maxBytes: READ_BYTES, waitMs: wait, signal });
    if (read.nextOffset === range.to) break;
    for (const batch of read.batches) {
      range.batches.push(batch);
      events += batch.count;
    }
    range.damage.push(...read.damage);
    range.to = read.nextOffset;
  }
  return events;
}

/**
 * Reads the range of an intent again. The same batches come back, with one exception: a power cut may have taken
 * the log's unsynced tail, and with it the range's end. Then the range ends where the log does. That nothing comes
 * at once means nothing: a log on the network has to be asked where it ends.
 */
export async function readAgain(
  reader: EventLogReader,
  partition: string,
  from: bigint,
  to: bigint,
  signal: AbortSignal,
): Promise<Range> {
  const range: Range = { partition, from, to: from, batches: [], damage: [] };
  for (let at = from; at < to; ) {
    signal.throwIfAborted();
    const read = await reader.read(partition, at, { maxBytes: READ_BYTES, waitMs: AGAIN_WAIT_MS, signal });
    if (read.nextOffset <= at) {
      if ((await reader.end(partition)) <= at) break;
      continue;
    }
    const batches = read.batches.filter((batch) => batch.offset < to);
    const damage = read.damage.filter((piece) => piece.offset < to);
    range.batches.push(...batches);
    range.damage.push(...damage);
    for (const piece of [...batches, ...damage]) {
      if (piece.nextOffset > range.to) range.to = piece.nextOffset;
    }
    at = read.nextOffset;
  }
  return range;
}
