import type { Queryable } from '../database/pool.ts';
import { IMPORTED_ORDINAL } from '../event-log/streams.ts';
import { nextVersion } from './orders.ts';
import { queuePublications } from './publications.ts';

/** An order of another service, with its own time. */
export type ImportedOrder = {
  orderId: string;
  /** Microseconds. */
  ts: number;
  visitorId: string | null;
  /** Lower case. */
  email: string | null;
  /** The link that gets the order if no click of the buyer does. */
  linkId: string | null;
  amountMinor: number;
  currency: string;
};

/** SQL: an order whose import was undone. It counts nowhere, and can be imported again. */
export const IS_UNDONE = (row: string) => `(${row}.source = 'imported' AND ${row}.import_id IS NULL)`;

/**
 * Stores imported orders, and queues them for ClickHouse. They keep the attribution model and window that the workspace
 * has now. They have no other effect. A known order stays as it is.
 *
 * @param orders each id once
 * @returns the ids of the orders that were stored
 */
export async function storeImportedOrders(
  tx: Queryable,
  { workspaceId, importId }: { workspaceId: string; importId: string },
  orders: readonly ImportedOrder[],
): Promise<Set<string>> {
  if (orders.length === 0) return new Set();
  // Sorted, so that transactions lock orders in the same order and never deadlock.
  const sorted = orders.toSorted((a, b) => (a.orderId < b.orderId ? -1 : 1));
  const { rows } = await tx.query<{ internal_id: number; order_id: string }>(
    `INSERT INTO orders AS known (workspace_id, order_id, source, ts, stream_ordinal, visitor_id, email, amount_minor,
       currency, link_id, import_id, attribution_model, attribution_window)
     SELECT workspace.id, given.order_id, 'imported', given.ts, ${IMPORTED_ORDINAL}, given.visitor_id, given.email,
       given.amount_minor, given.currency, given.link_id, $2, workspace.attribution_model, workspace.attribution_window
     FROM unnest($3::text[], $4::bigint[], $5::uuid[], $6::text[], $7::bigint[], $8::text[], $9::uuid[])
       WITH ORDINALITY AS given (order_id, ts, visitor_id, email, amount_minor, currency, link_id, position)
     JOIN workspaces AS workspace ON workspace.id = $1
     ORDER BY given.position
     ON CONFLICT (workspace_id, order_id) DO UPDATE
       SET ts = EXCLUDED.ts, visitor_id = EXCLUDED.visitor_id, email = EXCLUDED.email, link_id = EXCLUDED.link_id,
         amount_minor = EXCLUDED.amount_minor, currency = EXCLUDED.currency, import_id = EXCLUDED.import_id,
         attribution_model = EXCLUDED.attribution_model, attribution_window = EXCLUDED.attribution_window,
         version = ${nextVersion('known')}
       WHERE ${IS_UNDONE('known')}
     RETURNING internal_id, order_id`,
    [
      workspaceId,
      importId,
      sorted.map((order) => order.orderId),
      sorted.map((order) => order.ts),
      sorted.map((order) => order.visitorId),
      sorted.map((order) => order.email),
      sorted.map((order) => order.amountMinor),
      sorted.map((order) => order.currency),
      sorted.map((order) => order.linkId),
    ],
  );
  await queuePublications(
    tx,
    rows.map((row) => row.internal_id),
  );
  return new Set(rows.map((row) => row.order_id));
}

/** Returns which of these orders the workspace has, by id. */
export async function knownOrders(
  db: Queryable,
  workspaceId: string,
  orderIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await db.query<{ order_id: string }>(
    `SELECT order_id FROM orders WHERE workspace_id = $1 AND order_id = ANY ($2) AND NOT ${IS_UNDONE('orders')}`,
    [workspaceId, orderIds],
  );
  return new Set(rows.map((row) => row.order_id));
}

/**
 * Undoes the orders of an import: without amount and buyer they are in no report and journey, once their shares are
 * replaced.
 *
 * @returns how many there were
 */
export async function undoImportedOrders(
  tx: Queryable,
  workspaceId: string,
  importId: string,
): Promise<number> {
  const { rows } = await tx.query<{ internal_id: number }>(
    `UPDATE orders SET import_id = NULL, link_id = NULL, visitor_id = NULL, email = NULL, amount_minor = 0,
       without_rate = false, version = ${nextVersion('orders')}
     WHERE workspace_id = $1 AND import_id = $2 RETURNING internal_id`,
    [workspaceId, importId],
  );
  await queuePublications(
    tx,
    rows.map((row) => row.internal_id),
  );
  return rows.length;
}
