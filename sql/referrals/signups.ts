import { uuidv7 } from '../../core/ids.ts';
import type { BlockReason } from '../../core/referrals/terms.ts';
import { selfReferralEmail } from '../../core/tracking/emails.ts';
import type { Queryable } from '../database/pool.ts';

type Facts = {
  id: string;
  workspace_id: string;
  external_user_id: string;
  /** As addresses identify a person: `normalizeEmail`. */
  email: string | null;
  device_id: string | null;
  visitor_id: string | null;
  address_hash: Buffer | null;
  /** A server has reported the user, so a page can't change the signup. */
  by_server: boolean;
  /** A server has named the referrer, or said that there is none. */
  referrer_by_server: boolean;
  /** A page has named the referrer, and a server a visitor whose click is not visible yet. */
  correcting: boolean;
  /** What the signup and its purchases earn waits for a review. */
  rewards_held: boolean;
  /** Of a pending or correcting signup: the referrer when no click of the visitor decides; null: none. */
  fallback_enrollment_id: string | null;
  reported_at: Date;
};

/** A user who signed up, as reported. */
export type Signup = Facts &
  (
    | { state: 'pending' | 'unmatched'; program_id: null; enrollment_id: null; block_reason: null }
    | { state: 'held'; program_id: string; enrollment_id: string; block_reason: null }
    | { state: 'matched'; program_id: string; enrollment_id: string; block_reason: BlockReason | null }
  );

/** A signup with a referrer. */
export type ReferredSignup = Extract<Signup, { enrollment_id: string }>;

const COLUMNS = `id, workspace_id, external_user_id, email, device_id, visitor_id, address_hash, state, by_server,
  referrer_by_server, correcting, rewards_held, program_id, enrollment_id, fallback_enrollment_id, block_reason,
  reported_at`;

export type SignupReport = Pick<
  Signup,
  'workspace_id' | 'external_user_id' | 'email' | 'device_id' | 'visitor_id' | 'address_hash' | 'by_server'
> & {
  /** When the user signed up, where it is known to be earlier than the report. */
  reported_at?: Date;
};

/**
 * Returns the user's signup, locked until the transaction ends. Inserts a pending one when there is none. Waits for a
 * concurrent report of the same user.
 */
export async function lockOrInsertSignup(tx: Queryable, report: SignupReport, now: Date): Promise<Signup> {
  const { rows } = await tx.query<Signup>(
    `INSERT INTO signups (id, workspace_id, external_user_id, email, mailbox, device_id, visitor_id, address_hash,
       by_server, state, reported_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'pending', $10)
     ON CONFLICT (workspace_id, external_user_id) DO NOTHING RETURNING ${COLUMNS}`,
    [
      uuidv7(),
      report.workspace_id,
      report.external_user_id,
      report.email,
      mailboxOf(report.email),
      report.device_id,
      report.visitor_id,
      report.address_hash,
      report.by_server,
      report.reported_at ?? now,
    ],
  );
  if (rows[0]) return rows[0];
  const known = await lockSignupOfUser(tx, report.workspace_id, report.external_user_id);
  // A concurrent transaction deleted the pending signup: no one had referred it.
  return known ?? lockOrInsertSignup(tx, report, now);
}

const mailboxOf = (email: string | null) => (email === null ? null : selfReferralEmail(email));

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

/** Returns the signup with this id in the workspace, locked until the transaction ends, or null. */
export async function lockSignup(tx: Queryable, workspaceId: string, id: string): Promise<Signup | null> {
  const { rows } = await tx.query<Signup>(
    `SELECT ${COLUMNS} FROM signups WHERE workspace_id = $1 AND id = $2 FOR NO KEY UPDATE`,
    [workspaceId, id],
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

const CHANGEABLE = [
  'email',
  'device_id',
  'visitor_id',
  'address_hash',
  'state',
  'by_server',
  'referrer_by_server',
  'correcting',
  'rewards_held',
  'program_id',
  'enrollment_id',
  'fallback_enrollment_id',
  'block_reason',
] as const satisfies readonly (keyof Signup)[];

export type SignupChange = { [Column in (typeof CHANGEABLE)[number]]?: Signup[Column] | undefined };

/** Changes the given fields of a signup that the caller has locked, and leaves the others. */
export async function updateSignup(tx: Queryable, signup: Signup, change: SignupChange): Promise<Signup> {
  const names = CHANGEABLE.filter((name) => change[name] !== undefined && change[name] !== signup[name]);
  if (names.length === 0) return signup;
  const assignments = names.map((name, index) => `${name} = $${index + 3}`);
  const values: unknown[] = names.map((name) => change[name]);
  if (change.email !== undefined) {
    assignments.push(`mailbox = $${values.push(mailboxOf(change.email)) + 2}`);
  }
  const { rows } = await tx.query<Signup>(
    `UPDATE signups SET ${assignments.join(', ')} WHERE workspace_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
    [signup.workspace_id, signup.id, ...values],
  );
  if (!rows[0]) throw new Error(`signup ${signup.id} does not exist`);
  return rows[0];
}

/**
 * Returns the next signup after another one that waits for a click, by report time, across workspaces. Null: none is
 * left that was reported before `before`.
 *
 * @param after null: start with the oldest
 */
export async function nextPendingSignup(
  db: Queryable,
  before: Date,
  after: Pick<Signup, 'id' | 'reported_at'> | null,
): Promise<Signup | null> {
  const { rows } = await db.query<Signup>(
    `SELECT ${COLUMNS} FROM signups WHERE (state = 'pending' OR correcting) AND reported_at < $1
       AND ($2::timestamptz IS NULL OR (reported_at, id) > ($2, $3::uuid)) ORDER BY reported_at, id LIMIT 1`,
    [before, after?.reported_at ?? null, after?.id ?? null],
  );
  return rows[0] ?? null;
}

/**
 * Deletes a pending signup that only a page has reported, and that no one referred. The caller has released its
 * purchases.
 */
export async function deletePendingSignup(tx: Queryable, signup: Signup): Promise<void> {
  await tx.query(`DELETE FROM signups WHERE workspace_id = $1 AND id = $2 AND state = 'pending'`, [
    signup.workspace_id,
    signup.id,
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
