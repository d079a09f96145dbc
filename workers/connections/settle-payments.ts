import type { Lookup } from '../../core/connections/connector.ts';
import { connectorOf } from '../../core/connections/connectors.ts';
import { OPEN_MS, paymentState } from '../../core/connections/payment-parts.ts';
import {
  type Connection,
  connectionOfAny,
  lockConnection,
  newestConnection,
} from '../../sql/connections/connections.ts';
import { type PaymentCursor, settleNamed } from '../../sql/connections/named-payments.ts';
import {
  type DuePayment,
  nextDuePayment,
  paymentById,
  postponePayment,
} from '../../sql/connections/payments.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { applyFound } from '../../sql/transactions/apply-event.ts';
import { questionAbout } from '../../sql/transactions/settle-payment.ts';
import { workspaceById } from '../../sql/workspaces/workspaces.ts';
import { type ConnectionDependencies, createClickLookup } from './process-events.ts';

const CHUNK = 50;
/** Wait before a payment that failed is tried again. Milliseconds. */
const AGAIN_AFTER = 300_000;

/**
 * Finds payments whose buyer was named after them, which are then due. Several workers may run it.
 *
 * @param after where the previous call ended; null: at the oldest payment
 * @returns where the next call continues; null: it has looked at the newest
 */
export async function findNamedPayments(
  { pool }: ConnectionDependencies,
  after: PaymentCursor | null,
): Promise<PaymentCursor | null> {
  return settleNamed(pool, new Date(Date.now() - OPEN_MS), after);
}

/**
 * Settles payments that have waited long enough for a missing event, whose provider can be asked, or whose buyer was
 * named after them. Several workers may run it.
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

async function settle(dependencies: ConnectionDependencies, due: DuePayment): Promise<void> {
  const { pool } = dependencies;
  const known = (await connectionOfAny(pool, due.connection_id)) ?? (await newestConnection(pool, due));
  if (!known) return postponePayment(pool, due.id, null);
  const found = await lookUp(dependencies, known, due);
  await inTransaction(pool, async (tx) => {
    const connection = await lockConnection(tx, known.id);
    const workspace = connection && (await workspaceById(tx, connection.workspace_id));
    if (!connection || !workspace) return;
    const clicked = createClickLookup(tx, dependencies, workspace.id, 0);
    const context = { workspace, connection, now: new Date(), eventId: null, clicked };
    await applyFound(tx, context, due.id, found);
  });
}

/** Asks the provider, with the connection's key, for the facts about a payment that its events lack. */
async function lookUp(
  { pool, sealer, stripeApiBase }: ConnectionDependencies,
  { id, provider, restricted_key: sealed }: Connection,
  due: DuePayment,
): Promise<Awaited<ReturnType<Lookup>>> {
  const ask = connectorOf(provider).lookUp;
  // A payment that has waited long enough does not depend on the provider's response.
  const isOver = due.created_at.getTime() + OPEN_MS <= Date.now();
  const payment = ask && sealed !== null && !isOver ? await paymentById(pool, due.id) : null;
  const question = payment && (await questionAbout(pool, payment, paymentState(payment.parts, false)));
  if (!ask || sealed === null || !question) return [];
  return ask(question, {
    key: (await sealer()).open(sealed, id),
    apiBase: stripeApiBase,
    now: new Date(),
  });
}
