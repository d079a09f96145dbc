import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { releaseHeld } from '../../sql/transactions/release-held.ts';

const CHUNK = 500;

/** Makes a chunk of commissions eligible whose hold period is over. @returns whether there may be more */
export async function endHoldPeriods({ pool, now }: { pool: Pool; now: Date }): Promise<boolean> {
  const released = await inTransaction(pool, (tx) => releaseHeld(tx, { now, limit: CHUNK }));
  return released === CHUNK;
}
