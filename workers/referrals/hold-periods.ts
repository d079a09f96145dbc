import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { matureHeld } from '../../sql/transactions/mature-held.ts';

const CHUNK = 500;

/** Makes commissions eligible whose hold period is over, a chunk a round. @returns whether more may be there */
export async function endHoldPeriods({ pool, now }: { pool: Pool; now: Date }): Promise<boolean> {
  const released = await inTransaction(pool, (tx) => matureHeld(tx, { now, limit: CHUNK }));
  return released === CHUNK;
}
