import type { EventLogReader } from '../../core/event-log/port.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { laneOffsets } from '../../sql/event-log/lanes.ts';
import type { WorkerMetrics } from '../metrics.ts';
import type { IdleLanes } from './idle-lanes.ts';

export type TruncationDependencies = {
  pool: Pool;
  reader: EventLogReader;
  metrics: WorkerMetrics;
  quiet?: IdleLanes;
};

const EVERY_MS = 1_000;
/** Interval while the log holds nothing but heartbeats. Milliseconds. */
const QUIET_EVERY_MS = 5_000;

/**
 * Truncates a partition, at most once a second and less often while it is quiet, up to the least offset of its
 * consumers, and sets the lag. While a consumer's offset is past the log's end nothing is truncated: the reader's
 * progress in this log is unknown.
 */
export function createTruncation(dependencies: TruncationDependencies, partition: string, log: Logger) {
  const { pool, reader, metrics, quiet } = dependencies;
  let truncatedTo = 0n;
  let truncatedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param stored the offset of this consumer
   * @returns the log's end; null when it was not read
   */
  async function truncate(stored: bigint): Promise<bigint | null> {
    const everyMs = quiet?.isQuiet() ? QUIET_EVERY_MS : EVERY_MS;
    if (performance.now() - truncatedAt < everyMs) return null;
    truncatedAt = performance.now();
    try {
      // The offsets are read first. Offsets that are read later could be past an end that was read too early.
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
