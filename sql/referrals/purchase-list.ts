import type { PurchaseReason } from '../../core/referrals/terms.ts';
import { conditionsAfter } from '../database/conditions.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';
import { REFERRER_NAMES, type ReferrerNames } from './enrollments.ts';

/** The outcome of an order, with the order and its buyer's referrer. */
export type ListedPurchase = ReferrerNames & {
  order_internal_id: number;
  order_id: string;
  /** The buyer. */
  external_user_id: string | null;
  program_id: string | null;
  /** The referrer; null: none, or the signup is pending. */
  enrollment_id: string | null;
  referrer_external_user_id: string | null;
  amount_minor: number;
  /** Sum of all refunds. */
  refunded_minor: number;
  /** The part of the amount that earns commission; null: all of it. */
  commissionable_minor: number | null;
  currency: string;
  is_renewal: boolean;
  held: boolean;
  rewarded: boolean;
  ledger_rows: number;
  reason: PurchaseReason | null;
  /** The code of a referrer's coupon that the order used. */
  coupon: string | null;
  purchased_at: string;
  /** The latest event of a provider's payment that has no referrer, and who paid; null for any other purchase. */
  provider_event: {
    connection_id: string;
    event_id: string;
    reason: string | null;
    customer: string | null;
    subscription: string | null;
  } | null;
};

export type PurchaseFilter = {
  programId: string | null;
  enrollmentId: string | null;
  matched: boolean | null;
  rewarded: boolean | null;
  held: boolean | null;
  reason: PurchaseReason | null;
  /** The merchant's id. */
  orderId: string | null;
  /** An `order_internal_id`: only older ones. */
  before: number | null;
  limit: number;
};

/**
 * SQL: payments at providers of workspace `$1` whose buyer is unknown, because no event of the provider named one, as
 * rows of purchases.
 */
export const PAYMENTS_WITHOUT_BUYER = `SELECT c.workspace_id, c.order_internal_id, NULL::text AS external_user_id,
    NULL::uuid AS enrollment_id, o.amount_minor, o.commissionable_minor, o.currency, o.is_renewal, false AS held,
    false AS rewarded, 0 AS ledger_rows, NULL::text AS reason, NULL::uuid AS coupon_id,
    to_timestamp(o.ts / 1000000.0) AS purchased_at
  FROM connection_payments c JOIN orders o ON o.internal_id = c.order_internal_id
  WHERE c.workspace_id = $1 AND o.same_as IS NULL
    AND NOT EXISTS (SELECT FROM purchases known WHERE known.order_internal_id = c.order_internal_id)`;

const PURCHASES = `SELECT workspace_id, order_internal_id, external_user_id, enrollment_id, amount_minor,
  commissionable_minor, currency, is_renewal, held, rewarded, ledger_rows, reason, coupon_id, purchased_at FROM purchases`;

/** Whether payments that name no known buyer may pass the filter. */
const mayHaveNoBuyer = ({ matched, programId, enrollmentId, rewarded, held, reason }: PurchaseFilter) =>
  matched !== true &&
  programId === null &&
  enrollmentId === null &&
  rewarded !== true &&
  held !== true &&
  reason === null;

/** Returns the purchases of a workspace that pass the filter, the latest known order first. */
export async function listPurchases(
  db: Queryable,
  workspaceId: string,
  filter: PurchaseFilter,
): Promise<ListedPurchase[]> {
  const { add, addFixed, parameter, text, values } = conditionsAfter(workspaceId);
  add((p) => `e.program_id = ${p}`, filter.programId);
  add((p) => `p.enrollment_id = ${p}`, filter.enrollmentId);
  add((p) => `(p.enrollment_id IS NOT NULL) = ${p}`, filter.matched);
  // Another purchase of the payment counts: nothing of it is open.
  if (filter.matched === false && filter.reason === null)
    addFixed(`p.reason IS DISTINCT FROM 'same_payment'`);
  add((p) => `p.rewarded = ${p}`, filter.rewarded);
  // Not a parameter, for the index of held purchases.
  if (filter.held !== null) addFixed(filter.held ? 'p.held' : 'NOT p.held');
  add((p) => `p.reason = ${p}`, filter.reason);
  add((p) => `o.workspace_id = $1 AND o.order_id = ${p}`, filter.orderId);
  add((p) => `p.order_internal_id < ${p}`, filter.before);
  const purchases = mayHaveNoBuyer(filter)
    ? `(${PURCHASES} WHERE workspace_id = $1 UNION ALL ${PAYMENTS_WITHOUT_BUYER})`
    : 'purchases';
  const { rows } = await db.query<ListedPurchase>(
    `SELECT p.order_internal_id, o.order_id, p.external_user_id, e.program_id, p.enrollment_id,
       e.external_user_id AS referrer_external_user_id, ${REFERRER_NAMES}, p.amount_minor,
       (SELECT coalesce(sum(amount_minor), 0)::bigint FROM refunds r
        WHERE r.order_internal_id = p.order_internal_id) AS refunded_minor,
       p.commissionable_minor, p.currency, p.is_renewal, p.held, p.rewarded, p.ledger_rows, p.reason,
       (SELECT code FROM coupons c WHERE c.id = p.coupon_id) AS coupon, ${isoMicros('p.purchased_at')} AS purchased_at,
       CASE WHEN p.enrollment_id IS NULL THEN (
         SELECT json_build_object('connection_id', v.connection_id, 'event_id', v.event_id, 'reason', c.reason,
           'customer', c.customer_id, 'subscription', c.subscription_id)
         FROM connection_payments c JOIN connection_events v ON v.payment_id = c.id
         JOIN connections n ON n.id = v.connection_id AND n.deleted_at IS NULL
         WHERE c.order_internal_id = p.order_internal_id ORDER BY v.internal_id DESC LIMIT 1) END AS provider_event
     FROM ${purchases} p JOIN orders o ON o.internal_id = p.order_internal_id
     LEFT JOIN enrollments e ON e.id = p.enrollment_id
     WHERE p.workspace_id = $1${text()} ORDER BY p.order_internal_id DESC LIMIT ${parameter(filter.limit)}`,
    values,
  );
  return rows;
}
