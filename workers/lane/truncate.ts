import type { EventLogReader } from '../../core/event-log/port.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { laneOffsets } from '../../sql/event-log/lanes.ts';
import type { WorkerMetrics } from '../metrics.ts';

export type TruncationDependencies = { pool: Pool; reader: EventLogReader; metrics: WorkerMetrics };

const EVERY_MS = 1_000;

/**
 * Truncates a partition, at most once a second, up to the least offset of its consumers, and sets the lag. While a consumer's
 * offset is past the log's end nothing is truncated: the reader's progress in this log is unknown.
 */
export function createTruncation(dependencies: TruncationDependencies, partition: string, log: Logger) {
  const { pool, reader, metrics } = dependencies;
  let truncatedTo = 0n;
  let next = 0;

  /**
   * @param stored the offset of this consumer
   * @returns the log's end; null when it was not read
   */
  async function truncate(stored: bigint): Promise<bigint | null> {
    if (performance.now() < next) return null;
    next = performance.now() + EVERY_MS;
    try {
      // In this order: an offset that was read first cannot be past an end that was read too early.
      const offsets = await laneOffsets(pool, partition);
      const end = await reader.end(partition);
      metrics.lagOffsets.set({ partition }, Math.max(0, Number(end - stored)));
      if (offsets === null || offsets.greatest > end || offsets.least <= truncatedTo) return end;
      await reader.truncate(partition, offsets.least);
      truncatedTo = offsets.least;
      return end;
    } catch (error) {
      log.debug({ err: error }, 'failed to truncate the log; will retry');
      return null;
    }
  }
  return { truncate };
}
