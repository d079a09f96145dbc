import type { EventLogReader } from '../../core/event-log/port.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { type Intent, type Lane, resetLane } from '../../sql/event-log/lanes.ts';
import type { WorkerMetrics } from '../metrics.ts';
import type { Retry } from '../retry.ts';
import { type Range, readAgain } from './poll-batch.ts';
import { type Bounds, logBounds } from './position.ts';

export type ResumeDependencies = {
  pool: Pool;
  reader: EventLogReader;
  metrics: WorkerMetrics;
  log: Logger;
  retry: Retry;
  signal: AbortSignal;
  /** Called before the lane's row is reset. */
  onReset: () => Promise<void>;
  patienceMs?: number | undefined;
};

export type ResumePoint = {
  /** The offset to read from, once `replay` is stored. */
  from: bigint;
  /** The range of the predecessor's intent, as read again. */
  replay: Range | null;
};

export type ResumeStep = (lane: Lane) => Promise<ResumePoint>;

/**
 * Creates the step that finds the offset from which a lane resumes. When the log no longer holds that offset, or the
 * range of the intent, it reports this and resets the lane's row to the log's start before anything else: every later
 * write is fenced by the row. Events that are read twice are dropped by their sequences, so the log's start is always
 * safe.
 */
export function createResumeStep(dependencies: ResumeDependencies): ResumeStep {
  const { pool, reader, metrics, log, retry, signal, onReset } = dependencies;

  /** @returns null when the log no longer holds the range */
  async function replayOf(lane: Lane, intent: Intent, { start, end }: Bounds): Promise<Range | null> {
    if (intent.from < start || intent.to > end) return null;
    const range = await retry('read_intent', () =>
      readAgain(reader, lane.partition, intent.from, intent.to, signal),
    );
    // Another log may hold other events at these offsets.
    const isWhole = range.to >= intent.to && tokenOf({ ...range, to: intent.to }) === intent.token;
    return isWhole ? range : null;
  }

  /** Called before the row is reset: an alert twice is better than none. */
  function report({ nextOffset, intent }: Lane, { start, end }: Bounds, to: bigint): void {
    metrics.lostRanges.inc({ cause: nextOffset < start ? 'freed' : 'cut' });
    const offsets = { start: String(start), end: String(end), resumesFrom: String(to) };
    if (intent) {
      log.error(
        { intent: { from: String(intent.from), to: String(intent.to) }, ...offsets },
        'the log no longer holds the range of an intent; its events that are not in ClickHouse are lost',
      );
    } else {
      log.error(
        { nextOffset: String(nextOffset), ...offsets },
        "the log no longer holds the lane's offset; resuming from the log's start",
      );
    }
  }

  return async function resume(lane) {
    const { nextOffset, intent, partition } = lane;
    const upTo = intent && intent.to > nextOffset ? intent.to : nextOffset;
    const bounds = await retry('read_log_bounds', () => logBounds(reader, partition, upTo, dependencies));
    const { start, end } = bounds;
    const isHeld = nextOffset >= start && nextOffset <= end;
    if (intent) {
      log.info({ from: String(intent.from), to: String(intent.to) }, 'replaying an intent');
      const replay = await replayOf(lane, intent, bounds);
      if (replay) return { from: replay.to, replay };
    } else if (isHeld) {
      return { from: nextOffset, replay: null };
    }
    const to = isHeld ? nextOffset : start;
    const isNew = nextOffset === 0n && lane.epoch === 1;
    if (intent || !isNew) report(lane, bounds, to);
    await onReset();
    await retry('reset_lane', () => resetLane(pool, lane, to));
    return { from: to, replay: null };
  };
}

/**
 * Returns the prefix of a range's deduplication tokens. A new log starts its offsets again, so stream and sequence are
 * in it too: no two ranges share a token.
 */
export function tokenOf(range: Range): string {
  const [first] = range.batches;
  return `${range.partition}/${range.from}-${range.to}/${first?.streamId}/${first?.firstSequence}`;
}
