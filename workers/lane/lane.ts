import { setTimeout as sleep } from 'node:timers/promises';
import { isRefusal } from '../../clickhouse/inserts/refusal.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import type { Enricher } from '../../core/enrich/enrich.ts';
import type { EventLogReader } from '../../core/event-log/port.ts';
import { linkSignals } from '../../core/tier/linked-signal.ts';
import type { Logger } from '../../core/tier/log.ts';
import { inSpan, NO_TRACING, type Tracing } from '../../core/tier/tracing.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { storeCounts } from '../../sql/event-log/counted-clicks.ts';
import { commitIntent, type Lane, LaneLost, LaneMoved } from '../../sql/event-log/lanes.ts';
import { readStreams, type StreamProgress } from '../../sql/event-log/streams.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { untilNextTick } from '../next-tick.ts';
import { createRetry } from '../retry.ts';
import { createAdvanceStep } from './advance.ts';
import { uncertainHours } from './counted-clicks.ts';
import { withoutErased } from './erased.ts';
import type { IdleLanes } from './idle-lanes.ts';
import { createLaneReplicas } from './lane-replicas.ts';
import type { Lease } from './leases.ts';
import type { Pace } from './pace.ts';
import { pollBatch, type Range } from './poll-batch.ts';
import { assertForward, createEndWatch } from './position.ts';
import { createPrepareStep, type Decode, type Prepared } from './prepare.ts';
import { encoded, type Ready } from './replica-store.ts';
import { createResumeStep, tokenOf } from './resume.ts';
import { createTruncation } from './truncate.ts';

/**
 * A lane stores one partition of the event log, each event once. Its states, and what a crash in each of them leaves
 * behind:
 *
 *     ┌──(the log no longer holds the offset, or the intent)──▶ reset ─┐
 *   taken ──(intent found)──▶ replaying ─┐                            │
 *     └────────────▶ reading ◀───────────┴──────────────────┬─────────┘
 *                      │ range [from, to)                    │
 *                      ▼                                     │
 *                   prepared   nothing is written: the range is read again
 *                      │ commit intent {from, to, token}     │
 *                      ▼                                     │
 *                   intended   the successor replays exactly this range
 *                      │ insert block by block               │
 *                      ▼                                     │
 *                   inserted   the successor looks up the rows by sequence and leaves them out
 *                      │ one transaction: offset, streams, orders, identities, leases, dead letters
 *                      ▼                                     │
 *                   advanced ────────────────────────────────┘
 *
 * Every write in PostgreSQL names the lane's epoch, so a holder that was wrongly taken for dead changes nothing. Its
 * late inserts into ClickHouse have the same tokens as the successor's. Once its lease has expired, it sends nothing
 * before it has renewed the lease. While one range is being stored, the next one is read and prepared.
 *
 * The README has the replicas: those in step share each range, the others catch up alone.
 */
export type LaneDependencies = {
  pool: Pool;
  /** The replicas of ClickHouse that this process knows. */
  replicas: readonly Replica[];
  reader: EventLogReader;
  decode: Decode;
  enricher: Enricher;
  pace: Pace;
  /** Shared by all lanes of the process. Left out: progress is stored at once. */
  quiet?: IdleLanes;
  metrics: WorkerMetrics;
  log: Logger;
  /** Left out: nothing is traced. */
  tracing?: Tracing;
  /** Called when orders of the lane were stored, in PostgreSQL. */
  onOrdersStored?: () => void;
  /** For tests: how long the log may end before the lane's offset, milliseconds. */
  patienceMs?: number | undefined;
  /** For tests: called at each state, and after each block. */
  onState?: (state: LaneState, lane: Lane) => void | Promise<void>;
};

export type LaneState = 'prepared' | 'intended' | 'block_inserted' | 'inserted' | 'advanced';

export type LaneControl = {
  /** Ends the lane at once; its reason is {@link LaneLost} when another worker has taken the lane. */
  signal: AbortSignal;
  /** Ends the lane when it has stored what the log holds at that moment. */
  drain: AbortSignal;
  /** Ends the lane when what it has read is stored; another worker continues. */
  release: AbortSignal;
  lease: Lease;
};

const LANE_DEFAULTS = {
  maxEvents: 50_000,
  waitMs: 500,
  quietWaitMs: 5_000,
  drainWaitMs: 50,
  /** Interval in which the log is truncated and its end is checked; the longer one while it is quiet. */
  keepUpMs: 500,
  quietKeepUpMs: 1_000,
} as const;

/**
 * Runs a lane until it is drained, stopped, or lost.
 *
 * @throws {LaneLost} when another worker has taken it; {LaneMoved} when it has to be taken again; the signal's reason;
 *   or an error that no retry fixes
 */
export async function runLane(
  dependencies: LaneDependencies,
  lane: Lane,
  control: LaneControl,
): Promise<void> {
  const { pool, reader, pace, quiet, metrics, onState, tracing = NO_TRACING } = dependencies;
  const log = dependencies.log.child({ partition: lane.partition, epoch: lane.epoch });
  const lost = new AbortController();
  const ending = linkSignals(control.signal, lost.signal);
  const { signal } = ending;
  const isFinal = (error: unknown) =>
    error instanceof LaneLost || error instanceof LaneMoved || isRefusal(error);
  const shared = { ...dependencies, log, signal };
  const retry = createRetry({ log, metrics, signal, isFinal });
  const prepare = createPrepareStep(shared);
  const advance = createAdvanceStep({ ...shared, retry });
  const laneReplicas = createLaneReplicas(
    {
      ...shared,
      retry,
      lease: control.lease,
      maxEvents: LANE_DEFAULTS.maxEvents,
      laneOffset: () => stored,
      onBlock: () => onState?.('block_inserted', lane),
      onError: (error) => lost.abort(error),
    },
    lane,
  );
  const resume = createResumeStep({
    ...shared,
    retry,
    async onReset() {
      await laneReplicas.lose();
      // ClickHouse may have events after the lane's offset which the log no longer holds.
      if (lane.nextOffset === 0n && lane.epoch === 1) return;
      await retry('count_gaps', async () =>
        storeCounts(pool, uncertainHours(await readStreams(pool), Date.now())),
      );
    },
  });
  const handingOver = linkSignals(signal, control.drain, control.release);
  const idleRead = handingOver.signal;

  async function prepareRange(range: Range, streams: Map<string, StreamProgress>): Promise<Ready> {
    await readUnseen(range, streams);
    const found = prepare(range, streams);
    const prepared = await retry('read_erasures', () => withoutErased(pool, found));
    const ready = encoded(prepared);
    await onState?.('prepared', lane);
    return ready;
  }

  /**
   * Reads the progress of streams that this lane has not seen for a while: a stream may have been on another partition
   * meanwhile, whose lane advanced it.
   */
  async function readUnseen(range: Range, streams: Map<string, StreamProgress>): Promise<void> {
    const now = performance.now();
    const ids = new Set(range.batches.map((batch) => batch.streamId));
    const unseen = [...ids].filter((id) => (seenAt.get(id) ?? Number.NEGATIVE_INFINITY) < now - UNSEEN_MS);
    for (const id of ids) seenAt.set(id, now);
    const isMissing = [...ids].some((id) => (streams.get(id)?.missing ?? []).length > 0);
    if (unseen.length === 0 && !(isMissing && lookedForMissingAt < now - MISSING_MS)) return;
    lookedForMissingAt = now;
    for (const stream of await retry('read_streams', () => readStreams(pool))) {
      const known = streams.get(stream.streamId);
      if (!known || (unseen.includes(stream.streamId) && stream.highWater > known.highWater)) {
        streams.set(stream.streamId, stream);
      } else if (known.missing) {
        // The row in PostgreSQL is behind this lane, so only the ranges that the process gave up are taken from it.
        const { unsendable = -1n, isRetired } = stream;
        known.missing = isRetired ? [] : known.missing.filter(({ to }) => to > unsendable);
      }
    }
  }

  /** Stores a range, within a span if it has rows. */
  function store(ready: Ready, replayedToken: string | null): Promise<void> {
    const { partition, from, to } = ready.prepared.range;
    if (!tracing.isOn || ready.blocks.length === 0) return storeRange(ready, replayedToken);
    const rows = ready.blocks.reduce((sum, { block }) => sum + block.rows.length, 0);
    const attributes = {
      'hoplog.partition': partition,
      'hoplog.from': String(from),
      'hoplog.to': String(to),
      'hoplog.rows': rows,
      'hoplog.replayed': replayedToken !== null,
    };
    const span = tracing.start('store batch', { kind: 'consumer', attributes });
    return inSpan(span, () => storeRange(ready, replayedToken));
  }

  async function storeRange(ready: Ready, replayedToken: string | null): Promise<void> {
    const { prepared, blocks } = ready;
    const { range } = prepared;
    const token = replayedToken ?? tokenOf(range);
    if (blocks.length > 0) {
      if (replayedToken === null) {
        const intent = { from: range.from, to: range.to, token };
        await retry('commit_intent', () => commitIntent(pool, lane, intent));
      }
      await onState?.('intended', lane);
    }
    await laneReplicas.store(ready, { token, isReplay: replayedToken !== null }, async (refused) => {
      if (blocks.length > 0) await onState?.('inserted', lane);
      await advance(lane, prepared, refused, laneReplicas.behind());
      stored = range.to;
    });
    if (prepared.orders.length > 0) dependencies.onOrdersStored?.();
    measure(prepared);
    await onState?.('advanced', lane);
  }

  function measure({ range, streams }: Prepared): void {
    const newest = Math.max(0, ...streams.map((stream) => stream.visibleBefore));
    if (newest > 0) metrics.visibleBefore.set(range.partition, newest);
  }

  /** Truncates the log, and notices when it was replaced. */
  async function keepUp(): Promise<void> {
    const truncation = createTruncation(dependencies, lane.partition, log);
    const checkEnd = createEndWatch(lane, dependencies.patienceMs);
    while (!signal.aborted) {
      const everyMs = quiet?.isQuiet() ? LANE_DEFAULTS.quietKeepUpMs : LANE_DEFAULTS.keepUpMs;
      // All lanes wake at the same moment, with the jobs of the process.
      await sleep(untilNextTick(everyMs), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      const end = await truncation.truncate(stored);
      if (end === null || !hasResumed) continue;
      try {
        checkEnd(stored, end);
      } catch (error) {
        lost.abort(error);
      }
    }
  }

  const waitMs = () => (quiet?.isQuiet() ? LANE_DEFAULTS.quietWaitMs : LANE_DEFAULTS.waitMs);

  const seenAt = new Map<string, number>();
  let lookedForMissingAt = Number.NEGATIVE_INFINITY;
  let storing = settledPromise();
  let stored = lane.nextOffset;
  let hasResumed = false;
  /** When a range with rows was taken last, of `performance.now()`. */
  let lastRowsAt = Number.NEGATIVE_INFINITY;

  async function work(): Promise<void> {
    const all = await retry('read_streams', () => readStreams(pool));
    const streams = new Map(all.map((stream) => [stream.streamId, stream]));
    await laneReplicas.take(all);
    const point = await resume(lane);
    let { from } = point;
    if (!point.replay) stored = from;
    laneReplicas.start();
    if (point.replay && lane.intent) {
      await store(await prepareRange(point.replay, streams), lane.intent.token);
    }
    hasResumed = true;
    let drainTo: bigint | null = null;
    while (!control.release.aborted) {
      if (control.drain.aborted && drainTo === null) {
        drainTo = await retry('read_log_bounds', () => reader.end(lane.partition));
      }
      const at = from;
      const range = await retry('read_log', () =>
        pollBatch(reader, lane.partition, at, {
          maxEvents: LANE_DEFAULTS.maxEvents,
          waitMs: drainTo === null ? waitMs() : LANE_DEFAULTS.drainWaitMs,
          lingerMs: () => (drainTo === null ? pace.lingerMs(performance.now() - lastRowsAt) : 0),
          settled: storing.quiet,
          ...(quiet && drainTo === null && { quiet }),
          signal: drainTo === null ? idleRead : signal,
        }).catch((error: unknown) => {
          // The drain or the release of the lane has ended the wait. Reads after that must succeed, so they are
          // retried.
          if (drainTo === null && idleRead.aborted && !signal.aborted) return null;
          throw error;
        }),
      );
      const takenAt = performance.now();
      if (range) assertForward(lane, range);
      const ready = range && (await prepareRange(range, streams));
      await storing.outcome;
      if (ready) {
        if (ready.blocks.length > 0) lastRowsAt = takenAt;
        storing = settledPromise(store(ready, null));
        from = ready.prepared.range.to;
      }
      if (drainTo !== null && from >= drainTo) break;
    }
    await storing.outcome;
  }

  const upkeep = keepUp();
  try {
    await work();
  } catch (error) {
    // Steps of an ended lane throw that they were aborted; the signal has the cause.
    signal.throwIfAborted();
    throw error;
  } finally {
    lost.abort();
    await Promise.all([upkeep, storing.quiet, laneReplicas.ended()]);
    ending.release();
    handingOver.release();
    // Only after both have ended, because each of them sets a gauge.
    metrics.visibleBefore.delete(lane.partition);
    metrics.lagOffsets.remove({ partition: lane.partition });
  }
}

/** A stream that moves to another partition stays there for longer. Milliseconds. */
const UNSEEN_MS = 5_000;
/** Interval at which a lane checks whether a process has given up what is missing. Milliseconds. */
const MISSING_MS = 1_000;

/** Wraps a promise that is awaited later: `outcome` throws its error, `quiet` does not. */
function settledPromise(outcome: Promise<void> = Promise.resolve()): {
  outcome: Promise<void>;
  quiet: Promise<void>;
} {
  return { outcome, quiet: outcome.catch(() => undefined) };
}
