import type { IngestDetails } from './ingest.ts';
import { until } from './until.ts';

/**
 * Waits until the link table, and its file, have every change that PostgreSQL committed before the call. A visitor may
 * see a new link or page earlier, because PostgreSQL is queried for links that memory lacks.
 */
export async function untilSynced(ingest: { details(): Promise<IngestDetails> }): Promise<void> {
  const since = Date.now();
  const syncedAt = async () => {
    // Read before the age, so that a delay between the two makes the result earlier, never later.
    const now = Date.now();
    const { age_seconds: age } = (await ingest.details()).body.link_table;
    return age === null ? 0 : now - age * 1_000;
  };
  await until('a link table with all changes', syncedAt, (at) => at > since);
}
