import type { Queryable } from '../database/pool.ts';

/** SQL: alive. A later end than any worker sets was written while the clock was ahead. */
const LIVES = `live_until > clock_timestamp() AND live_until < clock_timestamp() + interval '1 hour'`;

/**
 * Records that a worker lives for another `liveMs`, for each consumer that it runs, and removes workers that have been
 * silent for long.
 *
 * @returns the holders of each consumer that are alive, this one included
 */
export async function recordHeartbeat(
  db: Queryable,
  given: { consumers: readonly string[]; holder: string; liveMs: number },
): Promise<Map<string, string[]>> {
  const { rows } = await db.query<{ consumer: string; holder: string }>({
    name: 'note_live_worker',
    text: `WITH noted AS (
       INSERT INTO live_workers (consumer, holder, live_until)
       SELECT consumer, $2, clock_timestamp() + $3 * interval '1 millisecond' FROM unnest($1::text[]) AS consumer
       ON CONFLICT (consumer, holder) DO UPDATE SET live_until = EXCLUDED.live_until
     ), forgotten AS (
       DELETE FROM live_workers WHERE live_until < clock_timestamp() - interval '1 hour'
         OR (live_until > clock_timestamp() + interval '1 hour' AND NOT (consumer = ANY ($1) AND holder = $2))
     )
     SELECT consumer, holder FROM live_workers
     WHERE consumer = ANY ($1) AND holder <> $2 AND ${LIVES}`,
    values: [given.consumers, given.holder, given.liveMs],
  });
  const others = Map.groupBy(rows, ({ consumer }) => consumer);
  return new Map(
    given.consumers.map((consumer) => [
      consumer,
      [given.holder, ...(others.get(consumer) ?? []).map(({ holder }) => holder)],
    ]),
  );
}

/**
 * Returns how many workers are alive, each counted once however many consumers it runs, and the latest end of life
 * among all that are known. `until` is null when no worker was seen for an hour.
 */
export async function liveWorkers(db: Queryable): Promise<{ live: number; until: Date | null }> {
  const { rows } = await db.query<{ live: number; until: Date | null }>(
    `SELECT count(DISTINCT holder) FILTER (WHERE ${LIVES}) AS live, max(live_until) AS until
     FROM live_workers`,
  );
  return rows[0] ?? { live: 0, until: null };
}

/** Removes a worker that ends, so that others take its lanes. */
export async function removeLiveWorker(db: Queryable, consumer: string, holder: string): Promise<void> {
  await db.query('DELETE FROM live_workers WHERE consumer = $1 AND holder = $2', [consumer, holder]);
}
