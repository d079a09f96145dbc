import { orderVersion } from '../core/order-version.ts';
import { type OrderReport, upsertOrders } from './orders.ts';
import type { Queryable } from './pool.ts';

/** An order as the referral programme sees it. */
export type ReportedOrder = {
  internal_id: number;
  workspace_id: string;
  order_id: string;
  source: 'pixel' | 'server';
  /** Microseconds. */
  ts: number;
  visitor_id: string | null;
  email: string | null;
  external_user_id: string | null;
  amount_minor: number;
  currency: string;
};

const COLUMNS = `internal_id, workspace_id, order_id, source, ts, visitor_id, email, external_user_id, amount_minor,
  currency`;

export type NewReportedOrder = Omit<ReportedOrder, 'internal_id' | 'source'>;

/** The ordinal of no stream in particular: these orders did not come through the event log. */
const NO_STREAM = 0;

/**
 * Writes an order that a server reported past the event log, and queues it for ClickHouse. Locked until the
 * transaction ends. Of an order that is known already the report that counts stays, as with all reports.
 *
 * @returns the order as it stands, and whether this is the first that is heard of it
 */
export async function putReportedOrder(
  tx: Queryable,
  order: NewReportedOrder,
): Promise<{ order: ReportedOrder; isNew: boolean }> {
  const report: OrderReport = {
    workspaceId: order.workspace_id,
    orderId: order.order_id,
    version: orderVersion('server', BigInt(order.ts) * 1_000n + BigInt(NO_STREAM)),
    source: 'server',
    ts: order.ts,
    streamOrdinal: NO_STREAM,
    visitorId: order.visitor_id,
    email: order.email,
    externalUserId: order.external_user_id,
    amountMinor: order.amount_minor,
    currency: order.currency,
  };
  const known = await lockOrder(tx, order.workspace_id, order.order_id);
  if (!known) {
    // Nobody can know the order's number yet, so an insert that finds a row has been overtaken by one.
    const { rowCount } = await tx.query(
      `INSERT INTO orders (workspace_id, order_id, version, source, ts, stream_ordinal, visitor_id, email,
         external_user_id, amount_minor, currency, attribution_model, attribution_window)
       SELECT id, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, attribution_model, attribution_window
       FROM workspaces WHERE id = $1 ON CONFLICT (workspace_id, order_id) DO NOTHING`,
      [
        report.workspaceId,
        report.orderId,
        String(report.version),
        report.source,
        report.ts,
        report.streamOrdinal,
        report.visitorId,
        report.email,
        report.externalUserId,
        report.amountMinor,
        report.currency,
      ],
    );
    if (rowCount === 1) return { order: await publish(tx, order), isNew: true };
  }
  await upsertOrders(tx, [report]);
  return { order: await publish(tx, order), isNew: false };
}

async function publish(tx: Queryable, given: NewReportedOrder): Promise<ReportedOrder> {
  const order = await lockOrder(tx, given.workspace_id, given.order_id);
  if (!order) throw new Error(`order ${given.order_id} was not written`);
  await tx.query(
    'INSERT INTO order_publications (order_internal_id) VALUES ($1) ON CONFLICT (order_internal_id) DO NOTHING',
    [order.internal_id],
  );
  return order;
}

/** The order with this id in the workspace, locked until the transaction ends, or null. */
export async function lockOrder(
  tx: Queryable,
  workspaceId: string,
  orderId: string,
): Promise<ReportedOrder | null> {
  const { rows } = await tx.query<ReportedOrder>(
    `SELECT ${COLUMNS} FROM orders WHERE workspace_id = $1 AND order_id = $2 FOR NO KEY UPDATE`,
    [workspaceId, orderId],
  );
  return rows[0] ?? null;
}

/** The order with this number, locked until the transaction ends. */
export async function lockOrderByNumber(tx: Queryable, internalId: number): Promise<ReportedOrder> {
  const { rows } = await tx.query<ReportedOrder>(
    `SELECT ${COLUMNS} FROM orders WHERE internal_id = $1 FOR NO KEY UPDATE`,
    [internalId],
  );
  if (!rows[0]) throw new Error(`order ${internalId} is gone`);
  return rows[0];
}

/**
 * Orders that a server reported through the event log and that the programme has not judged: locked until the
 * transaction ends, oldest first; those that another transaction works on are left for the next time.
 */
export async function lockUnjudgedOrders(
  tx: Queryable,
  after: number,
  limit: number,
): Promise<ReportedOrder[]> {
  const { rows } = await tx.query<ReportedOrder>(
    `SELECT ${COLUMNS} FROM orders WHERE source = 'server' AND referral_judged_at IS NULL AND internal_id > $1
     ORDER BY internal_id LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED`,
    [after, limit],
  );
  return rows;
}

/** Notes that the programme has judged the order. */
export async function markJudged(tx: Queryable, internalId: number, now: Date): Promise<void> {
  await tx.query(
    'UPDATE orders SET referral_judged_at = $2 WHERE internal_id = $1 AND referral_judged_at IS NULL',
    [internalId, now],
  );
}

/** An order on its way into ClickHouse. */
export type Publication = ReportedOrder & { version: bigint; stream_ordinal: number };

/** Orders that ClickHouse lacks, oldest first, claimed until the transaction ends. */
export async function claimPublications(tx: Queryable, limit: number): Promise<Publication[]> {
  const { rows } = await tx.query<ReportedOrder & { version: string; stream_ordinal: number }>(
    `WITH claimed AS MATERIALIZED (
       SELECT order_internal_id FROM order_publications ORDER BY order_internal_id LIMIT $1
       FOR UPDATE SKIP LOCKED
     )
     SELECT ${COLUMNS}, version, stream_ordinal FROM claimed JOIN orders ON internal_id = order_internal_id
     ORDER BY internal_id`,
    [limit],
  );
  return rows.map((row) => ({ ...row, version: BigInt(row.version) }));
}

/** Notes that these orders stand in ClickHouse. */
export async function dropPublications(tx: Queryable, internalIds: readonly number[]): Promise<void> {
  await tx.query('DELETE FROM order_publications WHERE order_internal_id = ANY ($1)', [internalIds]);
}
