import { damagedParts, describeDamage } from '../../clickhouse/damaged-parts.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import type { Logger } from '../../core/tier/log.ts';
import type { WorkerMetrics } from '../metrics.ts';
import { forEachReplica } from '../replicas/for-each-replica.ts';

/**
 * Creates the job that looks for damaged parts of the tables of each replica of ClickHouse, sets the metric, and logs
 * each part once. What is known of a replica stays while it does not respond.
 *
 * @returns one run; it returns false
 */
export function createDamageWatch(dependencies: {
  replicas: readonly Replica[];
  log: Logger;
  metrics: WorkerMetrics;
}): () => Promise<boolean> {
  const { replicas, log, metrics } = dependencies;
  /** By replica, with the table of each part. */
  const known = new Map<string, Map<string, string>>();

  async function look({ name: replica, clickhouse }: Replica): Promise<void> {
    const parts = await damagedParts(clickhouse);
    const logged = known.get(replica) ?? new Map<string, string>();
    for (const table of logged.values()) metrics.damagedParts.remove({ replica, table });
    for (const { table } of parts) metrics.damagedParts.inc({ replica, table });
    for (const part of parts) {
      const damage = describeDamage(part);
      if (logged.has(damage)) continue;
      log.error(
        { ...part, replica },
        `ClickHouse has a damaged part, whose rows may be missing from reports: ${damage}; see docs/operations/damaged-data.md`,
      );
    }
    known.set(replica, new Map(parts.map((part) => [describeDamage(part), part.table])));
  }

  return async () => {
    await forEachReplica(replicas, look);
    return false;
  };
}
