import { connectionOfAny, lockConnection } from '../../sql/connections/connections.ts';
import { nextDuePayment, paymentById, postponePayment } from '../../sql/connections/payments.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { settlePayment } from '../../sql/transactions/settle-payment.ts';
import { workspaceById } from '../../sql/workspaces/workspaces.ts';
import { type ConnectionDependencies, createClickLookup } from './process-events.ts';

const CHUNK = 50;
/** Wait before a payment that failed is tried again. Milliseconds. */
const AGAIN_AFTER = 300_000;

/**
 * Settles payments that have waited long enough for an event that never came. Several workers may run it.
 *
 * @returns whether more may be due
 */
export async function settleDuePayments(dependencies: ConnectionDependencies): Promise<boolean> {
  const { pool, log } = dependencies;
  const tried: string[] = [];
  for (let count = 0; count < CHUNK; count++) {
    const due = await nextDuePayment(pool, tried);
    if (!due) return false;
    tried.push(due.id);
    try {
      await settle(dependencies, due);
    } catch (error) {
      await postponePayment(pool, due.id, new Date(Date.now() + AGAIN_AFTER));
      log.warn({ err: error, connection: due.connection_id }, 'failed to settle a payment; will retry');
    }
  }
  return true;
}

async function settle(
  dependencies: ConnectionDependencies,
  due: { id: string; connection_id: string },
): Promise<void> {
  const { pool } = dependencies;
  if (!(await connectionOfAny(pool, due.connection_id))) return postponePayment(pool, due.id, null);
  await inTransaction(pool, async (tx) => {
    const connection = await lockConnection(tx, due.connection_id);
    const payment = connection && (await paymentById(tx, due.id));
    const workspace = connection && (await workspaceById(tx, connection.workspace_id));
    if (!connection || !payment || !workspace) return;
    const clicked = createClickLookup(dependencies, workspace.id);
    await settlePayment(tx, { workspace, connection, now: new Date(), clicked }, payment);
  });
}
