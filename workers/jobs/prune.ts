import { deleteUnusedPictures } from '../../sql/bio/pictures.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { PRUNED_TABLES, prune } from '../../sql/database/pruning.ts';
import { releaseOrdinals } from '../../sql/event-log/ordinals.ts';
import type { WorkerMetrics } from '../metrics.ts';

const CHUNK = 5_000;
/** Pictures of one run. */
const PICTURES = 500;

/**
 * Deletes a chunk of rows past their retention from each table, and unused pictures, and releases ordinals.
 *
 * @returns whether there may be more
 */
export async function pruneOld(dependencies: { pool: Pool; metrics: WorkerMetrics }): Promise<boolean> {
  let more = false;
  for (const table of PRUNED_TABLES) {
    const removed = await prune(dependencies.pool, table, CHUNK);
    dependencies.metrics.cleaned.inc({ what: table }, removed);
    more ||= removed === CHUNK;
  }
  const pictures = await deleteUnusedPictures(dependencies.pool, PICTURES);
  dependencies.metrics.cleaned.inc({ what: 'pictures' }, pictures.deleted);
  more ||= pictures.seen === PICTURES;
  const released = await releaseOrdinals(dependencies.pool);
  dependencies.metrics.cleaned.inc({ what: 'stream_ordinals' }, released);
  return more;
}
