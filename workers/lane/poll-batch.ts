import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLogReader, LogBatch, LogDamage } from '../../core/event-log/port.ts';
import { hasOnlyHeartbeats } from '../../core/events/codec.ts';
import type { IdleLanes } from './idle-lanes.ts';

/** A range of a partition: every batch and all damage in `[from, to)`. */
export type Range = {
  partition: string;
  from: bigint;
  to: bigint;
  batches: LogBatch[];
  damage: LogDamage[];
};

export type PollOptions = {
  /** Stops at this many events; the last batch may exceed it. */
  maxEvents: number;
  /** Time to wait for the first event. */
  waitMs: number;
  /** Returns the time to wait for more. Called once there is an event. */
  lingerMs: () => number;
  /** Resolves when the previous range is stored; until then there is time to wait for more. */
  settled: Promise<void>;
  /** While it is quiet, heartbeats are gathered. Left out: they are returned like other events. */
  quiet?: IdleLanes;
  signal: AbortSignal;
};

const READ_BYTES = 4 * 1_048_576;
const AGAIN_WAIT_MS = 200;

/**
 * Polls the next batch of events from a partition. With `maxEvents` in the log it does not wait at all.
 *
 * @returns null when nothing came within `waitMs`
 */
export async function pollBatch(
  reader: EventLogReader,
  partition: string,
  from: bigint,
  options: PollOptions,
): Promise<Range | null> {
  const { maxEvents, waitMs, lingerMs, settled, quiet, signal } = options;
  const range: Range = { partition, from, to: from, batches: [], damage: [] };
  const isQuiet = quiet?.isQuiet() ?? false;
  let events = await readUpTo(reader, range, { waitMs, maxEvents, isQuiet, signal });
  if (range.to === from) return null;
  if (quiet)
    events += await gatherHeartbeats(reader, range, { maxEvents: maxEvents - events, quiet, signal });
  if (events < maxEvents) {
    await sleep(lingerMs(), undefined, { signal });
    await settled;
    events += await readUpTo(reader, range, { waitMs: 0, maxEvents: maxEvents - events, signal });
  }
  return range;
}

/**
 * Reads on while it is quiet and nothing but heartbeats comes, until lanes store their progress. The first other event
 * ends the quiet.
 *
 * @returns the number of events
 */
async function gatherHeartbeats(
  reader: EventLogReader,
  range: Range,
  { maxEvents, quiet, signal }: { maxEvents: number; quiet: IdleLanes; signal: AbortSignal },
): Promise<number> {
  const until = performance.now() + quiet.untilStoreMs();
  let events = 0;
  for (let checked = 0; ; ) {
    if (range.damage.length > 0 || !range.batches.slice(checked).every(hasOnlyHeartbeats)) {
      quiet.end();
      return events;
    }
    checked = range.batches.length;
    const waitMs = until - performance.now();
    if (waitMs <= 0 || events >= maxEvents || !quiet.isQuiet()) return events;
    signal.throwIfAborted();
    events += await readUpTo(reader, range, { waitMs, maxEvents: maxEvents - events, isQuiet: true, signal });
  }
}

/** Reads up to `maxEvents` or the log's end. @returns the number of events */
async function readUpTo(
  reader: EventLogReader,
  range: Range,
  options: { waitMs: number; maxEvents: number; isQuiet?: boolean; signal: AbortSignal },
): Promise<number> {
  const { maxEvents, isQuiet = false, signal } = options;
  let events = 0;
  for (let waitMs = options.waitMs; events < maxEvents; waitMs = 0) {
    const read = await reader.read(range.partition, range.to, {
      maxBytes: READ_BYTES,
      waitMs,
      isQuiet,
      signal,
    });
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
 * Reads the range of an intent again: the same batches, or fewer where a power cut has taken the log's unsynced tail.
 * An empty read is not the log's end, because a log on the network may be slow.
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
