import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { storedAbove } from '../../clickhouse/inserts/stored-above.ts';
import type { EventLogReader } from '../../core/event-log/port.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { type Intent, type Lane, resetLane } from '../../sql/event-log/lanes.ts';
import type { StreamProgress } from '../../sql/event-log/streams.ts';
import type { WorkerMetrics } from '../metrics.ts';
import type { Retry } from '../retry.ts';
import { type Range, readAgain } from './gather.ts';
import { type Bounds, logBounds } from './place.ts';

export type BeginningDependencies = {
  pool: Pool;
  clickhouse: ClickHouseClient;
  reader: EventLogReader;
  metrics: WorkerMetrics;
  log: Logger;
  retry: Retry;
  signal: AbortSignal;
  patienceMs?: number | undefined;
};

export type Beginning = {
  /** Where to read on, once `replay` is stored. */
  from: bigint;
  /** The range of the intent that a predecessor has left, as the log gives it again. */
  replay: Range | null;
  doubt: Map<number, bigint>;
};

export type BeginningStep = (lane: Lane, streams: readonly StreamProgress[]) => Promise<Beginning>;

/**
 * The step that finds out where a lane that was just taken begins. When the log does not hold that place any more, or not
 * the range of its intent, this is reported, and the row is put where the log goes on before anything else is done:
 * every later write is fenced by it, and freeing goes by it. What is read again there is dropped by its sequence, so
 * the log's start is always safe.
 *
 * An intent that can't be replayed may be stored in part, without its streams' marks saying so. Mostly nobody will ever read
 * those events again, but a shipper that finds a new cluster sends its whole journal anew. So it is kept beside the
 * lane up to where the store has to be asked first.
 */
export function createBeginningStep(dependencies: BeginningDependencies): BeginningStep {
  const { pool, clickhouse, reader, metrics, log, retry, signal } = dependencies;

  /** @returns null when the log does not hold it any more */
  async function replayOf(lane: Lane, intent: Intent, { start, end }: Bounds): Promise<Range | null> {
    if (intent.from < start || intent.to > end) return null;
    const range = await retry('read_intent', () =>
      readAgain(reader, lane.partition, intent.from, intent.to, signal),
    );
    // Another log may hold something else there.
    const isWhole = range.to >= intent.to && tokenOf({ ...range, to: intent.to }) === intent.token;
    return isWhole ? range : null;
  }

  /** Before it is written: an alarm that comes twice is better than one that never comes. */
  function report({ nextOffset, intent }: Lane, { start, end }: Bounds, to: bigint): void {
    metrics.lostRanges.inc({ cause: nextOffset < start ? 'freed' : 'cut' });
    const places = { start: String(start), end: String(end), goesOnFrom: String(to) };
    if (intent) {
      log.error(
        { intent: { from: String(intent.from), to: String(intent.to) }, ...places },
        'the log does not hold the range of an intent, so it can not be replayed: what of it was stored is in ClickHouse, the rest is lost with the log',
      );
    } else {
      log.error(
        { nextOffset: String(nextOffset), ...places },
        'the log does not hold the place where the lane stood: it goes on from the start',
      );
    }
  }

  return async function begin(lane, streams) {
    const { nextOffset, intent, partition } = lane;
    const upTo = intent && intent.to > nextOffset ? intent.to : nextOffset;
    const bounds = await retry('read_log_bounds', () => logBounds(reader, partition, upTo, dependencies));
    const { start, end } = bounds;
    const isHeld = nextOffset >= start && nextOffset <= end;
    const doubt = stillInDoubt(lane, streams);
    if (intent) {
      log.info({ from: String(intent.from), to: String(intent.to) }, 'replaying the range of an intent');
      const replay = await replayOf(lane, intent, bounds);
      if (replay) return { from: replay.to, replay, doubt };
      const stored = await retry('look_up_stored', () => storedAbove(clickhouse, streams));
      for (const [ordinal, newest] of stored) doubt.set(ordinal, newest);
    } else if (isHeld) {
      return { from: nextOffset, replay: null, doubt };
    }
    const to = isHeld ? nextOffset : start;
    const isNew = nextOffset === 0n && lane.epoch === 1;
    if (intent || !isNew) report(lane, bounds, to);
    await retry('reset_lane', () => resetLane(pool, lane, to, doubt));
    return { from: to, replay: null, doubt };
  };
}

function stillInDoubt(lane: Lane, streams: readonly StreamProgress[]): Map<number, bigint> {
  const marks = new Map(streams.map(({ ordinal, highWater }) => [ordinal, highWater]));
  return new Map([...lane.doubt].filter(([ordinal, newest]) => (marks.get(ordinal) ?? -1n) < newest));
}

/**
 * The front of the deduplication tokens of a range. Offsets begin anew with a new log, streams and sequences never
 * do: with them no two ranges ever share a token.
 */
export function tokenOf(range: Range): string {
  const [first] = range.batches;
  return `${range.partition}/${range.from}-${range.to}/${first?.streamId}/${first?.firstSequence}`;
}
