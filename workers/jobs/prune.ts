import type { Pool } from '../../sql/database/pool.ts';
import { PRUNED_TABLES, prune } from '../../sql/database/pruning.ts';
import type { WorkerMetrics } from '../metrics.ts';

const CHUNK = 5_000;

/** One round of removing what is too old, a chunk of each table. @returns whether more may be there */
export async function pruneOld(dependencies: { pool: Pool; metrics: WorkerMetrics }): Promise<boolean> {
  let more = false;
  for (const table of PRUNED_TABLES) {
    const removed = await prune(dependencies.pool, table, CHUNK);
    dependencies.metrics.cleaned.inc({ what: table }, removed);
    more ||= removed === CHUNK;
  }
  return more;
}
