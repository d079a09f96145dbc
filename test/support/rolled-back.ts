import type { Pool } from '../../sql/database/pool.ts';
import { until } from './until.ts';

/** Waits until PostgreSQL has ended the transactions, and so the locks, of a killed process. */
export async function untilRolledBack(pool: Pool): Promise<void> {
  const open = async () =>
    (
      await pool.query(
        `SELECT FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL`,
      )
    ).rowCount;
  await until('no open transaction', open, (count) => count === 0);
}
