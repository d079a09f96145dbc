import type { Discount } from '../../core/connections/promotion-codes.ts';
import type { Provider } from '../../core/connections/providers.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { Queryable } from '../database/pool.ts';
import type { Claimed } from '../deliveries/queue.ts';

/** `ending`: the coupon is deleted, and a worker must end its code at the provider. */
export type PromotionCodeStatus = 'pending' | 'active' | 'failed' | 'ending' | 'ended';

/** A coupon's code at a provider, as it is listed. */
export type PromotionCode = {
  connection_id: string;
  status: PromotionCodeStatus;
  discount: Discount;
  /** The provider's id of the code. */
  reference: string | null;
  error: string | null;
};

/**
 * Requests a coupon's code at a provider. A code whose attempts failed is tried again now; with other terms it is
 * another object at the provider.
 *
 * @returns false when the coupon's code exists, or is being created
 */
export async function requestPromotionCode(
  tx: Queryable,
  given: { workspaceId: string; couponId: string; connectionId: string; discount: Discount; now: Date },
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `INSERT INTO promotion_codes AS p (id, workspace_id, coupon_id, connection_id, discount, next_attempt_at)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (coupon_id) DO UPDATE SET
       id = CASE WHEN p.discount = excluded.discount AND p.connection_id = excluded.connection_id THEN p.id
            ELSE excluded.id END,
       connection_id = excluded.connection_id, discount = excluded.discount, status = 'pending', attempts = 0,
       error = NULL, next_attempt_at = excluded.next_attempt_at
     WHERE p.status = 'failed' OR (p.status = 'pending' AND p.attempts > 0 AND p.attempt_ends_at IS NULL)`,
    [uuidv7(), given.workspaceId, given.couponId, given.connectionId, given.discount, given.now],
  );
  return rowCount === 1;
}

/**
 * Ends a code that an attempt has made after its claim: its coupon was deleted meanwhile, and the attempts to end the
 * code found none.
 */
export async function endCodeMadeLate(
  tx: Queryable,
  { id, reference, now }: { id: string; reference: string; now: Date },
): Promise<void> {
  await tx.query(
    `UPDATE promotion_codes SET status = 'ending', reference = $2, attempts = 0, error = NULL, next_attempt_at = $3
     WHERE id = $1 AND status = 'ended'`,
    [id, reference, now],
  );
}

/** Ends the codes of coupons at their providers. A code that is being created is ended after that attempt. */
export async function endPromotionCodes(
  tx: Queryable,
  couponIds: readonly string[],
  now: Date,
): Promise<void> {
  await tx.query(
    `UPDATE promotion_codes SET status = 'ending', attempts = 0, error = NULL,
       next_attempt_at = GREATEST(attempt_ends_at, $2)
     WHERE coupon_id = ANY ($1) AND status IN ('pending', 'active', 'failed')`,
    [couponIds, now],
  );
}

/** A code that this worker creates or ends. */
export type ClaimedPromotionCode = {
  id: string;
  workspace_id: string;
  coupon_id: string;
  connection_id: string;
  provider: Provider;
  /** Sealed; null: the connection is deleted, or has none. */
  restricted_key: Buffer | null;
  is_connected: boolean;
  code: string;
  discount: Discount;
  status: 'pending' | 'ending';
  reference: string | null;
  attempts: number;
  refusals: number;
};

/**
 * Returns claimed codes with the data of an attempt. A code whose claim is over is left out: another attempt has begun,
 * or has ended it.
 */
export async function promotionCodesToMake(
  db: Queryable,
  claimed: readonly Pick<Claimed<unknown>, 'id' | 'leaseEnds'>[],
): Promise<ClaimedPromotionCode[]> {
  const { rows } = await db.query<ClaimedPromotionCode>(
    `SELECT p.id, p.workspace_id, p.coupon_id, p.connection_id, connection.provider, connection.restricted_key,
       connection.deleted_at IS NULL AS is_connected, coupon.code, p.discount, p.status, p.reference, p.attempts, p.refusals
     FROM unnest($1::uuid[], $2::float8[]) AS claimed (id, lease_ends)
       JOIN promotion_codes AS p ON p.id = claimed.id AND p.attempt_ends_at = to_timestamp(claimed.lease_ends / 1000)
       JOIN connections AS connection ON connection.id = p.connection_id
       JOIN coupons AS coupon ON coupon.id = p.coupon_id`,
    [claimed.map(({ id }) => id), claimed.map(({ leaseEnds }) => leaseEnds)],
  );
  return rows;
}

/** State of a code after an attempt. */
export type PromotionCodeState = {
  status: PromotionCodeStatus;
  reference: string | null;
  error: string | null;
  isRefused: boolean;
  nextAttemptAt: Date | null;
};

/**
 * Saves the outcome of an attempt.
 *
 * @returns false when the coupon was deleted meanwhile, or another worker was first
 */
export async function savePromotionCode(
  tx: Queryable,
  { id, status, attempts }: Pick<ClaimedPromotionCode, 'id' | 'status' | 'attempts'>,
  state: PromotionCodeState,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE promotion_codes SET status = $4, reference = coalesce($5, reference), error = $6,
       refusals = refusals + $7::int, next_attempt_at = $8, attempts = attempts + 1, attempt_ends_at = NULL
     WHERE id = $1 AND status = $2 AND attempts = $3`,
    [
      id,
      status,
      attempts,
      state.status,
      state.reference,
      state.error,
      state.isRefused ? 1 : 0,
      state.nextAttemptAt,
    ],
  );
  return rowCount === 1;
}
