import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { releaseHeld } from '../../sql/transactions/release-held.ts';

const CHUNK = 500;

/** Makes commissions eligible whose hold period is over, a chunk a round. @returns whether more may be there */
export async function endHoldPeriods({ pool, now }: { pool: Pool; now: Date }): Promise<boolean> {
  const released = await inTransaction(pool, (tx) => releaseHeld(tx, { now, limit: CHUNK }));
  return released === CHUNK;
}
