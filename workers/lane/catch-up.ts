import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import type { EventLogReader } from '../../core/event-log/port.ts';
import { createLogger, type Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { addDeadLetters } from '../../sql/event-log/dead-letters.ts';
import type { Intent, Lane } from '../../sql/event-log/lanes.ts';
import {
  advanceReplica,
  commitReplicaIntent,
  markLost,
  type ReplicaLane,
} from '../../sql/event-log/replica-lanes.ts';
import type { StreamProgress } from '../../sql/event-log/streams.ts';
import { createWorkerMetrics } from '../metrics.ts';
import type { Retry } from '../retry.ts';
import { refusedLetters } from './advance.ts';
import { withoutErased } from './erased.ts';
import { pollBatch, type Range, readAgain } from './poll-batch.ts';
import { createPrepareStep, type PrepareDependencies } from './prepare.ts';
import { encoded, type Ready, type ReplicaStore } from './replica-store.ts';
import { tokenOf } from './resume.ts';

export type CatchUpDependencies = Pick<PrepareDependencies, 'decode' | 'enricher'> & {
  pool: Pool;
  reader: EventLogReader;
  log: Logger;
  retry: Retry;
  signal: AbortSignal;
  maxEvents: number;
  /** Reads the progress of streams in the replica. */
  readMarks: () => Promise<StreamProgress[]>;
  /** Creates the replica's store, which compares ClickHouse with this progress. */
  createStore: (marks: readonly StreamProgress[]) => ReplicaStore;
  /** Returns the lane's offset. */
  laneOffset: () => bigint;
  /**
   * Puts the replica in step with the lane.
   *
   * @param intent what the replica may have of the range after `at`: the lane has to be storing this very range
   * @returns false when the lane is not at that offset
   */
  join: (store: ReplicaStore, at: bigint, intent: Intent | null) => Promise<boolean>;
};

/** Pause while the lane, or the log's end as a broker tells it, is not where the replica has to go. Milliseconds. */
const WAIT_MS = 50;

/** The log no longer holds what the replica lacks. */
class LogLost extends Error {
  constructor(replica: string, at: bigint) {
    super(`the log no longer holds offset ${at}, from which replica ${replica} has to continue`);
    this.name = 'LogLost';
  }
}

/**
 * Stores what a replica lacks, from its own offset and its own high-water marks on, as far as the lane is; then the
 * replica is in step. Of a range PostgreSQL gets only the replica's progress: the lane has stored everything else.
 *
 * @throws {LaneLost}, or the reason of the signal
 */
export async function catchUp(
  dependencies: CatchUpDependencies,
  lane: Lane,
  behind: ReplicaLane,
): Promise<void> {
  const { pool, reader, retry, signal, maxEvents, laneOffset } = dependencies;
  const { replica } = behind;
  const { partition } = lane;
  const log = dependencies.log.child({ replica });
  // The lane has counted and logged the events of these ranges.
  const unheard = { metrics: createWorkerMetrics(new Registry()), log: createLogger('workers', 'silent') };
  const prepare = createPrepareStep({ ...dependencies, ...unheard });

  async function run(): Promise<void> {
    const streams = new Map<string, StreamProgress>();
    const marks = await retry('read_streams', dependencies.readMarks);
    for (const stream of marks) streams.set(stream.streamId, stream);
    const store = dependencies.createStore(marks);
    let at = behind.nextOffset;

    /** Streams that were registered since. */
    async function readUnseen(range: Range): Promise<void> {
      if (range.batches.every(({ streamId }) => streams.has(streamId))) return;
      for (const stream of await retry('read_streams', dependencies.readMarks)) {
        if (!streams.has(stream.streamId)) streams.set(stream.streamId, stream);
      }
    }

    async function storeRange(range: Range, replayed: Intent | null): Promise<void> {
      await readUnseen(range);
      const found = prepare(range, streams);
      const ready = encoded(await retry('read_erasures', () => withoutErased(pool, found)));
      const intent = replayed ?? { from: range.from, to: range.to, token: tokenOf(range) };
      let refused: Awaited<ReturnType<ReplicaStore['store']>> = [];
      if (ready.blocks.length > 0) {
        if (!replayed) await retry('commit_intent', () => commitReplicaIntent(pool, lane, replica, intent));
        refused = await store.store(ready, { token: intent.token, isReplay: replayed !== null });
      }
      await advance(ready, refused);
      store.advanced(ready.prepared);
      at = range.to;
    }

    if (behind.intent) {
      const { intent } = behind;
      // The lane has advanced past this intent, or replays it.
      while (laneOffset() < intent.to) {
        if (at === laneOffset() && (await dependencies.join(store, at, intent))) return;
        await sleep(WAIT_MS, undefined, { signal });
      }
      await assertHeldByLog(at);
      const range = await retry('read_intent', () =>
        readAgain(reader, partition, intent.from, intent.to, signal),
      );
      await assertHeldByLog(at);
      if (range.to < intent.to || tokenOf({ ...range, to: intent.to }) !== intent.token)
        throw new LogLost(replica, at);
      await storeRange(range, intent);
    }
    for (;;) {
      signal.throwIfAborted();
      if (at === laneOffset()) {
        if (await dependencies.join(store, at, null)) return;
        continue;
      }
      await assertHeldByLog(at);
      const range = await retry('read_log', () => readTo(at, laneOffset()));
      if (range) {
        await assertHeldByLog(at);
        await storeRange(range, null);
      }
    }
  }

  async function advance({ prepared }: Ready, refused: Awaited<ReturnType<ReplicaStore['store']>>) {
    const { range, streams } = prepared;
    await retry('advance_replica', () =>
      advanceReplica(pool, lane, replica, range, streams, (transaction) =>
        addDeadLetters(transaction, refusedLetters(prepared, refused)),
      ),
    );
  }

  /** Called before and after a read: a log that drops its old events may skip them silently. */
  async function assertHeldByLog(at: bigint): Promise<void> {
    const start = await retry('read_log_bounds', () => reader.start(partition));
    if (at < start) throw new LogLost(replica, at);
  }

  /** Returns the next range, up to the lane's offset at most. */
  async function readTo(from: bigint, to: bigint): Promise<Range | null> {
    const settled = Promise.resolve();
    const range = await pollBatch(reader, partition, from, {
      maxEvents,
      waitMs: WAIT_MS,
      lingerMs: () => 0,
      settled,
      signal,
    });
    if (range === null || range.to <= to) return range;
    return {
      ...range,
      to,
      batches: range.batches.filter(({ offset }) => offset < to),
      damage: range.damage.filter(({ offset }) => offset < to),
    };
  }

  log.info({ from: String(behind.nextOffset), to: String(laneOffset()) }, 'the replica catches up');
  try {
    await run();
    log.info('the replica is in step');
  } catch (error) {
    if (!(error instanceof LogLost)) throw error;
    log.error({ err: error }, 'the replica has to be filled from another one');
    await retry('mark_lost', () => markLost(pool, lane, replica));
  }
}
