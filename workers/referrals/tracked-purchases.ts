import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { lockUnevaluatedOrders } from '../../sql/orders/reported-orders.ts';
import { qualifyTrackedOrder } from '../../sql/transactions/record-purchase.ts';
import { workspaceById } from '../../sql/workspaces/workspaces.ts';

const CHUNK = 200;

/**
 * Creates the job that evaluates orders which a server reported through the event log as purchases of the referral
 * program. Each transaction has one order, so that two buyers never wait for each other.
 *
 * An order that fails stays. The next run continues behind the last one until all were tried, so failing orders do not
 * block others.
 *
 * @returns one run: it returns whether there may be more, and throws the first failure at its end
 */
export function createOrderEvaluator({ pool }: { pool: Pool }): (now: Date) => Promise<boolean> {
  /** Number of the last order tried. */
  let after = 0;

  /** Evaluates the next order. @returns whether there was one */
  const evaluateNext = (now: Date) =>
    inTransaction(pool, async (tx) => {
      const [order] = await lockUnevaluatedOrders(tx, after, 1);
      if (!order) return false;
      after = order.internal_id;
      const workspace = await workspaceById(tx, order.workspace_id);
      if (workspace) await qualifyTrackedOrder(tx, workspace, order, now);
      return true;
    });

  return async function evaluateTrackedOrders(now) {
    let failure: Error | null = null;
    let more = true;
    for (let tried = 0; more && tried < CHUNK; tried++) {
      const last = after;
      try {
        more = await evaluateNext(now);
      } catch (error) {
        // No order was read: PostgreSQL is down.
        if (after === last) throw error;
        failure ??= new Error(`order ${after} was not evaluated`, { cause: error });
      }
    }
    if (!more) after = 0;
    if (failure) throw failure;
    return more;
  };
}
