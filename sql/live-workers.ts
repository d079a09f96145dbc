import type { Queryable } from './pool.ts';

/**
 * Says that a worker lives, for another `liveMs`, and forgets those that have been silent for long.
 *
 * @returns the holders that live now, this one among them
 */
export async function noteLiveWorker(
  db: Queryable,
  given: { consumer: string; holder: string; liveMs: number },
): Promise<string[]> {
  const { rows } = await db.query<{ holder: string }>({
    name: 'note_live_worker',
    text: `WITH noted AS (
       INSERT INTO live_workers (consumer, holder, live_until)
       VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
       ON CONFLICT (consumer, holder) DO UPDATE SET live_until = EXCLUDED.live_until
     ), forgotten AS (
       DELETE FROM live_workers WHERE live_until < clock_timestamp() - interval '1 hour'
     )
     SELECT holder FROM live_workers
     WHERE consumer = $1 AND holder <> $2 AND live_until > clock_timestamp()`,
    values: [given.consumer, given.holder, given.liveMs],
  });
  return [given.holder, ...rows.map((row) => row.holder)];
}

/** Says that a worker ends: the others may have its lanes. */
export async function removeLiveWorker(db: Queryable, consumer: string, holder: string): Promise<void> {
  await db.query('DELETE FROM live_workers WHERE consumer = $1 AND holder = $2', [consumer, holder]);
}
