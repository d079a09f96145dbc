import { toMajor } from '../../core/money/money.ts';
import type { Queryable } from '../database/pool.ts';
import type { ReportedOrder } from '../orders/reported-orders.ts';
import { visitorOfUser } from '../orders/user-visitors.ts';
import { queueEvents } from '../webhooks/outbox.ts';

/** Queues the webhook event of an order that a server has reported. The visitor is the order's, else the buyer's. */
export async function queueSale(
  tx: Queryable,
  type: 'sale.created' | 'sale.updated',
  order: ReportedOrder,
  externalUserId: string | null,
  now: Date,
): Promise<void> {
  const { source } = order;
  if (source === 'imported') throw new Error(`the imported order ${order.order_id} must have no sale`);
  await queueEvents(tx, order.workspace_id, [
    {
      type,
      data: {
        order_id: order.order_id,
        amount: toMajor(order.amount_minor, order.currency),
        currency: order.currency,
        external_user_id: order.external_user_id,
        visitor_id:
          order.visitor_id ??
          order.pixel_visitor_id ??
          (await knownVisitor(tx, order.workspace_id, externalUserId)),
        source,
        created_at: now.toISOString(),
      },
    },
  ]);
}

async function knownVisitor(tx: Queryable, workspaceId: string, user: string | null): Promise<string | null> {
  if (user === null) return null;
  const { rows } = await tx.query<{ visitor_id: string | null }>(
    `SELECT ${visitorOfUser('$1', '$2')} AS visitor_id`,
    [workspaceId, user],
  );
  return rows[0]?.visitor_id ?? null;
}
