import { createHash } from 'node:crypto';
import { writeToEach } from '../../analytics/replicas/write-to-each.ts';
import { assertAnswers } from '../../clickhouse/client.ts';
import { insertBlock } from '../../clickhouse/inserts/insert-block.ts';
import { type OrderRow, orderBlock } from '../../clickhouse/inserts/orders.ts';
import { refusesRows } from '../../clickhouse/inserts/refusal.ts';
import type { Replica } from '../../clickhouse/replicas.ts';
import { uuidToBytes } from '../../core/ids.ts';
import type { Logger } from '../../core/tier/log.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { missedOf, recordMissed, recordRepaired } from '../../sql/event-log/replica-repairs.ts';
import {
  delayPublications,
  dropPublications,
  duePublications,
  holdPublications,
  type Publication,
  publicationsOf,
  queuedOf,
} from '../../sql/orders/publications.ts';
import type { WorkerMetrics } from '../metrics.ts';

export type PublishDependencies = {
  pool: Pool;
  replicas: readonly Replica[];
  metrics: WorkerMetrics;
  log: Logger;
};

const CHUNK = 5_000;
/** More refused rows than this mean a wrong schema: all of them stay due. */
const MAX_REFUSED = 100;
const RETRY_REFUSED_MINUTES = 10;
/** Longest wait for a replica that is repaired. Milliseconds. */
const REPAIR_MS = 5_000;

/**
 * Writes queued orders to ClickHouse as they are in PostgreSQL; nothing else writes `orders`. The transaction that
 * changes an order queues it, and it leaves the queue when its version is in ClickHouse. After a crash the same row is
 * written again with the same version or a higher one, and the table keeps the row of the highest version. Of several
 * replicas, one that does not get an order gets it when it is repaired.
 *
 * @returns whether more may be queued
 */
export async function publishOrders(dependencies: PublishDependencies): Promise<boolean> {
  const { pool, replicas, metrics, log } = dependencies;
  return inTransaction(pool, async (tx) => {
    await holdPublications(tx);
    const orders = await duePublications(tx, CHUNK);
    if (orders.length === 0) return false;
    const refused: Publication[] = [];
    let whole = replicas.map(({ name }) => name);
    await insert(orders, refused, async (some) => {
      const stored = await writeToEach(
        tx,
        { replicas, log },
        {
          what: 'orders',
          write: (clickhouse, signal) => insertOrders(clickhouse, some, signal),
        },
      );
      whole = whole.filter((name) => stored.includes(name));
    });
    const published = orders.filter((order) => !refused.includes(order));
    await recordMissed(tx, {
      stored: whole,
      of: published.map(({ internal_id: subject }) => ({ work: 'orders', subject })),
    });
    await dropPublications(tx, published);
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
  orders: readonly Publication[],
  refused: Publication[],
  write: (orders: readonly Publication[]) => Promise<void>,
): Promise<void> {
  try {
    await write(orders);
  } catch (error) {
    if (!refusesRows(error)) throw error;
    if (orders.length === 1) refused.push(...orders);
    if (refused.length > MAX_REFUSED) throw error;
    if (orders.length === 1) return;
    const middle = orders.length >> 1;
    await insert(orders.slice(0, middle), refused, write);
    await insert(orders.slice(middle), refused, write);
  }
}

async function insertOrders(
  clickhouse: Replica['clickhouse'],
  orders: readonly Publication[],
  signal: AbortSignal,
): Promise<void> {
  await insertBlock(clickhouse, {
    table: 'orders',
    block: orderBlock(orders.map(rowOf)),
    token: tokenOf(orders),
    signal,
  });
}

/**
 * Writes orders that a replica has missed, as they are now. One that it refuses stays missed, unless it is queued: the
 * other replicas refused it too.
 *
 * @returns whether it may have missed more
 */
export async function repairOrders(
  { pool, log }: { pool: Pool; log: Logger },
  { name, clickhouse }: Replica,
): Promise<boolean> {
  if ((await missedOf(pool, name, 'orders', 1)).length === 0) return false;
  // The transaction holds the publications for all replicas: a replica that is away must not delay it.
  await assertAnswers(clickhouse);
  const signal = AbortSignal.timeout(REPAIR_MS);
  return inTransaction(pool, async (tx) => {
    await holdPublications(tx);
    const missed = await missedOf(tx, name, 'orders', CHUNK);
    const orders = await publicationsOf(
      tx,
      missed.map(({ subject }) => subject),
    );
    const refused: Publication[] = [];
    if (orders.length > 0) await insert(orders, refused, (some) => insertOrders(clickhouse, some, signal));
    const left = new Set(refused.map(({ internal_id: id }) => String(id)));
    for (const id of await queuedOf(tx, [...left])) left.delete(id);
    for (const order of left)
      log.error({ replica: name, order }, 'a replica refuses an order that others have; it is not read');
    const repaired = missed.filter(({ subject }) => !left.has(subject));
    await recordRepaired(tx, name, 'orders', repaired);
    return missed.length === CHUNK && repaired.length > 0;
  });
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
