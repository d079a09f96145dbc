import type { Queryable } from '../database/pool.ts';
import { ORDINALS } from '../event-log/streams.ts';
import { insertOrder, type OrderReport, type OrderSource, upsertOrders } from './orders.ts';
import { queuePublications } from './publications.ts';

/** An order as the referral program sees it. */
export type ReportedOrder = {
  internal_id: number;
  workspace_id: string;
  order_id: string;
  source: OrderSource;
  /** Microseconds. */
  ts: number;
  visitor_id: string | null;
  /**
   * The visitor of a pixel's report, if the report that counts names none. For attribution only: anyone can send a
   * pixel's report.
   */
  pixel_visitor_id: string | null;
  /** The visitor of the buyer's signup, where no report names a visitor. */
  signup_visitor_id: string | null;
  email: string | null;
  external_user_id: string | null;
  amount_minor: number;
  currency: string;
  /** The part of the amount that earns commission; null: all of it. */
  commissionable_minor: number | null;
  is_renewal: boolean;
};

const COLUMNS = `internal_id, workspace_id, order_id, source, ts, visitor_id, pixel_visitor_id, signup_visitor_id, email,
  external_user_id, amount_minor, currency, commissionable_minor, is_renewal`;

export type NewReportedOrder = Omit<ReportedOrder, 'internal_id' | 'source' | 'pixel_visitor_id'>;

/** Ordinal of an order that is not from the event log: the last one. */
const NO_STREAM = ORDINALS - 1;
const MICROS_PER_MILLI = 1_000;

/**
 * Stores an order that a server reported through the API, and queues it for ClickHouse. Locks it until the transaction
 * ends. A known order keeps the report that counts, as in `upsertOrders`.
 *
 * @param given.known whether the caller holds the order's lock
 * @param given.now when it was reported; it is attributed once the watermark has passed this
 * @returns the stored order; null when it was not known and another transaction has just inserted it
 */
export async function putReportedOrder(
  tx: Queryable,
  order: NewReportedOrder,
  { known, now }: { known: boolean; now: Date },
): Promise<ReportedOrder | null> {
  const report: OrderReport = {
    workspaceId: order.workspace_id,
    orderId: order.order_id,
    source: 'server',
    ts: order.ts,
    streamOrdinal: NO_STREAM,
    visitorId: order.visitor_id,
    email: order.email,
    externalUserId: order.external_user_id,
    amountMinor: order.amount_minor,
    currency: order.currency,
    commissionableMinor: order.commissionable_minor,
    isRenewal: order.is_renewal,
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

/** Returns the order with this id in the workspace, locked until the transaction ends, or null. */
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

/** Returns the order with this number, locked until the transaction ends. */
export async function lockOrderByNumber(tx: Queryable, internalId: number): Promise<ReportedOrder> {
  const { rows } = await tx.query<ReportedOrder>(
    `SELECT ${COLUMNS} FROM orders WHERE internal_id = $1 FOR NO KEY UPDATE`,
    [internalId],
  );
  if (!rows[0]) throw new Error(`order ${internalId} is gone`);
  return rows[0];
}

/** {@link lockOrderByNumber}, or null when another transaction holds the order. */
export async function lockUnlockedOrder(tx: Queryable, internalId: number): Promise<ReportedOrder | null> {
  const { rows } = await tx.query<ReportedOrder>(
    `SELECT ${COLUMNS} FROM orders WHERE internal_id = $1 FOR NO KEY UPDATE SKIP LOCKED`,
    [internalId],
  );
  return rows[0] ?? null;
}

/**
 * Returns orders that a server reported through the event log and that the referral program has not evaluated, oldest
 * first, locked until the transaction ends. Skips locked ones.
 */
export async function lockUnevaluatedOrders(
  tx: Queryable,
  after: number,
  limit: number,
): Promise<ReportedOrder[]> {
  const { rows } = await tx.query<ReportedOrder>(
    `SELECT ${COLUMNS} FROM orders WHERE source = 'server' AND referral_evaluated_at IS NULL AND internal_id > $1
     ORDER BY internal_id LIMIT $2 FOR NO KEY UPDATE SKIP LOCKED`,
    [after, limit],
  );
  return rows;
}

/** Records that the referral program has evaluated the order. @returns false when it had before */
export async function markEvaluated(tx: Queryable, internalId: number, now: Date): Promise<boolean> {
  const { rowCount } = await tx.query(
    'UPDATE orders SET referral_evaluated_at = $2 WHERE internal_id = $1 AND referral_evaluated_at IS NULL',
    [internalId, now],
  );
  return rowCount === 1;
}
