import { toMajor } from '../../core/money/money.ts';
import type { Queryable } from '../database/pool.ts';
import { queueEvents } from '../webhooks/outbox.ts';
import { type OrderReport, upsertOrders } from './orders.ts';

/**
 * Stores reports of orders as {@link upsertOrders} does. In the same transaction it queues a `sale.created` for each
 * new order, and a `sale.updated` for each order whose server report replaces the pixel's.
 */
export async function recordSales(transaction: Queryable, reports: readonly OrderReport[]): Promise<void> {
  const { created, replaced } = await upsertOrders(transaction, reports);
  const sales = [
    ...created.map((report) => ({ type: 'sale.created' as const, report })),
    ...replaced.map((report) => ({ type: 'sale.updated' as const, report })),
  ];
  for (const [workspaceId, own] of Map.groupBy(sales, ({ report }) => report.workspaceId)) {
    await queueEvents(
      transaction,
      workspaceId,
      own.map(({ type, report: sale }) => ({
        type,
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
