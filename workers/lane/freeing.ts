import type { EventLogReader } from '../../core/event-log/port.ts';
import type { Logger } from '../../core/log.ts';
import { leastNextOffset } from '../../sql/lanes.ts';
import type { Pool } from '../../sql/pool.ts';
import type { WorkerMetrics } from '../metrics.ts';

export type FreeingDependencies = { pool: Pool; reader: EventLogReader; metrics: WorkerMetrics };

const EVERY_MS = 1_000;

/**
 * Gives back, once a second at most, what every consumer of a partition has worked off, and measures what is
 * left. A failure only delays it.
 */
export function createFreeing(dependencies: FreeingDependencies, partition: string, log: Logger) {
  const { pool, reader, metrics } = dependencies;
  let freed = 0n;
  let next = 0;

  /** @param stored how far this consumer has come */
  async function free(stored: bigint): Promise<void> {
    if (performance.now() < next) return;
    next = performance.now() + EVERY_MS;
    try {
      const end = await reader.end(partition);
      metrics.lagBytes.set({ partition }, Math.max(0, Number(end - stored)));
      const least = await leastNextOffset(pool, partition);
      if (least === null || least <= freed) return;
      await reader.free(partition, least);
      freed = least;
    } catch (error) {
      log.debug({ err: error }, 'could not free the log');
    }
  }
  return { free };
}
