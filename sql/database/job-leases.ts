import { randomUUID } from 'node:crypto';
import type { Pool } from './pool.ts';

/** Jobs that one process at a time runs. */
type Job =
  | 'rollups'
  | 'retention'
  | 'erasures'
  | 'clockCorrections'
  | 'countComparison'
  | 'sampleShop'
  | 'linksSnapshot'
  | `clickImport/${string}`
  | `workspaceImport/${string}`;

/** SQL of the end of a lease: after it, another process may run the job of one that was killed. */
const HELD = "clock_timestamp() + interval '15 seconds'";
const RENEW_EVERY_MS = 5_000;

/**
 * Runs a job unless another process runs it, under a lease in a table: it holds no connection meanwhile. If a process
 * pauses for longer than the lease, another one may run the job too, so the job must tolerate running twice.
 *
 * @returns null when another process runs the job
 */
export async function withJobLease<T>(pool: Pool, job: Job, work: () => Promise<T>): Promise<T | null> {
  const holder = randomUUID();
  const { rowCount } = await pool.query(
    `INSERT INTO job_leases AS lease (job, holder, held_until) VALUES ($1, $2, ${HELD})
     ON CONFLICT (job) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
     WHERE lease.held_until < clock_timestamp()`,
    [job, holder],
  );
  if (rowCount === 0) return null;
  const renew = () =>
    pool
      .query(`UPDATE job_leases SET held_until = ${HELD} WHERE job = $1 AND holder = $2`, [job, holder])
      .catch(() => {}); // tried again
  const renewing = setInterval(renew, RENEW_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(renewing);
    // After an error the lease ends by its time.
    await pool.query('DELETE FROM job_leases WHERE job = $1 AND holder = $2', [job, holder]).catch(() => {});
  }
}
