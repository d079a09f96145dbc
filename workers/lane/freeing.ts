import type { EventLogReader } from '../../core/event-log/port.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { laneOffsets } from '../../sql/event-log/lanes.ts';
import type { WorkerMetrics } from '../metrics.ts';

export type FreeingDependencies = { pool: Pool; reader: EventLogReader; metrics: WorkerMetrics };

const EVERY_MS = 1_000;

/**
 * Gives back, once a second at most, what every consumer of a partition has worked off, and measures what is
 * left. A failure only delays it. While a consumer stands past the log's end nothing is given back: nobody knows yet
 * what it has read of this log.
 */
export function createFreeing(dependencies: FreeingDependencies, partition: string, log: Logger) {
  const { pool, reader, metrics } = dependencies;
  let freed = 0n;
  let next = 0;

  /**
   * @param stored how far this consumer has come
   * @returns where the log ends; null when it was not asked, or did not answer
   */
  async function free(stored: bigint): Promise<bigint | null> {
    if (performance.now() < next) return null;
    next = performance.now() + EVERY_MS;
    try {
      // In this order: a place that was read first can't be past an end that was only read too early.
      const places = await laneOffsets(pool, partition);
      const end = await reader.end(partition);
      metrics.lagOffsets.set({ partition }, Math.max(0, Number(end - stored)));
      if (places === null || places.greatest > end || places.least <= freed) return end;
      await reader.truncate(partition, places.least);
      freed = places.least;
      return end;
    } catch (error) {
      log.debug({ err: error }, 'could not free the log');
      return null;
    }
  }
  return { free };
}
