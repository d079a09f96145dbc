import { ADVISORY_LOCKS } from './advisory-locks.ts';
import type { Pool } from './pool.ts';

/** Jobs of which one worker at a time does the work. */
type Job = Extract<keyof typeof ADVISORY_LOCKS, 'rollups' | 'clockCorrections'>;

/**
 * Runs a job unless another worker is at it. The lock is the connection's and not a transaction's: an open
 * transaction would hold back ingest's view of link changes for as long as the job takes. A connection that breaks
 * gives the lock away, so the job must stand being done twice.
 *
 * @returns null when another worker has the job
 */
export async function withJobLock<T>(pool: Pool, job: Job, work: () => Promise<T>): Promise<T | null> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const breaks = (error: Error) => {
    broken = error; // closing the connection frees the lock, also one of which nothing was heard
  };
  try {
    const lock = client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [
      ADVISORY_LOCKS[job],
    ]);
    lock.catch(breaks);
    const { rows } = await lock;
    if (!rows[0]?.locked) return null;
    try {
      return await work();
    } finally {
      await client.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCKS[job]]).catch(breaks);
    }
  } finally {
    client.release(broken);
  }
}
