import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { matureHeld } from '../../sql/transactions/mature-held.ts';

const CHUNK = 500;

/** Makes a chunk of commissions eligible whose hold period is over. @returns whether there may be more */
export async function endHoldPeriods({ pool, now }: { pool: Pool; now: Date }): Promise<boolean> {
  const released = await inTransaction(pool, (tx) => matureHeld(tx, { now, limit: CHUNK }));
  return released === CHUNK;
}
