import { setTimeout as sleep } from 'node:timers/promises';
import type { EventLogReader } from '../../core/event-log/port.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { type Lane, LaneLost, laneHolder, releaseLane, takeLane } from '../../sql/event-log/lanes.ts';
import { recordHeartbeat, removeLiveWorker } from '../../sql/event-log/live-workers.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { hasDied, holderName } from './holder.ts';
import { LANE_DEFAULTS, type LaneControl } from './lane.ts';

export type LanesDependencies = {
  pool: Pool;
  reader: EventLogReader;
  metrics: WorkerMetrics;
  log: Logger;
  consumer: string;
  /** How this process signs its lanes; its machine and number unless given. */
  holder?: string;
  /** Works a lane until it is drained, stopped, or lost. @throws {LaneLost} when another worker has taken it */
  run: (lane: Lane, control: LaneControl, log: Logger) => Promise<void>;
};

export type Lanes = {
  /** Works off what the log holds now, then ends; at the latest after `withinMs`. */
  stop(withinMs: number): Promise<void>;
};

const LOOK_EVERY_MS = 500;
// A lane that failed for a reason of its own would fail again at once.
const REST_AFTER_FAILURE_MS = 1_000;

type Running = { ended: Promise<void>; release: AbortController };

/**
 * Works this process's share of the lanes side by side: every worker that lives holds at most
 * ceil(lanes / live workers) of each consumer, takes what nobody holds up to that, and gives away what it has beyond.
 */
export function startLanes(dependencies: LanesDependencies): Lanes {
  const { pool, reader, metrics, consumer, run, holder = holderName() } = dependencies;
  const log = dependencies.log.child({ consumer });
  const drain = new AbortController();
  const stop = new AbortController();
  const running = new Map<string, Running>();
  const restUntil = new Map<string, number>();
  let searchFails = false;

  async function work(lane: Lane, release: AbortSignal): Promise<void> {
    metrics.lanes.inc({ consumer });
    log.info({ partition: lane.partition, epoch: lane.epoch, offset: String(lane.nextOffset) }, 'lane taken');
    try {
      await run(lane, { signal: stop.signal, drain: drain.signal, release }, log);
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
      await releaseLane(pool, lane).catch(() => undefined); // its lease runs out by itself
      running.delete(lane.partition);
    }
  }

  async function search(): Promise<void> {
    const partitions = await reader.partitions();
    const leaseMs = LANE_DEFAULTS.leaseMs;
    const live = await recordHeartbeat(pool, { consumer, holder, liveMs: leaseMs });
    const workers = live.filter((other) => other === holder || !hasDied(other)).length;
    const share = Math.ceil(partitions.length / workers);
    giveAway(running.size - share);
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

  /** Lets the lanes that it took last end in order; those that are ending already count. */
  function giveAway(count: number): void {
    if (count <= 0) return;
    for (const [partition, { release }] of [...running].slice(-count)) {
      if (release.signal.aborted) continue;
      log.info({ partition }, 'gives the lane to another worker');
      release.abort();
    }
  }

  /** A holder that died on this machine is not waited for. Were it alive after all, its epoch is past. */
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
        if (!searchFails) log.warn({ err: error }, 'could not look for lanes, goes on trying');
        searchFails = true;
      }
      await sleep(LOOK_EVERY_MS, undefined, { signal: drain.signal }).catch(() => undefined);
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
      await removeLiveWorker(pool, consumer, holder).catch(() => undefined); // it is forgotten by itself
    },
  };
}
