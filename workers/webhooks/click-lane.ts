import { setTimeout as sleep } from 'node:timers/promises';
import type { Enricher } from '../../core/enrich/enrich.ts';
import type { EventLogReader } from '../../core/event-log/port.ts';
import { linkSignals } from '../../core/tier/linked-signal.ts';
import type { Logger } from '../../core/tier/log.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import {
  advanceLane,
  type Lane,
  LaneLost,
  LaneMoved,
  lockLane,
  renewLane,
  resetLane,
} from '../../sql/event-log/lanes.ts';
import { readStreams } from '../../sql/event-log/streams.ts';
import { gather, type Range } from '../lane/gather.ts';
import { LANE_DEFAULTS, type LaneControl } from '../lane/lane.ts';
import { assertForward, createEndWatch, logBounds } from '../lane/place.ts';
import type { Decode } from '../lane/prepare.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { causeOf, createRetry } from '../retry.ts';
import { type ClickDelivery, clickDeliveries } from './clicks.ts';
import type { Handover } from './handover.ts';
import type { WebhookMetrics } from './metrics.ts';
import type { Subscriptions } from './subscriptions.ts';

/** The consumer that turns clicks into deliveries. */
export const WEBHOOK_CONSUMER = 'webhooks';

/** SQLSTATE foreign_key_violation. */
const MISSING_REFERENCE = '23503';

const CLICK_LANE = {
  /** Bounds of one piece of the log, and of the deliveries that are handed over together. */
  events: 2_000,
  together: 2_000,
  /** Handed over and not stored yet, at most so many times: attempts of one piece go on while the next one is read. */
  outstanding: 4,
  waitMs: 500,
  lingerMs: 50,
  /** While nobody wants clicks: who subscribes gets all from then on, the first of them that much later. */
  idleMs: 1_000,
  /** Progress without deliveries is written this often. */
  advanceEveryMs: 1_000,
} as const;

export type ClickLaneDependencies = {
  pool: Pool;
  reader: EventLogReader;
  decode: Decode;
  enricher: Enricher;
  log: Logger;
  workerMetrics: WorkerMetrics;
  metrics: WebhookMetrics;
  subscriptions: () => Promise<Subscriptions>;
  handOver: (deliveries: readonly ClickDelivery[]) => Promise<Handover>;
  /** As a lane of the store has it. */
  patienceMs?: number | undefined;
};

/**
 * Works one partition for the webhooks: reads, hands over, and moves on when all that was handed over is delivered or
 * stored. A crash before it has moved on delivers once more, under the same ids. While nobody wants clicks it goes
 * to the log's end without reading it, so it never holds the log.
 *
 * @throws {LaneLost} when another worker has taken the lane; {LaneMoved} when it has to be taken anew; the signal's reason
 */
export async function runClickLane(
  dependencies: ClickLaneDependencies,
  lane: Lane,
  control: LaneControl,
): Promise<void> {
  const { pool, reader, metrics, workerMetrics, subscriptions, handOver, patienceMs } = dependencies;
  const { partition } = lane;
  const log = dependencies.log.child({ partition, epoch: lane.epoch });
  const ended = new AbortController();
  const handingOver = linkSignals(control.drain, control.release);
  const letGo = handingOver.signal;
  const working = linkSignals(control.signal, letGo, ended.signal);
  const { signal } = working;
  // Storing continues while the lane is being let go: what was delivered need not be delivered again.
  const ending = linkSignals(control.signal, ended.signal);
  const storing = ending.signal;
  // A webhook that is gone for good can't be stored for: taken anew, the lane finds that nobody wants that any more.
  const isFinal = (error: unknown) =>
    error instanceof LaneLost || error instanceof LaneMoved || causeOf(error) === MISSING_REFERENCE;
  const retry = createRetry({ log, metrics: workerMetrics, signal, isFinal });
  const retryStoring = createRetry({ log, metrics: workerMetrics, signal: storing, isFinal });
  let ordinals = new Map<string, number>();
  let at = lane.nextOffset;
  let written = lane.nextOffset;
  let writtenAt = 0;
  /** What was handed over, each stored after the one before it. */
  let tail: Promise<void> = Promise.resolve();
  let outstanding = 0;
  let failure: unknown = null;

  /** Where the lane begins. Where the log can't give it that, the row is put to the log's start, and only then read on. */
  async function beginning(): Promise<bigint> {
    const { nextOffset } = lane;
    const { start, end } = await retry('read_log_bounds', () =>
      logBounds(reader, partition, nextOffset, { signal, patienceMs }),
    );
    if (nextOffset >= start && nextOffset <= end) return nextOffset;
    if (nextOffset > 0n) {
      log.error(
        { nextOffset: String(nextOffset), start: String(start), end: String(end) },
        'the log does not hold the place where the lane stood: clicks were lost to webhooks, or will be delivered again',
      );
    }
    await retry('reset_lane', () => resetLane(pool, lane, start));
    return start;
  }

  /** Everything below `to` is delivered or stored with this. */
  async function moveOn(to: bigint, handover: Handover | null): Promise<void> {
    await retryStoring('webhooks_advance', () =>
      inTransaction(pool, async (tx) => {
        const stands = await lockLane(tx, lane);
        // The answer of an earlier attempt's commit was lost, the commit was not.
        if (stands >= to && handover === null) return;
        await handover?.store(tx);
        if (to > stands) await advanceLane(tx, lane, to);
      }),
    );
    handover?.stored();
    written = to;
    writtenAt = performance.now();
  }

  /** Stores in order, at most so many at a time; an error shows at the next call. */
  async function queue(to: bigint, handover: Handover | null): Promise<void> {
    outstanding += 1;
    tail = tail
      .then(async () => {
        await handover?.over;
        if (!failure) await moveOn(to, handover);
      })
      .catch((error: unknown) => {
        failure ??= error;
      })
      .finally(() => {
        outstanding -= 1;
      });
    if (outstanding >= CLICK_LANE.outstanding) await tail;
    if (failure) throw failure;
  }

  async function handOverRange(range: Range): Promise<void> {
    // As they are now, which is after the newest click of the range was made.
    const snapshot = await retry('read_webhooks', subscriptions);
    if (snapshot.wantsClicks && range.batches.some((batch) => !ordinals.has(batch.streamId))) {
      const streams = await retry('read_streams', () => readStreams(pool));
      ordinals = new Map(streams.map((stream) => [stream.streamId, stream.ordinal]));
    }
    let together: ClickDelivery[] = [];
    for (const delivery of snapshot.wantsClicks
      ? clickDeliveries(range, snapshot, ordinals, dependencies)
      : []) {
      together.push(delivery);
      if (together.length < CLICK_LANE.together) continue;
      // Not past the range's start yet: the rest of it is still to come.
      await queue(range.from, await handOver(together));
      together = [];
    }
    if (together.length > 0) await queue(range.to, await handOver(together));
    else if (performance.now() - writtenAt >= CLICK_LANE.advanceEveryMs) await queue(range.to, null);
  }

  async function work(): Promise<void> {
    at = await beginning();
    written = at;
    const checkEnd = createEndWatch(lane, patienceMs);
    while (!signal.aborted) {
      const end = await retry('read_log_bounds', () => reader.end(partition));
      metrics.lagOffsets.set({ partition }, Math.max(0, Number(end - written)));
      checkEnd(at, end);
      // After the end was read: whoever subscribes from now on wants nothing from before it.
      if (!(await retry('read_webhooks', subscriptions)).wantsClicks) {
        if (end > at) at = end;
        if (at > written && performance.now() - writtenAt >= CLICK_LANE.advanceEveryMs) await queue(at, null);
        await sleep(CLICK_LANE.idleMs, undefined, { signal });
        continue;
      }
      const from = at;
      const range = await retry('read_log', () =>
        gather(reader, partition, from, {
          maxEvents: CLICK_LANE.events,
          waitMs: CLICK_LANE.waitMs,
          lingerMs: CLICK_LANE.lingerMs,
          settled: Promise.resolve(),
          signal,
        }),
      );
      if (!range) continue;
      assertForward(lane, range);
      await handOverRange(range);
      at = range.to;
    }
  }

  async function keepUp(): Promise<void> {
    while (!storing.aborted) {
      await sleep(LANE_DEFAULTS.renewMs, undefined, { signal: storing }).catch(() => undefined);
      if (storing.aborted) return;
      try {
        await renewLane(pool, lane, LANE_DEFAULTS.leaseMs);
      } catch (error) {
        if (error instanceof LaneLost) {
          failure ??= error;
          ended.abort(error);
        }
      }
    }
  }

  const upkeep = keepUp();
  try {
    await work().catch((error: unknown) => {
      // A lane that is let go ends in the middle of a wait.
      if (!letGo.aborted || failure) throw failure ?? error;
    });
    await tail;
    if (failure) throw failure;
  } finally {
    ended.abort();
    await Promise.all([upkeep, tail]);
    for (const linked of [handingOver, working, ending]) linked.release();
    metrics.lagOffsets.remove({ partition });
  }
}
