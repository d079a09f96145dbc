import { toCredits } from '../../core/referrals/credits.ts';
import type { SignupGrant } from '../../core/referrals/signup-reward.ts';
import type { Queryable } from '../database/pool.ts';
import { queueGrantDelivery } from '../fulfilments/grant-deliveries.ts';

export const GRANT_STATUSES = ['earned', 'delivered', 'revoked'] as const;
export type GrantStatus = (typeof GRANT_STATUSES)[number];

export type Grant = {
  id: number;
  workspace_id: string;
  cause: SignupGrant['cause'] | 'purchase';
  program_id: string;
  /** The referrer, also of a referee's credit. */
  enrollment_id: string;
  credit_kind: string;
  /** Hundredths of a credit. */
  amount: number;
  status: GrantStatus;
  revoked_reason: string | null;
  /** The user who gets it. */
  external_user_id: string;
  /** Null: a coupon's order that names no user. */
  referee_external_user_id: string | null;
  earned_at: Date | null;
  delivered_at: Date | null;
  created_at: Date;
};

const COLUMNS = `id, workspace_id, cause, program_id, enrollment_id, credit_kind, amount, status, revoked_reason, external_user_id,
  referee_external_user_id, earned_at, delivered_at, created_at`;

/** A credit grant as the API and its webhooks show it. */
export type GrantRecord = {
  id: number;
  program_id: string;
  partner_id: string;
  commission_id: string | null;
  credit_kind: string;
  amount: number;
  status: GrantStatus;
  revoked_reason: string | null;
  external_user_id: string;
  referee_external_user_id: string | null;
  earned_at: string | null;
  delivered_at: string | null;
  created_at: string;
};

/** Returns a grant as the API shows it. Credits are not part of a commission, so `commission_id` is always null. */
export function grantRecord(grant: Grant): GrantRecord {
  return {
    id: grant.id,
    program_id: grant.program_id,
    partner_id: grant.enrollment_id,
    commission_id: null,
    credit_kind: grant.credit_kind,
    amount: toCredits(grant.amount),
    status: grant.status,
    revoked_reason: grant.revoked_reason,
    external_user_id: grant.external_user_id,
    referee_external_user_id: grant.referee_external_user_id,
    earned_at: grant.earned_at?.toISOString() ?? null,
    delivered_at: grant.delivered_at?.toISOString() ?? null,
    created_at: grant.created_at.toISOString(),
  };
}

export type NewGrant = {
  programId: string;
  enrollmentId: string;
  externalUserId: string;
  refereeExternalUserId: string | null;
  cause: SignupGrant['cause'] | 'purchase';
  /** Null: of a coupon's order. */
  signupId: string | null;
  orderInternalId: number | null;
  creditKind: string;
  amount: number;
  revokedReason: string | null;
};

/**
 * Writes a grant: earned, or revoked with its reason. Unique indexes refuse a second one for the same cause. An earned
 * one is queued for the program's fulfilment.
 */
export async function insertGrant(
  tx: Queryable,
  workspaceId: string,
  grant: NewGrant,
  now: Date,
): Promise<Grant> {
  const revoked = grant.revokedReason !== null;
  const { rows } = await tx.query<Grant>(
    `INSERT INTO grants (workspace_id, program_id, enrollment_id, external_user_id, referee_external_user_id, cause,
       signup_id, order_internal_id, credit_kind, amount, status, revoked_reason, earned_at, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) RETURNING ${COLUMNS}`,
    [
      workspaceId,
      grant.programId,
      grant.enrollmentId,
      grant.externalUserId,
      grant.refereeExternalUserId,
      grant.cause,
      grant.signupId,
      grant.orderInternalId,
      grant.creditKind,
      grant.amount,
      revoked ? 'revoked' : 'earned',
      grant.revokedReason,
      revoked ? null : now,
      now,
    ],
  );
  if (!rows[0]) throw new Error('the grant was not inserted');
  if (!revoked) await queueGrantDelivery(tx, rows[0], now);
  return rows[0];
}

/** Returns the grants of a signup that are not revoked, locked until the transaction ends. */
export async function lockGrantsOfSignup(tx: Queryable, signupId: string): Promise<Grant[]> {
  const { rows } = await tx.query<Grant>(
    `SELECT ${COLUMNS} FROM grants WHERE signup_id = $1 AND status <> 'revoked' ORDER BY id FOR NO KEY UPDATE`,
    [signupId],
  );
  return rows;
}

/** SQL: whether order `$1` is not refunded in full, because a refund was given back. */
const IS_KEPT = `(SELECT coalesce(sum(amount_minor), 0) FROM refunds WHERE order_internal_id = $1)
  < (SELECT amount_minor FROM purchases WHERE order_internal_id = $1)`;

/**
 * Returns the grants of an order, locked until the transaction ends. Leaves out grants that a correction revoked, or a
 * refund that was given back since.
 */
export async function lockGrantsOfOrder(tx: Queryable, orderInternalId: number): Promise<Grant[]> {
  const { rows } = await tx.query<Grant>(
    `SELECT ${COLUMNS} FROM grants WHERE order_internal_id = $1 AND revoked_reason IS DISTINCT FROM 'corrected'
       AND NOT (coalesce(revoked_reason, '') = 'refunded' AND ${IS_KEPT}) ORDER BY id FOR NO KEY UPDATE`,
    [orderInternalId],
  );
  return rows;
}

/** Returns the grants with these ids, of any workspace. */
export async function grantsById(db: Queryable, ids: readonly number[]): Promise<Grant[]> {
  if (ids.length === 0) return [];
  const { rows } = await db.query<Grant>(`SELECT ${COLUMNS} FROM grants WHERE id = ANY ($1)`, [ids]);
  return rows;
}

/** Selects a referrer's grants (including its referees' credits), a user's own, or those that match both. */
export type GrantFilter = { partnerId?: string | undefined; externalUserId?: string | undefined };

const MATCHING = `workspace_id = $1 AND ($2::uuid IS NULL OR enrollment_id = $2)
  AND ($3::text IS NULL OR external_user_id = $3)`;

/**
 * Returns the grants of a workspace, newest first.
 *
 * @param filter.before a grant's id: only older ones
 */
export async function listGrants(
  db: Queryable,
  workspaceId: string,
  filter: GrantFilter & { status: GrantStatus | 'all'; limit: number; before: number | null },
): Promise<Grant[]> {
  const { rows } = await db.query<Grant>(
    `SELECT ${COLUMNS} FROM grants WHERE ${MATCHING} AND ($4 = 'all' OR status = $4) AND ($6::bigint IS NULL OR id < $6)
     ORDER BY id DESC LIMIT $5`,
    [
      workspaceId,
      filter.partnerId ?? null,
      filter.externalUserId ?? null,
      filter.status,
      filter.limit,
      filter.before,
    ],
  );
  return rows;
}

/** Credits by kind and current status: sums of ledger entries, in hundredths. */
export type GrantBalance = { unit: string; earned: number; delivered: number };

/** Returns the balance of the grants that match the filter of {@link listGrants}, whatever their status and number. */
export async function grantBalances(
  db: Queryable,
  workspaceId: string,
  filter: GrantFilter,
): Promise<GrantBalance[]> {
  const { rows } = await db.query<{ unit: string; earned: string; delivered: string }>(
    `SELECT unit, coalesce(sum(e.amount) FILTER (WHERE account = 'credit_earned'), 0) AS earned,
       coalesce(sum(e.amount) FILTER (WHERE account = 'credit_delivered'), 0) AS delivered
     FROM ledger_entries e
     WHERE e.grant_id IS NOT NULL AND ${MATCHING} GROUP BY unit ORDER BY unit`,
    [workspaceId, filter.partnerId ?? null, filter.externalUserId ?? null],
  );
  return rows.map(({ unit, earned, delivered }) => ({
    unit,
    earned: Number(earned),
    delivered: Number(delivered),
  }));
}

/** Moves a grant from earned to delivered. Returns null when it does not exist or is not earned. */
export async function markGrantDelivered(
  tx: Queryable,
  workspaceId: string,
  id: number,
  now: Date,
): Promise<Grant | null> {
  const { rows } = await tx.query<Grant>(
    `UPDATE grants SET status = 'delivered', delivered_at = $3
     WHERE workspace_id = $1 AND id = $2 AND status = 'earned' RETURNING ${COLUMNS}`,
    [workspaceId, id, now],
  );
  return rows[0] ?? null;
}

/** Revokes an earned grant. Returns null when it does not exist or is not earned. */
export async function markGrantRevoked(
  tx: Queryable,
  workspaceId: string,
  id: number,
  reason: string,
): Promise<Grant | null> {
  const { rows } = await tx.query<Grant>(
    `UPDATE grants SET status = 'revoked', revoked_reason = $3
     WHERE workspace_id = $1 AND id = $2 AND status = 'earned' RETURNING ${COLUMNS}`,
    [workspaceId, id, reason],
  );
  return rows[0] ?? null;
}

/** Returns the grants that a full refund of their order revokes: not delivered, by the program's setting. */
export async function grantsToRevoke(tx: Queryable, orderInternalId: number): Promise<number[]> {
  const { rows } = await tx.query<{ id: number }>(
    `SELECT g.id FROM grants g JOIN programs p ON p.id = g.program_id
     WHERE g.order_internal_id = $1 AND g.status = 'earned' AND p.revoke_credits_on_refund ORDER BY g.id`,
    [orderInternalId],
  );
  return rows.map((row) => row.id);
}

/** Returns the grant with this id in the workspace, or null. */
export async function grantById(db: Queryable, workspaceId: string, id: number): Promise<Grant | null> {
  const { rows } = await db.query<Grant>(
    `SELECT ${COLUMNS} FROM grants WHERE workspace_id = $1 AND id = $2`,
    [workspaceId, id],
  );
  return rows[0] ?? null;
}
