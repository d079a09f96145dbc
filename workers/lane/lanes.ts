import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLogReader } from '../../core/event-log/port.ts';
import { linkSignals } from '../../core/tier/linked-signal.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { type Lane, LaneLost, laneHolder, releaseLane, takeLane } from '../../sql/event-log/lanes.ts';
import { removeLiveWorker } from '../../sql/event-log/live-workers.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { untilNextTick } from '../next-tick.ts';
import { hasDied, holderName } from './holder.ts';
import type { LaneControl } from './lane.ts';
import { LEASE, type Leases } from './leases.ts';

export type LanesDependencies = {
  pool: Pool;
  leases: Leases;
  reader: EventLogReader;
  metrics: WorkerMetrics;
  log: Logger;
  consumer: string;
  /** The name of this process; its host and process id unless given. */
  holder?: string;
  /** Runs a lane until it is drained, stopped, or lost. @throws {LaneLost} when another worker has taken it */
  run: (lane: Lane, control: LaneControl, log: Logger) => Promise<void>;
};

export type Lanes = {
  /** Stores what the log holds now, then ends; at the latest after `withinMs`. */
  stop(withinMs: number): Promise<void>;
};

const LOOK_EVERY_MS = 1_000;
// A failed lane would fail again at once.
const REST_AFTER_FAILURE_MS = 1_000;

/** Returns how many lanes a holder takes. The shares of all holders differ by at most one, and add up to the lanes. */
function shareOf(holder: string, live: readonly string[], lanes: number): number {
  const rank = live.toSorted().indexOf(holder);
  return Math.floor(lanes / live.length) + (rank < lanes % live.length ? 1 : 0);
}

type Running = { ended: Promise<void>; release: AbortController };

/**
 * Runs this process's share of the lanes of a consumer ({@link shareOf}): it takes free lanes up to that, and releases
 * those beyond.
 */
export function startLanes(dependencies: LanesDependencies): Lanes {
  const { pool, leases, reader, metrics, consumer, run, holder = holderName() } = dependencies;
  const log = dependencies.log.child({ consumer });
  const drain = new AbortController();
  const stop = new AbortController();
  const running = new Map<string, Running>();
  const restUntil = new Map<string, number>();
  let searchFails = false;

  async function work(lane: Lane, release: AbortSignal): Promise<void> {
    metrics.lanes.inc({ consumer });
    log.info({ partition: lane.partition, epoch: lane.epoch, offset: String(lane.nextOffset) }, 'lane taken');
    const lost = new AbortController();
    const lease = leases.keep(lane, (error) => lost.abort(error));
    const ending = linkSignals(stop.signal, lost.signal);
    try {
      await run(lane, { signal: ending.signal, drain: drain.signal, release, lease }, log);
    } catch (error) {
      if (error instanceof LaneLost) {
        metrics.lanesLost.inc({ cause: 'lost' });
        log.warn({ partition: lane.partition, epoch: lane.epoch }, error.message);
      } else if (!stop.signal.aborted) {
        metrics.lanesLost.inc({ cause: 'error' });
        log.error({ partition: lane.partition, epoch: lane.epoch, err: error }, 'lane failed');
        restUntil.set(lane.partition, performance.now() + REST_AFTER_FAILURE_MS);
      }
    } finally {
      metrics.lanes.dec({ consumer });
      lease.end();
      ending.release();
      await releaseLane(pool, lane).catch(() => undefined); // its lease expires
      running.delete(lane.partition);
    }
  }

  async function search(): Promise<void> {
    const partitions = await reader.partitions();
    const leaseMs = LEASE.lengthMs;
    const live = await leases.recordLive(consumer, holder);
    const share = shareOf(
      holder,
      live.filter((other) => other === holder || !hasDied(other)),
      partitions.length,
    );
    releaseLanes(running.size - share);
    for (const partition of partitions) {
      if (drain.signal.aborted || running.size >= share) return;
      if (running.has(partition) || performance.now() < (restUntil.get(partition) ?? 0)) continue;
      const wanted = { consumer, partition, holder, leaseMs };
      const lane = (await takeLane(pool, wanted)) ?? (await takeFromDead(wanted));
      if (!lane) continue;
      const release = new AbortController();
      running.set(partition, { ended: work(lane, release.signal), release });
    }
  }

  /** Releases the lanes taken last; those already ending count. */
  function releaseLanes(count: number): void {
    if (count <= 0) return;
    for (const [partition, { release }] of [...running].slice(-count)) {
      if (release.signal.aborted) continue;
      log.info({ partition }, 'releasing the lane for another worker');
      release.abort();
    }
  }

  /** Takes a lane from a holder that died on this machine without waiting for its lease. The epoch keeps this safe. */
  async function takeFromDead(wanted: Parameters<typeof takeLane>[1]): Promise<Lane | null> {
    const deadHolder = await laneHolder(pool, consumer, wanted.partition);
    if (deadHolder === null || !hasDied(deadHolder)) return null;
    return takeLane(pool, { ...wanted, deadHolder });
  }

  async function keepSearching(): Promise<void> {
    while (!drain.signal.aborted) {
      try {
        await search();
        searchFails = false;
      } catch (error) {
        if (!searchFails) log.warn({ err: error }, 'failed to look for lanes; will retry');
        searchFails = true;
      }
      // All consumers wake at the same moment, so they share a statement.
      await sleep(untilNextTick(LOOK_EVERY_MS), undefined, { signal: drain.signal }).catch(() => undefined);
    }
  }

  const searching = keepSearching();

  return {
    async stop(withinMs) {
      drain.abort();
      await searching;
      const late = setTimeout(() => stop.abort(), withinMs);
      await Promise.all([...running.values()].map(({ ended }) => ended));
      clearTimeout(late);
      stop.abort();
      await removeLiveWorker(pool, consumer, holder).catch(() => undefined); // its entry expires
    },
  };
}
