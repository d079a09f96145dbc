import { uuidv7 } from '../../core/ids.ts';
import type { BlockReason } from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';

/** A user who signed up, as reported. */
export type Signup = {
  id: string;
  workspace_id: string;
  external_user_id: string;
  email: string | null;
  device_id: string | null;
  visitor_id: string | null;
  address_hash: Buffer | null;
  reported_at: Date;
} & (
  | {
      state: 'pending';
      program_id: null;
      enrollment_id: null;
      /** The referrer when no click of the visitor decides; null: none. */
      fallback_enrollment_id: string | null;
      block_reason: null;
    }
  | {
      state: 'matched';
      program_id: string;
      enrollment_id: string;
      fallback_enrollment_id: null;
      block_reason: BlockReason | null;
    }
);

export type PendingSignup = Extract<Signup, { state: 'pending' }>;
export type MatchedSignup = Extract<Signup, { state: 'matched' }>;

const COLUMNS = `id, workspace_id, external_user_id, email, device_id, visitor_id, address_hash, state, program_id,
  enrollment_id, fallback_enrollment_id, block_reason, reported_at`;

export type SignupReport = Pick<
  Signup,
  'workspace_id' | 'external_user_id' | 'email' | 'device_id' | 'visitor_id' | 'address_hash'
>;

/**
 * Returns the user's signup, locked until the transaction ends. Inserts a pending one when there is none. Waits for a
 * concurrent report of the same user.
 */
export async function lockOrInsertSignup(tx: Queryable, report: SignupReport, now: Date): Promise<Signup> {
  const { rows } = await tx.query<Signup>(
    `INSERT INTO signups (id, workspace_id, external_user_id, email, device_id, visitor_id, address_hash, state,
       reported_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', $8)
     ON CONFLICT (workspace_id, external_user_id) DO NOTHING RETURNING ${COLUMNS}`,
    [
      uuidv7(),
      report.workspace_id,
      report.external_user_id,
      report.email,
      report.device_id,
      report.visitor_id,
      report.address_hash,
      now,
    ],
  );
  if (rows[0]) return rows[0];
  const known = await lockSignupOfUser(tx, report.workspace_id, report.external_user_id);
  // A concurrent transaction deleted the pending signup: no one had referred it.
  return known ?? lockOrInsertSignup(tx, report, now);
}

/** Returns the signup of this user in the workspace, or null. */
export async function signupOfUser(
  db: Queryable,
  workspaceId: string,
  externalUserId: string,
): Promise<Signup | null> {
  const { rows } = await db.query<Signup>(
    `SELECT ${COLUMNS} FROM signups WHERE workspace_id = $1 AND external_user_id = $2`,
    [workspaceId, externalUserId],
  );
  return rows[0] ?? null;
}

/** {@link signupOfUser}, locked until the transaction ends: serializes the purchases of one buyer. */
export async function lockSignupOfUser(
  tx: Queryable,
  workspaceId: string,
  externalUserId: string,
): Promise<Signup | null> {
  const { rows } = await tx.query<Signup>(
    `SELECT ${COLUMNS} FROM signups WHERE workspace_id = $1 AND external_user_id = $2 FOR NO KEY UPDATE`,
    [workspaceId, externalUserId],
  );
  return rows[0] ?? null;
}

/**
 * Returns the signed-up user who made an order that names no user, or null. In this order: the signup with the
 * order's email, the signup with its visitor, the user that a server reported for its email, the user that a server
 * reported for its visitor.
 * Reports of the pixel don't count: anyone could claim another person's orders with them.
 */
export async function userOfOrder(
  db: Queryable,
  workspaceId: string,
  order: { email: string | null; visitorId: string | null },
): Promise<string | null> {
  const { rows } = await db.query<{ external_user_id: string }>(
    `SELECT external_user_id FROM (
       SELECT external_user_id, reported_at, CASE WHEN lower(email) = lower($2) THEN 0 ELSE 1 END AS rank FROM signups
       WHERE workspace_id = $1 AND (lower(email) = lower($2) OR visitor_id = $3)
       UNION ALL
       SELECT external_user_id, reported_at, rank FROM (
         SELECT server_user_id AS external_user_id, 2 AS rank FROM identities
         WHERE workspace_id = $1 AND email = lower($2) AND server_user_id IS NOT NULL
         UNION ALL SELECT server_user_id, 3 FROM identities WHERE workspace_id = $1 AND visitor_id = $3
         UNION ALL
         SELECT external_user_id, 3 FROM visitor_users WHERE workspace_id = $1 AND visitor_id = $3 AND by_server
       ) AS given JOIN signups USING (external_user_id) WHERE workspace_id = $1
     ) AS known ORDER BY rank, reported_at LIMIT 1`,
    [workspaceId, order.email, order.visitorId],
  );
  return rows[0]?.external_user_id ?? null;
}

/**
 * Adds the fields of a report to a pending signup that the caller has locked. The first visitor and the first named
 * referrer stay: clicks are looked up to the first report.
 */
export async function completePendingSignup(
  tx: Queryable,
  signup: PendingSignup,
  report: SignupReport,
  fallbackEnrollmentId: string | null,
): Promise<PendingSignup> {
  const { rows } = await tx.query<PendingSignup>(
    `UPDATE signups SET email = coalesce($3, email), device_id = coalesce($4, device_id),
       visitor_id = coalesce(visitor_id, $5), address_hash = coalesce($6, address_hash),
       fallback_enrollment_id = coalesce(fallback_enrollment_id, $7)
     WHERE workspace_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [
      signup.workspace_id,
      signup.id,
      report.email,
      report.device_id,
      report.visitor_id,
      report.address_hash,
      fallbackEnrollmentId,
    ],
  );
  if (!rows[0]) throw new Error(`signup ${signup.id} does not exist`);
  return rows[0];
}

/** Matches a signup that the caller has locked, and adds the fields of the present report. */
export async function matchSignup(
  tx: Queryable,
  signup: Signup,
  match: { programId: string; enrollmentId: string; blockReason: BlockReason | null },
  report: SignupReport,
): Promise<MatchedSignup> {
  const { rows } = await tx.query<MatchedSignup>(
    `UPDATE signups SET state = 'matched', program_id = $3, enrollment_id = $4, block_reason = $5,
       email = coalesce($6, email), device_id = coalesce($7, device_id), visitor_id = coalesce($8, visitor_id),
       address_hash = coalesce($9, address_hash), fallback_enrollment_id = NULL
     WHERE workspace_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [
      signup.workspace_id,
      signup.id,
      match.programId,
      match.enrollmentId,
      match.blockReason,
      report.email,
      report.device_id,
      report.visitor_id,
      report.address_hash,
    ],
  );
  if (!rows[0]) throw new Error(`signup ${signup.id} does not exist`);
  return rows[0];
}

/**
 * Returns the next pending signup after another one, by report time, across workspaces. Null: none is left that was
 * reported before `before`.
 *
 * @param after null: start with the oldest
 */
export async function nextPendingSignup(
  db: Queryable,
  before: Date,
  after: Pick<Signup, 'id' | 'reported_at'> | null,
): Promise<Signup | null> {
  const { rows } = await db.query<Signup>(
    `SELECT ${COLUMNS} FROM signups WHERE state = 'pending' AND reported_at < $1
       AND ($2::timestamptz IS NULL OR (reported_at, id) > ($2, $3::uuid)) ORDER BY reported_at, id LIMIT 1`,
    [before, after?.reported_at ?? null, after?.id ?? null],
  );
  return rows[0] ?? null;
}

/** Deletes a pending signup that no one referred; its purchases then have no referrer. */
export async function deletePendingSignup(tx: Queryable, workspaceId: string, id: string): Promise<void> {
  await tx.query(
    `UPDATE purchases SET signup_id = NULL, email = NULL
     WHERE workspace_id = $1 AND signup_id = $2 AND enrollment_id IS NULL`,
    [workspaceId, id],
  );
  await tx.query(`DELETE FROM signups WHERE workspace_id = $1 AND id = $2 AND state = 'pending'`, [
    workspaceId,
    id,
  ]);
}

/** Returns the user ids and emails that a visitor is known by, to compare with those of a referrer. */
export async function visitorTraits(
  db: Queryable,
  workspaceId: string,
  visitorId: string,
): Promise<{ externalUserIds: string[]; emails: string[] }> {
  const { rows } = await db.query<{ external_user_id: string | null; email: string | null }>(
    `SELECT external_user_id, email FROM identities WHERE workspace_id = $1 AND visitor_id = $2
     UNION ALL
     SELECT external_user_id, NULL FROM visitor_users WHERE workspace_id = $1 AND visitor_id = $2
     UNION ALL
     SELECT external_user_id, email FROM signups WHERE workspace_id = $1 AND visitor_id = $2`,
    [workspaceId, visitorId],
  );
  return {
    externalUserIds: rows.flatMap((row) => row.external_user_id ?? []),
    emails: rows.flatMap((row) => row.email ?? []),
  };
}
