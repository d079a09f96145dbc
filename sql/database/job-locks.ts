import { ADVISORY_LOCKS } from './advisory-locks.ts';
import type { Pool } from './pool.ts';

/** Jobs that one worker at a time runs. */
type Job = Extract<keyof typeof ADVISORY_LOCKS, 'rollups' | 'clockCorrections'>;

/**
 * Runs a job unless another worker runs it. The lock belongs to the connection, not to a transaction: an open
 * transaction would hold back ingest's view of link changes. A broken connection releases the lock, so the job must
 * tolerate running twice.
 *
 * @returns null when another worker runs the job
 */
export async function withJobLock<T>(pool: Pool, job: Job, work: () => Promise<T>): Promise<T | null> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const breaks = (error: Error) => {
    broken = error; // closing the connection releases the lock, even when its response was lost
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
