import { createHash } from 'node:crypto';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { insertBlock } from '../../clickhouse/inserts/insert-block.ts';
import { orderBlock } from '../../clickhouse/inserts/orders.ts';
import { uuidToBytes } from '../../core/ids.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { claimPublications, dropPublications, type Publication } from '../../sql/orders/reported-orders.ts';

const CHUNK = 1_000;
/** No event of a stream has this sequence: these orders did not come through the event log. */
const NO_SEQUENCE = 2n ** 64n - 1n;

/**
 * Brings into ClickHouse, for journeys and counts, what the event log has not brought there: orders of `report-purchase`,
 * and what the pixel's report adds to a server's. An order may be inserted again after a crash: the table keeps one row
 * per order, that of the highest version.
 *
 * @returns whether more may be there
 */
export async function publishOrders({
  pool,
  clickhouse,
}: {
  pool: Pool;
  clickhouse: ClickHouseClient;
}): Promise<boolean> {
  return inTransaction(pool, async (tx) => {
    const orders = await claimPublications(tx, CHUNK);
    if (orders.length === 0) return false;
    await insertBlock(clickhouse, {
      table: 'orders',
      block: orderBlock(orders.map(rowOf)),
      token: tokenOf(orders),
    });
    await dropPublications(tx, orders);
    return orders.length === CHUNK;
  });
}

function rowOf(order: Publication) {
  return {
    event: {
      kind: 'order' as const,
      ts: order.ts,
      workspaceId: uuidToBytes(order.workspace_id),
      visitorId: order.visitor_id === null ? null : uuidToBytes(order.visitor_id),
      orderId: order.order_id,
      amountMinor: order.amount_minor,
      currency: order.currency,
      email: order.email,
      externalUserId: order.external_user_id,
      source: order.source,
    },
    version: order.version,
    ordinal: order.stream_ordinal,
    sequence: NO_SEQUENCE,
  };
}

function tokenOf(orders: readonly Publication[]): string {
  const hash = createHash('sha256');
  for (const order of orders) hash.update(`${order.internal_id}/${order.version} `);
  return `reported-orders/${hash.digest('hex')}`;
}
