import { uuidv7 } from '../../core/ids.ts';
import { couponKey } from '../../core/referrals/coupon-code.ts';
import { endPromotionCodes, type PromotionCode } from '../connections/promotion-codes.ts';
import { conditionsAfter } from '../database/conditions.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';
import { REFERRER_NAMES, type ReferrerNames } from './enrollments.ts';

/** A coupon that brings orders to its referrer. */
export type Coupon = {
  id: string;
  enrollment_id: string;
  /** The referrer's present program. */
  program_id: string;
  /** The referrer. */
  external_user_id: string;
};

const COUPON = `c.id, c.enrollment_id, e.program_id, e.external_user_id
  FROM coupons c JOIN enrollments e ON e.id = c.enrollment_id`;

/**
 * Returns the coupon of the workspace that an order used, or null: the first of its codes that a referrer has. Codes
 * are compared without regard to case.
 *
 * @param former id of the coupon that brought the order, which counts also after it was deleted
 */
export async function referrerOfCoupon(
  db: Queryable,
  workspaceId: string,
  codes: readonly string[],
  former: string | null = null,
): Promise<Coupon | null> {
  if (codes.length === 0) return null;
  const { rows } = await db.query<Coupon>(
    `SELECT ${COUPON} JOIN unnest($2::text[]) WITH ORDINALITY AS used (code_key, nth) USING (code_key)
     WHERE c.workspace_id = $1 AND (c.deleted_at IS NULL OR c.id = $3)
     ORDER BY c.deleted_at IS NOT NULL, nth LIMIT 1`,
    [workspaceId, codes.map(couponKey), former],
  );
  return rows[0] ?? null;
}

/** Returns the coupon with this id in the workspace, also a deleted one, or null. */
export async function couponById(db: Queryable, workspaceId: string, id: string): Promise<Coupon | null> {
  const { rows } = await db.query<Coupon>(`SELECT ${COUPON} WHERE c.workspace_id = $1 AND c.id = $2`, [
    workspaceId,
    id,
  ]);
  return rows[0] ?? null;
}

/** A buyer is known by the user's id, else by the email of the order. */
export type Buyer = { externalUserId: string | null; email: string | null };

/** SQL: whether an id belongs to no user who signed up, such as the id of a provider's customer. */
const isUnknown = (user: string) =>
  `(${user} IS NULL OR NOT EXISTS (SELECT FROM signups WHERE workspace_id = $1 AND external_user_id = ${user}))`;

/**
 * The purchases of buyer ($2, $3) in workspace $1 that coupons brought. Purchases with the buyer's email count when the
 * purchase or the buyer has no known user.
 */
const OF_BUYER = `(
  SELECT p.order_internal_id, p.coupon_id, p.purchased_at, p.rewarded FROM purchases p
  WHERE p.workspace_id = $1 AND p.external_user_id = $2 AND p.signup_id IS NULL AND p.coupon_id IS NOT NULL
  UNION
  SELECT p.order_internal_id, p.coupon_id, p.purchased_at, p.rewarded
  FROM orders o JOIN purchases p ON p.order_internal_id = o.internal_id
  WHERE o.workspace_id = $1 AND o.source = 'server' AND o.email = $3 AND p.signup_id IS NULL
    AND p.coupon_id IS NOT NULL AND (${isUnknown('p.external_user_id')} OR ${isUnknown('$2::text')})
) AS bought`;

/**
 * Returns the coupon of the buyer's latest order before a time that a coupon brought, also a deleted one, or null: a
 * renewal of that order belongs to the same referrer.
 */
export async function couponOfBuyer(
  db: Queryable,
  workspaceId: string,
  { externalUserId, email }: Buyer,
  before: Date,
): Promise<Coupon | null> {
  const { rows } = await db.query<Coupon>(
    `SELECT ${COUPON} WHERE c.id = (
       SELECT coupon_id FROM ${OF_BUYER} WHERE purchased_at < $4
       ORDER BY purchased_at DESC, order_internal_id DESC LIMIT 1)`,
    [workspaceId, externalUserId, email, before],
  );
  return rows[0] ?? null;
}

/** Returns when the first of the buyer's other orders that coupons brought was rewarded, or null. */
export async function firstRewardedByCoupon(
  tx: Queryable,
  workspaceId: string,
  { externalUserId, email }: Buyer,
  exceptOrder: number,
): Promise<Date | null> {
  const { rows } = await tx.query<{ first_at: Date | null }>(
    `SELECT min(purchased_at) AS first_at FROM ${OF_BUYER} WHERE rewarded AND order_internal_id <> $4`,
    [workspaceId, externalUserId, email, exceptOrder],
  );
  return rows[0]?.first_at ?? null;
}

/** A coupon as the API lists it. */
export type ListedCoupon = Coupon &
  ReferrerNames & {
    code: string;
    created_at: string;
    /** The code that the service makes at a connected provider; null: none. */
    promotion_code: PromotionCode | null;
  };

const PROMOTION_CODE = `(
  SELECT jsonb_build_object('connection_id', p.connection_id, 'status', p.status, 'discount', p.discount,
    'reference', p.reference, 'error', p.error)
  FROM promotion_codes p WHERE p.coupon_id = c.id)`;

export type CouponFilter = {
  id: string | null;
  code: string | null;
  externalUserId: string | null;
  enrollmentId: string | null;
  programId: string | null;
  /** A coupon's id: only older ones. */
  before: string | null;
  limit: number;
};

/** Returns the coupons of a workspace that pass the filter, newest first, without deleted ones. */
export async function listCoupons(
  db: Queryable,
  workspaceId: string,
  filter: CouponFilter,
): Promise<ListedCoupon[]> {
  const { add, parameter, text, values } = conditionsAfter(workspaceId);
  add((p) => `c.id = ${p}`, filter.id);
  add((p) => `c.code_key = ${p}`, filter.code === null ? null : couponKey(filter.code));
  add((p) => `e.external_user_id = ${p}`, filter.externalUserId);
  add((p) => `c.enrollment_id = ${p}`, filter.enrollmentId);
  add((p) => `e.program_id = ${p}`, filter.programId);
  add((p) => `c.id < ${p}`, filter.before);
  const { rows } = await db.query<ListedCoupon>(
    `SELECT ${REFERRER_NAMES}, c.code, ${isoMicros('c.created_at')} AS created_at, ${PROMOTION_CODE} AS promotion_code, ${COUPON}
     WHERE c.workspace_id = $1 AND c.deleted_at IS NULL${text()} ORDER BY c.id DESC LIMIT ${parameter(filter.limit)}`,
    values,
  );
  return rows;
}

/** Returns the codes of a referrer, newest first. */
export async function codesOf(db: Queryable, enrollmentId: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ code: string }>(
    'SELECT code FROM coupons WHERE enrollment_id = $1 AND deleted_at IS NULL ORDER BY id DESC LIMIT $2',
    [enrollmentId, limit],
  );
  return rows.map((row) => row.code);
}

/** Gives a referrer a code. Returns the coupon's id, or null when a referrer of the workspace has the code. */
export async function insertCoupon(
  tx: Queryable,
  given: { workspaceId: string; enrollmentId: string; code: string; now: Date },
): Promise<string | null> {
  const { rows } = await tx.query<{ id: string }>(
    `INSERT INTO coupons (id, workspace_id, enrollment_id, code, code_key, created_at) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (workspace_id, code_key) WHERE deleted_at IS NULL DO NOTHING RETURNING id`,
    [uuidv7(), given.workspaceId, given.enrollmentId, given.code, couponKey(given.code), given.now],
  );
  return rows[0]?.id ?? null;
}

/**
 * Ends a coupon, and its code at a provider: later orders with its code have no referrer. Returns false when the
 * workspace has no such coupon.
 */
export async function deleteCoupon(
  tx: Queryable,
  workspaceId: string,
  { id, now }: { id: string; now: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    'UPDATE coupons SET deleted_at = $3 WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL',
    [workspaceId, id, now],
  );
  if (rowCount !== 1) return false;
  await endPromotionCodes(tx, [id], now);
  return true;
}

/** Ends all coupons of a referrer, and their codes at providers. */
export async function deleteCouponsOf(tx: Queryable, enrollmentId: string, now: Date): Promise<void> {
  const { rows } = await tx.query<{ id: string }>(
    'UPDATE coupons SET deleted_at = $2 WHERE enrollment_id = $1 AND deleted_at IS NULL RETURNING id',
    [enrollmentId, now],
  );
  await endPromotionCodes(
    tx,
    rows.map(({ id }) => id),
    now,
  );
}
