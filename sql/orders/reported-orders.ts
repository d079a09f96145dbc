import { orderVersion } from '../../core/events/order-version.ts';
import type { Queryable } from '../database/pool.ts';
import { insertOrder, LAST_ORDINAL, type OrderReport, queuePublications, upsertOrders } from './orders.ts';

/** An order as the referral programme sees it. */
export type ReportedOrder = {
  internal_id: number;
  workspace_id: string;
  order_id: string;
  source: 'pixel' | 'server';
  /** Microseconds. */
  ts: number;
  visitor_id: string | null;
  /** Whom a pixel's report named, where the one that counts names nobody: for attribution only, anyone can report by pixel. */
  pixel_visitor_id: string | null;
  /** Whom the buyer signed up as, where no report names a visitor. */
  signup_visitor_id: string | null;
  email: string | null;
  external_user_id: string | null;
  amount_minor: number;
  currency: string;
};

const COLUMNS = `internal_id, workspace_id, order_id, source, ts, visitor_id, pixel_visitor_id, signup_visitor_id, email,
  external_user_id, amount_minor, currency`;

export type NewReportedOrder = Omit<ReportedOrder, 'internal_id' | 'source' | 'pixel_visitor_id'>;

/**
 * These orders did not come through the event log. The last ordinal that there is: a nanosecond before, which an order with
 * the pixel's visitor is of, is then still one of the same microsecond.
 */
const NO_STREAM = LAST_ORDINAL;
const MICROS_PER_MILLI = 1_000;

/**
 * Writes an order that a server reported past the event log, and queues it for ClickHouse. Locked until the
 * transaction ends. Of an order that is known already the report that counts stays, as with all reports.
 *
 * @param given.known whether the caller holds the order
 * @param given.now when it was reported: what was said of its buyer by then is awaited before it is attributed
 * @returns the order as it stands; null when nobody held it and another report wrote it at this very moment
 */
export async function putReportedOrder(
  tx: Queryable,
  order: NewReportedOrder,
  { known, now }: { known: boolean; now: Date },
): Promise<ReportedOrder | null> {
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
    signupVisitorId: order.signup_visitor_id,
  };
  if (known) await upsertOrders(tx, [report]);
  else if (!(await insertOrder(tx, report))) return null;
  const { rows } = await tx.query<ReportedOrder>(
    `UPDATE orders SET reported_at = $3 WHERE workspace_id = $1 AND order_id = $2 RETURNING ${COLUMNS}`,
    [order.workspace_id, order.order_id, (now.getTime() + 1) * MICROS_PER_MILLI],
  );
  const [written] = rows;
  if (!written) throw new Error(`order ${order.order_id} was not written`);
  await queuePublications(tx, [written.internal_id]);
  return written;
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

/** Notes that the programme has judged the order. @returns false when it had before */
export async function markJudged(tx: Queryable, internalId: number, now: Date): Promise<boolean> {
  const { rowCount } = await tx.query(
    'UPDATE orders SET referral_judged_at = $2 WHERE internal_id = $1 AND referral_judged_at IS NULL',
    [internalId, now],
  );
  return rowCount === 1;
}

/** An order on its way into ClickHouse: `visitor_id` is also whom only the pixel named, or the buyer's signup. */
export type Publication = ReportedOrder & { version: bigint; stream_ordinal: number };

/** Orders that ClickHouse lacks as they stand, oldest first, claimed until the transaction ends. */
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
  return rows.map((row) => ({
    ...row,
    version: BigInt(row.version),
    visitor_id: row.visitor_id ?? row.pixel_visitor_id ?? row.signup_visitor_id,
  }));
}

/**
 * Notes that these orders stand in ClickHouse. One that has another version by now stays. Whoever changes an order holds
 * it when he looks whether it is queued: so it is held here too.
 */
export async function dropPublications(
  tx: Queryable,
  published: readonly Pick<Publication, 'internal_id' | 'version'>[],
): Promise<void> {
  const parameters = [
    published.map((order) => order.internal_id),
    published.map(({ version }) => String(version)),
  ];
  await tx.query(
    `WITH held AS MATERIALIZED (
       SELECT internal_id, version FROM orders WHERE internal_id = ANY ($1::bigint[]) ORDER BY internal_id
       FOR NO KEY UPDATE
     )
     DELETE FROM order_publications AS queued
     USING held JOIN unnest($1::bigint[], $2::numeric[]) AS published (internal_id, version) USING (internal_id, version)
     WHERE queued.order_internal_id = held.internal_id`,
    parameters,
  );
}
