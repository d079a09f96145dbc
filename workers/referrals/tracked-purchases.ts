import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { lockUnjudgedOrders } from '../../sql/orders/reported-orders.ts';
import { qualifyTrackedOrder } from '../../sql/transactions/record-purchase.ts';
import { workspaceById } from '../../sql/workspaces/workspaces.ts';

const CHUNK = 200;

/**
 * The rounds that judge orders which a server reported through the event log as purchases of the referral programme:
 * one order a transaction, so that two buyers never wait for each other.
 *
 * An order that fails stays. A round goes on behind it, and behind where the last one ended until all were tried, so
 * that none waits for those that fail, however many they are.
 *
 * @returns a round: answers whether more may be there, and throws the first failure at its end
 */
export function createOrderJudge({ pool }: { pool: Pool }): (now: Date) => Promise<boolean> {
  /** Number of the order that was tried last. */
  let after = 0;

  /** Judges the next order. @returns whether there was one */
  const judgeNext = (now: Date) =>
    inTransaction(pool, async (tx) => {
      const [order] = await lockUnjudgedOrders(tx, after, 1);
      if (!order) return false;
      after = order.internal_id;
      const workspace = await workspaceById(tx, order.workspace_id);
      if (workspace) await qualifyTrackedOrder(tx, workspace, order, now);
      return true;
    });

  return async function judgeTrackedOrders(now) {
    let failure: Error | null = null;
    let more = true;
    for (let tried = 0; more && tried < CHUNK; tried++) {
      const last = after;
      try {
        more = await judgeNext(now);
      } catch (error) {
        // Not even read: the store is away.
        if (after === last) throw error;
        failure ??= new Error(`order ${after} was not judged`, { cause: error });
      }
    }
    if (!more) after = 0;
    if (failure) throw failure;
    return more;
  };
}
