import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { qualifiedOrderWithEarlyRefund } from '../../sql/referrals/early-refunds.ts';
import { settleEarlyRefunds } from '../../sql/transactions/early-refunds.ts';

/**
 * Settles the refunds of one order that were reported while its purchase was being recorded: neither call could read
 * the other's rows.
 *
 * @returns whether there was one
 */
export async function settleNextEarlyRefunds({ pool, now }: { pool: Pool; now: Date }): Promise<boolean> {
  const order = await qualifiedOrderWithEarlyRefund(pool);
  if (!order) return false;
  await inTransaction(pool, (tx) =>
    settleEarlyRefunds(tx, { workspaceId: order.workspace_id, orderId: order.order_id, now }),
  );
  return true;
}
