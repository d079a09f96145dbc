import { setTimeout as sleep } from 'node:timers/promises';
import { NO_LINK } from '../../core/clicks/field-names.ts';
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
  resetLane,
} from '../../sql/event-log/lanes.ts';
import { readStreams } from '../../sql/event-log/streams.ts';
import { addBatchedClicks, type BatchedClick } from '../../sql/webhooks/batched-clicks.ts';
import { linkFolders } from '../../sql/webhooks/link-folders.ts';
import { addListenerEvents, type ListenerEvent } from '../../sql/webhooks/listeners.ts';
import type { IdleLanes } from '../lane/idle-lanes.ts';
import type { LaneControl } from '../lane/lane.ts';
import { pollBatch, type Range } from '../lane/poll-batch.ts';
import { assertForward, createEndWatch, logBounds } from '../lane/position.ts';
import type { Decode } from '../lane/prepare.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { untilNextTick } from '../next-tick.ts';
import { causeOf, createRetry } from '../retry.ts';
import { type ClickDelivery, clickDeliveries, linksInFolders } from './clicks.ts';
import type { DirectDeliveries } from './direct-deliveries.ts';
import type { WebhookMetrics } from './metrics.ts';
import type { Subscriptions } from './subscriptions.ts';

/** The consumer that turns clicks into deliveries. */
export const WEBHOOK_CONSUMER = 'webhooks';

/** SQLSTATE foreign_key_violation. */
const MISSING_REFERENCE = '23503';

const CLICK_LANE = {
  /** Limits of one range of the log, and of the deliveries that start together. */
  events: 2_000,
  together: 2_000,
  /** Limit of ranges with deliveries that are not stored yet: their attempts continue while the next range is read. */
  outstanding: 4,
  /** Time to wait for the first event; the longer one while the lane is quiet. */
  waitMs: 500,
  quietWaitMs: 5_000,
  lingerMs: 50,
  /**
   * Poll interval while no webhook subscribes to clicks, and so the longest delay of a new webhook's first clicks. The
   * longer one while the lane is quiet, until the first event.
   */
  idleMs: 1_000,
  quietIdleMs: 5_000,
  /** Progress without deliveries is written this often, and less often while the log hardly grows. */
  advanceEveryMs: 1_000,
  quietAdvanceEveryMs: 60_000,
  /** Offsets since the last write up to which the log hardly grows: some seconds of heartbeats. */
  quietOffsets: 16_384n,
} as const;

/** Clicks that are stored with the lane's progress, instead of an attempt. */
type StoredClicks = { batched: readonly BatchedClick[]; listened: readonly ListenerEvent[] };
const NONE_STORED: StoredClicks = { batched: [], listened: [] };

export type ClickLaneDependencies = {
  pool: Pool;
  reader: EventLogReader;
  decode: Decode;
  enricher: Enricher;
  /** Shared by all lanes of the process. */
  quiet: IdleLanes;
  log: Logger;
  workerMetrics: WorkerMetrics;
  metrics: WebhookMetrics;
  subscriptions: () => Promise<Subscriptions>;
  deliverDirectly: (deliveries: readonly ClickDelivery[]) => Promise<DirectDeliveries>;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** See `LaneDependencies`. */
  patienceMs?: number | undefined;
};

/**
 * Runs one partition for webhooks: polls, delivers directly, and advances when each delivery is over or stored. A crash
 * before it advances delivers again, under the same ids. While no webhook subscribes to clicks it skips to the log's
 * end.
 *
 * @throws {LaneLost} when another worker has taken the lane; {LaneMoved} when it has to be taken again; the signal's
 *   reason
 */
export async function runClickLane(
  dependencies: ClickLaneDependencies,
  lane: Lane,
  control: LaneControl,
): Promise<void> {
  const { pool, reader, quiet, metrics, workerMetrics, subscriptions, deliverDirectly, patienceMs } =
    dependencies;
  const { partition } = lane;
  const log = dependencies.log.child({ partition, epoch: lane.epoch });
  const ended = new AbortController();
  const handingOver = linkSignals(control.drain, control.release);
  const released = handingOver.signal;
  const working = linkSignals(control.signal, released, ended.signal);
  const { signal } = working;
  // Storing continues while the lane is being released, so that delivered clicks are not delivered again.
  const ending = linkSignals(control.signal, ended.signal);
  const storing = ending.signal;
  // Deliveries of a deleted webhook cannot be stored; the lane is taken again without it.
  const isFinal = (error: unknown) =>
    error instanceof LaneLost || error instanceof LaneMoved || causeOf(error) === MISSING_REFERENCE;
  const retry = createRetry({ log, metrics: workerMetrics, signal, isFinal });
  const retryStoring = createRetry({ log, metrics: workerMetrics, signal: storing, isFinal });
  let ordinals = new Map<string, number>();
  let at = lane.nextOffset;
  let written = lane.nextOffset;
  let writtenAt = 0;
  /** Stores the direct deliveries of each range, one after the other. */
  let tail: Promise<void> = Promise.resolve();
  let outstanding = 0;
  let failure: unknown = null;

  /**
   * Returns the offset from which the lane resumes. Where the log lacks it, the row is first reset to the log's start.
   */
  async function resume(): Promise<bigint> {
    const { nextOffset } = lane;
    const { start, end } = await retry('read_log_bounds', () =>
      logBounds(reader, partition, nextOffset, { signal, patienceMs }),
    );
    if (nextOffset >= start && nextOffset <= end) return nextOffset;
    if (nextOffset > 0n) {
      log.error(
        { nextOffset: String(nextOffset), start: String(start), end: String(end) },
        "the log does not hold the lane's offset; clicks were lost to webhooks, or will be delivered again",
      );
    }
    await retry('reset_lane', () => resetLane(pool, lane, start));
    return start;
  }

  /**
   * Advances the lane to `to`, and stores the direct deliveries that are not over. Clicks for batches and listeners are
   * stored only where the lane advances: a repeat after a lost response adds none again.
   */
  async function advanceTo(
    to: bigint,
    direct: DirectDeliveries | null,
    { batched, listened }: StoredClicks,
  ): Promise<void> {
    await retryStoring('webhooks_advance', () =>
      inTransaction(pool, async (tx) => {
        const offset = await lockLane(tx, lane);
        // An earlier attempt committed, and its response was lost.
        if (offset >= to && direct === null) return;
        await direct?.store(tx);
        if (to <= offset) return;
        await addBatchedClicks(tx, batched, dependencies.now());
        await addListenerEvents(tx, listened);
        await advanceLane(tx, lane, to);
      }),
    );
    direct?.stored();
    written = to;
    writtenAt = performance.now();
  }

  /** Stores in order; an error shows at the next call. */
  async function queue(
    to: bigint,
    direct: DirectDeliveries | null,
    stored: StoredClicks = NONE_STORED,
  ): Promise<void> {
    outstanding += 1;
    tail = tail
      .then(async () => {
        await direct?.over;
        if (!failure) await advanceTo(to, direct, stored);
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

  /** Returns whether progress to `to` without a delivery is to be written. */
  function isAdvanceDue(to: bigint): boolean {
    const isQuiet = to - written <= CLICK_LANE.quietOffsets;
    const everyMs = isQuiet ? CLICK_LANE.quietAdvanceEveryMs : CLICK_LANE.advanceEveryMs;
    return performance.now() - writtenAt >= everyMs;
  }

  async function handOverRange(range: Range): Promise<void> {
    // Read after the newest click of the range was made.
    const snapshot = await retry('read_webhooks', subscriptions);
    if (snapshot.wantsClicks && range.batches.some((batch) => !ordinals.has(batch.streamId))) {
      const streams = await retry('read_streams', () => readStreams(pool));
      ordinals = new Map(streams.map((stream) => [stream.streamId, stream.ordinal]));
    }
    const links = linksInFolders(range, snapshot, dependencies.decode);
    const folders = await retry('read_link_folders', () => linkFolders(pool, links));
    let together: ClickDelivery[] = [];
    const stored = { batched: [] as BatchedClick[], listened: [] as ListenerEvent[] };
    for (const delivery of snapshot.wantsClicks
      ? clickDeliveries(range, snapshot, ordinals, folders, dependencies)
      : []) {
      const { webhook, eventId, body } = delivery;
      if (webhook.isListener) stored.listened.push({ listenerId: webhook.id, eventId, body });
      else if (webhook.batch) stored.batched.push(batchedClick(delivery));
      if (webhook.isListener || webhook.batch) continue;
      together.push(delivery);
      if (together.length < CLICK_LANE.together) continue;
      // Advances only to the range's start, because the rest of the range follows.
      await queue(range.from, await deliverDirectly(together));
      together = [];
    }
    if (together.length > 0) await queue(range.to, await deliverDirectly(together), stored);
    else if (stored.batched.length + stored.listened.length > 0) await queue(range.to, null, stored);
    else if (isAdvanceDue(range.to)) await queue(range.to, null);
  }

  /** Waits while no webhook subscribes to clicks. A quiet lane gets none either. */
  async function idle(): Promise<void> {
    const until = performance.now() + CLICK_LANE.quietIdleMs;
    do {
      // All lanes wake at one moment, so that they share the query for webhooks.
      await sleep(untilNextTick(CLICK_LANE.idleMs), undefined, { signal });
    } while (quiet.isQuiet() && performance.now() < until);
  }

  async function work(): Promise<void> {
    at = await resume();
    written = at;
    const checkEnd = createEndWatch(lane, patienceMs);
    while (!signal.aborted) {
      const end = await retry('read_log_bounds', () => reader.end(partition));
      metrics.lagOffsets.set({ partition }, Math.max(0, Number(end - written)));
      checkEnd(at, end);
      // After the end was read: a webhook that subscribes later gets nothing from before it.
      if (!(await retry('read_webhooks', subscriptions)).wantsClicks) {
        if (end > at) at = end;
        if (at > written && isAdvanceDue(at)) await queue(at, null);
        await idle();
        continue;
      }
      const from = at;
      const range = await retry('read_log', () =>
        pollBatch(reader, partition, from, {
          maxEvents: CLICK_LANE.events,
          waitMs: quiet.isQuiet() ? CLICK_LANE.quietWaitMs : CLICK_LANE.waitMs,
          lingerMs: () => CLICK_LANE.lingerMs,
          settled: Promise.resolve(),
          quiet,
          signal,
        }),
      );
      if (!range) continue;
      assertForward(lane, range);
      await handOverRange(range);
      at = range.to;
    }
  }

  try {
    await work().catch((error: unknown) => {
      // The release of the lane ends a wait.
      if (released.aborted && !failure) return;
      control.signal.throwIfAborted(); // its reason is the cause of the error
      throw failure ?? error;
    });
    await tail;
    if (failure) throw failure;
  } finally {
    ended.abort();
    await tail;
    for (const linked of [handingOver, working, ending]) linked.release();
    metrics.lagOffsets.remove({ partition });
  }
}

function batchedClick({ webhook, eventId, click, clickedAt }: ClickDelivery): BatchedClick {
  return {
    webhookId: webhook.id,
    eventId,
    workspaceId: webhook.workspaceId,
    linkId: click.link_id ?? NO_LINK,
    visitorId: click.visitor_id,
    clickedAt,
    click: JSON.stringify(click),
  };
}
