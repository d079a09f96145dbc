import { inTransaction, type Pool } from '../../sql/pool.ts';
import { lockUnjudgedOrders } from '../../sql/reported-orders.ts';
import { judgeTrackedOrder } from '../../sql/rewards/record-purchase.ts';
import { workspaceById } from '../../sql/workspaces.ts';

const CHUNK = 200;

/**
 * Judges orders that a server reported through the event log as purchases of the referral programme: one order a
 * transaction, so that two buyers never wait for each other. An order that fails stays, and the ones behind it go on.
 *
 * @returns whether more may be there
 * @throws the first failure, after the round
 */
export async function judgeTrackedOrders({ pool, now }: { pool: Pool; now: Date }): Promise<boolean> {
  let after = 0;
  let failure: unknown = null;
  for (let judged = 0; judged < CHUNK; judged++) {
    const position = after;
    try {
      const next = await inTransaction(pool, async (tx) => {
        const [order] = await lockUnjudgedOrders(tx, position, 1);
        if (!order) return null;
        after = order.internal_id;
        const workspace = await workspaceById(tx, order.workspace_id);
        if (workspace) await judgeTrackedOrder(tx, workspace, order, now);
        return order.internal_id;
      });
      if (next === null) {
        if (failure) throw failure;
        return false;
      }
    } catch (error) {
      if (error === failure || after === position) throw error;
      failure = error;
    }
  }
  if (failure) throw failure;
  return true;
}
