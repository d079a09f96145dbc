import type { FulfilmentProvider } from '../../core/referrals/fulfilment.ts';
import type { Queryable } from '../database/pool.ts';
import { type Claimed, outcomeCounts } from '../deliveries/queue.ts';
import { PAID } from '../webhooks/subscriptions.ts';

/** The facts about a fulfilment that the worker needs. */
export type DueFulfilment = { id: string; workspaceId: string; programId: string } & (
  | { provider: 'webhook'; url: string; secret: Buffer }
  | { provider: 'stripe_balance'; restrictedKey: Buffer | null; currency: string; creditValue: number }
);

/**
 * SQL: the fulfilments `f` that have a delivery due at the millisecond `$1`, and whose workspace's plan has not lapsed.
 */
export const FULFILMENTS_WITH_DUE_DELIVERIES = `FROM fulfilments AS f
  JOIN workspaces AS workspace ON workspace.id = f.workspace_id
  WHERE f.deleted_at IS NULL AND ${PAID} AND EXISTS (
    SELECT FROM grant_deliveries WHERE fulfilment_id = f.id AND status = 'pending'
      AND next_attempt_at <= to_timestamp($1::float8 / 1000))`;

/**
 * Returns the fulfilments that have a delivery due. Those of a workspace whose plan has lapsed wait until it is
 * renewed.
 *
 * @param now milliseconds since the epoch
 */
export async function fulfilmentsWithDueDeliveries(db: Queryable, now: number): Promise<DueFulfilment[]> {
  const { rows } = await db.query<{
    id: string;
    workspace_id: string;
    program_id: string;
    provider: FulfilmentProvider;
    url: string | null;
    secret: Buffer | null;
    restricted_key: Buffer | null;
    currency: string | null;
    credit_value: number | null;
  }>({
    name: 'fulfilments_with_due_deliveries',
    text: `SELECT f.id, f.workspace_id, f.program_id, f.provider, f.url, f.secret, f.restricted_key, f.currency,
       f.credit_value::float8 ${FULFILMENTS_WITH_DUE_DELIVERIES}`,
    values: [now],
  });
  return rows.map((row) => {
    const common = { id: row.id, workspaceId: row.workspace_id, programId: row.program_id };
    if (row.url !== null && row.secret !== null) {
      return { ...common, provider: 'webhook', url: row.url, secret: row.secret };
    }
    if (row.currency === null || row.credit_value === null)
      throw new Error(`fulfilment ${row.id} lacks settings`);
    const { currency, credit_value: creditValue, restricted_key: restrictedKey } = row;
    return { ...common, provider: 'stripe_balance', restrictedKey, currency, creditValue };
  });
}

/** A delivery that this worker attempts, as it was before the claim. */
export type ClaimedGrantDelivery = Claimed<{
  grantId: number;
  /** Attempts before this one. */
  attempts: number;
  refusals: number;
  /** When an earlier attempt began that may have delivered the grant; null: none may have. */
  uncertainSince: Date | null;
  /** Stripe's customer of that attempt. */
  customer: string | null;
}>;

/**
 * Records the customer of an attempt before it begins: later attempts search there. The customer that an attempt has
 * recorded stays while its outcome is unknown, also when an attempt comes late that stood still before its record.
 *
 * @returns the recorded customer, and whether it is this attempt's
 */
export async function noteCustomer(
  db: Queryable,
  id: string,
  customer: string,
): Promise<{ customer: string; isFirst: boolean }> {
  const { rows } = await db.query<{ customer: string; isFirst: boolean }>(
    `WITH known AS MATERIALIZED (SELECT id, customer FROM grant_deliveries WHERE id = $1 FOR UPDATE)
     UPDATE grant_deliveries AS delivery SET customer = coalesce(known.customer, $2)
     FROM known WHERE delivery.id = known.id
     RETURNING delivery.customer, known.customer IS NULL AS "isFirst"`,
    [id, customer],
  );
  return rows[0] ?? { customer, isFirst: true };
}

/** State of a delivery after an attempt. Times are milliseconds since the epoch. */
export type GrantDeliveryState = {
  status: 'pending' | 'delivered' | 'failed' | 'canceled';
  attempts: number;
  responseStatus: number | null;
  responseBody: string | null;
  error: string | null;
  reference: string | null;
  nextAttemptAt: number | null;
  deliveredAt: number | null;
  /** Whether the attempt certainly did not deliver. */
  isRefused: boolean;
};

/**
 * Saves the outcome of an attempt. A refusal is certain only while no later claim was made: the attempt of that one may
 * have delivered.
 *
 * @returns whether it counts
 */
export async function saveGrantDelivery(
  tx: Queryable,
  { id, attempts: before, uncertainSince, leaseEnds }: ClaimedGrantDelivery,
  state: GrantDeliveryState,
): Promise<boolean> {
  const isFirstRefusal = state.isRefused && uncertainSince === null;
  const { rowCount } = await tx.query(
    `WITH refusal AS MATERIALIZED (
       SELECT $11 AND attempt_ends_at IS NOT DISTINCT FROM to_timestamp($12::float8 / 1000) AS is_certain
       FROM grant_deliveries WHERE id = $1 FOR UPDATE)
     UPDATE grant_deliveries AS delivery SET status = $3, attempts = $4, response_status = $5, response_body = $6, error = $7,
       reference = coalesce($8, reference), next_attempt_at = to_timestamp($9::float8 / 1000),
       delivered_at = to_timestamp($10::float8 / 1000), refusals = refusals + is_certain::int, attempt_ends_at = NULL,
       uncertain_since = CASE WHEN is_certain THEN NULL ELSE uncertain_since END,
       customer = CASE WHEN is_certain THEN NULL ELSE customer END
     FROM refusal WHERE id = $1 AND ${outcomeCounts('$3', '$2')}`,
    [
      id,
      before,
      state.status,
      state.attempts,
      state.responseStatus,
      state.responseBody,
      state.error,
      state.reference,
      state.nextAttemptAt,
      state.deliveredAt,
      isFirstRefusal,
      leaseEnds,
    ],
  );
  return rowCount === 1;
}
