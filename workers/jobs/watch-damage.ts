import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { damagedParts, describeDamage } from '../../clickhouse/damaged-parts.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { WorkerMetrics } from '../metrics.ts';

/**
 * Creates the job that looks for damaged parts of ClickHouse's tables, sets the metric, and logs each part once.
 *
 * @returns one run; it returns false
 */
export function createDamageWatch(dependencies: {
  clickhouse: ClickHouseClient;
  log: Logger;
  metrics: WorkerMetrics;
}): () => Promise<boolean> {
  const { clickhouse, log, metrics } = dependencies;
  let logged = new Set<string>();
  return async () => {
    const parts = await damagedParts(clickhouse);
    metrics.damagedParts.reset();
    for (const { table } of parts) metrics.damagedParts.inc({ table });
    const present = new Set<string>();
    for (const part of parts) {
      const damage = describeDamage(part);
      present.add(damage);
      if (logged.has(damage)) continue;
      log.error(
        { ...part },
        `ClickHouse has a damaged part, whose rows may be missing from reports: ${damage}; see docs/operations/damaged-data.md`,
      );
    }
    logged = present;
    return false;
  };
}
