import { createHash } from 'node:crypto';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { insertBlock } from '../../clickhouse/inserts/insert-block.ts';
import { type OrderRow, orderBlock } from '../../clickhouse/inserts/orders.ts';
import { isRefusal } from '../../clickhouse/inserts/refusal.ts';
import { uuidToBytes } from '../../core/ids.ts';
import type { Logger } from '../../core/tier/log.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import {
  delayPublications,
  dropPublications,
  duePublications,
  holdPublications,
  type Publication,
} from '../../sql/orders/publications.ts';
import type { WorkerMetrics } from '../metrics.ts';

export type PublishDependencies = {
  pool: Pool;
  clickhouse: ClickHouseClient;
  metrics: WorkerMetrics;
  log: Logger;
};

const CHUNK = 5_000;
/** More refused rows than this mean a wrong schema: all of them stay due. */
const MAX_REFUSED = 100;
const RETRY_REFUSED_MINUTES = 10;

/**
 * Writes queued orders to ClickHouse as they are in PostgreSQL; nothing else writes `orders`. The transaction that
 * changes an order queues it, and it leaves the queue when its version is in ClickHouse. After a crash the same row is
 * written again with the same version or a higher one, and the table keeps the row of the highest version.
 *
 * @returns whether more may be queued
 */
export async function publishOrders(dependencies: PublishDependencies): Promise<boolean> {
  const { pool, metrics, log } = dependencies;
  return inTransaction(pool, async (tx) => {
    await holdPublications(tx);
    const orders = await duePublications(tx, CHUNK);
    if (orders.length === 0) return false;
    const refused: Publication[] = [];
    await insert(dependencies, orders, refused);
    await dropPublications(
      tx,
      orders.filter((order) => !refused.includes(order)),
    );
    await delayPublications(
      tx,
      refused.map((order) => order.internal_id),
      RETRY_REFUSED_MINUTES,
    );
    metrics.insertedRows.inc({ table: 'orders' }, orders.length - refused.length);
    for (const { workspace_id: workspace, order_id: order } of refused) {
      metrics.refusedOrders.inc();
      log.error(
        { workspace, order },
        `ClickHouse refused an order; journeys lack it; will retry in ${RETRY_REFUSED_MINUTES} minutes`,
      );
    }
    return orders.length === CHUNK;
  });
}

/** Inserts the orders. Halves them where ClickHouse refuses a row, and adds the refused ones to `refused`. */
async function insert(
  dependencies: PublishDependencies,
  orders: readonly Publication[],
  refused: Publication[],
): Promise<void> {
  try {
    await insertBlock(dependencies.clickhouse, {
      table: 'orders',
      block: orderBlock(orders.map(rowOf)),
      token: tokenOf(orders),
    });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (orders.length === 1) refused.push(...orders);
    if (refused.length > MAX_REFUSED) throw error;
    if (orders.length === 1) return;
    const middle = orders.length >> 1;
    await insert(dependencies, orders.slice(0, middle), refused);
    await insert(dependencies, orders.slice(middle), refused);
  }
}

function rowOf(order: Publication): OrderRow {
  return {
    workspaceId: uuidToBytes(order.workspace_id),
    orderId: order.order_id,
    version: order.version,
    ts: order.ts,
    ordinal: order.stream_ordinal,
    visitorId: order.visitor_id === null ? null : uuidToBytes(order.visitor_id),
    otherVisitorIds: order.other_visitor_ids.map(uuidToBytes),
    email: order.email,
    externalUserId: order.external_user_id,
    amountMinor: order.amount_minor,
    currency: order.currency,
    imported: order.source === 'imported',
  };
}

function tokenOf(orders: readonly Publication[]): string {
  const hash = createHash('sha256');
  for (const order of orders) hash.update(`${order.internal_id}/${order.version} `);
  return `orders/${hash.digest('hex')}`;
}
