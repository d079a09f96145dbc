import { toMajor } from '../../core/money/money.ts';
import type { Queryable } from '../database/pool.ts';
import { queueEvents } from '../webhooks/outbox.ts';
import { type OrderReport, upsertOrders } from './orders.ts';

/**
 * Stores reports of orders as {@link upsertOrders} does, and queues a `sale.created` for each new order in the same transaction.
 */
export async function recordSales(transaction: Queryable, reports: readonly OrderReport[]): Promise<void> {
  const firsts = await upsertOrders(transaction, reports);
  for (const [workspaceId, sales] of Map.groupBy(firsts, (report) => report.workspaceId)) {
    await queueEvents(
      transaction,
      workspaceId,
      sales.map((sale) => ({
        type: 'sale.created',
        data: {
          order_id: sale.orderId,
          amount: toMajor(sale.amountMinor, sale.currency),
          currency: sale.currency,
          external_user_id: sale.externalUserId,
          visitor_id: sale.visitorId ?? sale.pixelVisitorId,
          source: sale.source,
          created_at: new Date(Math.floor(sale.ts / 1_000)).toISOString(),
        },
      })),
    );
  }
}
