import { uuidv7 } from '../../core/ids.ts';
import type { Earner } from '../../core/referrals/purchase-reward.ts';
import type {
  CommissionType,
  EnrollmentStatus,
  PayoutMethod,
  RewardMode,
  Tier,
} from '../../core/referrals/terms.ts';
import type { Queryable } from '../database/pool.ts';
import { ownTermsOf } from './partner-groups.ts';

/** A referrer. */
export type Enrollment = {
  /** The API's `partner_id`. */
  id: string;
  workspace_id: string;
  program_id: string;
  external_user_id: string;
  email: string | null;
  name: string | null;
  device_id: string | null;
  address_hash: Buffer | null;
  tier: Tier;
  status: EnrollmentStatus;
  reward_mode: RewardMode;
  payout_method: PayoutMethod | null;
  payout_email: string | null;
  /** Name of the account's owner, for files that name the recipient; null: `name`. */
  payout_name: string | null;
  /** When a page changed the address; null: a server set or confirmed it. */
  payout_unconfirmed_at: Date | null;
  /** When a change by a page no longer holds the balance back. May be in the past. */
  payout_held_until: Date | null;
  /** The referrer's own terms; null: the program's. */
  commission_type: CommissionType | null;
  /** Percent, or major units of the program's currency when flat. */
  commission_rate: number | null;
  /** The group of the program that the referrer is in. */
  group_id: string | null;
  created_at: Date;
  updated_at: Date;
};

/** The columns of an {@link Enrollment}. */
export const ENROLLMENT_COLUMNS = `id, workspace_id, program_id, external_user_id, email, name, device_id, address_hash,
  tier, status, reward_mode, payout_method, payout_email, payout_name, payout_unconfirmed_at, commission_type,
  commission_rate::float8 AS commission_rate, group_id, created_at, updated_at, payout_unconfirmed_at + make_interval(days =>
    (SELECT payout_hold_days FROM workspaces WHERE id = enrollments.workspace_id)) AS payout_held_until`;

/** Who a referrer is, beside the user's id. */
export type ReferrerNames = { referrer_name: string | null; referrer_email: string | null };

/** The columns of {@link ReferrerNames}, of enrollment `e`. */
export const REFERRER_NAMES = 'e.name AS referrer_name, e.email AS referrer_email';

/** Who makes a change and when. */
export type ChangeOrigin = {
  now: Date;
  /** As the history shows it: a masked key, a member, or `operator`. */
  by: string;
};

export type NewEnrollment = Pick<
  Enrollment,
  | 'workspace_id'
  | 'program_id'
  | 'external_user_id'
  | 'email'
  | 'name'
  | 'device_id'
  | 'address_hash'
  | 'tier'
  | 'reward_mode'
>;

/**
 * Enrolls a user, or returns null when the workspace has an enrollment of that user. Waits for a concurrent
 * enrollment.
 */
export async function insertEnrollment(
  tx: Queryable,
  given: NewEnrollment,
  { now, by }: ChangeOrigin,
): Promise<Enrollment | null> {
  const { rows } = await tx.query<Enrollment>(
    `INSERT INTO enrollments (id, workspace_id, program_id, external_user_id, email, name, device_id, address_hash,
       tier, reward_mode, changed_by, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)
     ON CONFLICT (workspace_id, external_user_id) WHERE deleted_at IS NULL DO NOTHING RETURNING ${ENROLLMENT_COLUMNS}`,
    [
      uuidv7(),
      given.workspace_id,
      given.program_id,
      given.external_user_id,
      given.email,
      given.name,
      given.device_id,
      given.address_hash,
      given.tier,
      given.reward_mode,
      by,
      now,
    ],
  );
  return rows[0] ?? null;
}

/** Returns the enrollment of this user in the workspace, or null. */
export async function enrollmentOfUser(
  db: Queryable,
  workspaceId: string,
  externalUserId: string,
): Promise<Enrollment | null> {
  const { rows } = await db.query<Enrollment>(
    `SELECT ${ENROLLMENT_COLUMNS} FROM enrollments
     WHERE workspace_id = $1 AND external_user_id = $2 AND deleted_at IS NULL`,
    [workspaceId, externalUserId],
  );
  return rows[0] ?? null;
}

/** {@link enrollmentOfUser}, locked against every other change until the transaction ends. */
export async function lockEnrollmentOfUser(
  tx: Queryable,
  workspaceId: string,
  externalUserId: string,
): Promise<Enrollment | null> {
  const { rows } = await tx.query<Enrollment>(
    `SELECT ${ENROLLMENT_COLUMNS} FROM enrollments
     WHERE workspace_id = $1 AND external_user_id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE`,
    [workspaceId, externalUserId],
  );
  return rows[0] ?? null;
}

/** Returns the enrollment with this id in the workspace, or null. */
export async function enrollmentById(
  db: Queryable,
  workspaceId: string,
  id: string,
): Promise<Enrollment | null> {
  const { rows } = await db.query<Enrollment>(
    `SELECT ${ENROLLMENT_COLUMNS} FROM enrollments WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL`,
    [workspaceId, id],
  );
  return rows[0] ?? null;
}

/** {@link enrollmentById}, locked against every other change until the transaction ends. */
export async function lockEnrollment(
  tx: Queryable,
  workspaceId: string,
  id: string,
): Promise<Enrollment | null> {
  const { rows } = await tx.query<Enrollment>(
    `SELECT ${ENROLLMENT_COLUMNS} FROM enrollments
     WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE`,
    [workspaceId, id],
  );
  return rows[0] ?? null;
}

/**
 * Returns the enrollment with this id under a shared lock: changes of it wait until the transaction ends, conversions
 * don't wait for each other. Also a deleted one, which is suspended.
 *
 * @throws Error when the workspace has none
 */
export async function lockEnrollmentShared(
  tx: Queryable,
  workspaceId: string,
  id: string,
): Promise<Enrollment> {
  const { rows } = await tx.query<Enrollment>(
    `SELECT ${ENROLLMENT_COLUMNS} FROM enrollments WHERE workspace_id = $1 AND id = $2 FOR SHARE`,
    [workspaceId, id],
  );
  if (!rows[0]) throw new Error(`enrollment ${id} does not exist`);
  return rows[0];
}

export type EnrollmentChange = Partial<
  Pick<
    Enrollment,
    | 'program_id'
    | 'email'
    | 'name'
    | 'device_id'
    | 'tier'
    | 'status'
    | 'reward_mode'
    | 'payout_method'
    | 'payout_email'
    | 'payout_name'
    | 'payout_unconfirmed_at'
    | 'commission_type'
    | 'commission_rate'
    | 'group_id'
  >
>;

const CHANGEABLE = [
  'program_id',
  'email',
  'name',
  'device_id',
  'tier',
  'status',
  'reward_mode',
  'payout_method',
  'payout_email',
  'payout_name',
  'payout_unconfirmed_at',
  'commission_type',
  'commission_rate',
  'group_id',
] as const satisfies readonly (keyof EnrollmentChange)[];

/** Changes the given fields of an enrollment that the caller has locked, and leaves the others. */
export async function updateEnrollment(
  tx: Queryable,
  enrollment: Enrollment,
  change: EnrollmentChange,
  { now, by }: ChangeOrigin,
): Promise<Enrollment> {
  const names = CHANGEABLE.filter((name) => change[name] !== undefined && change[name] !== enrollment[name]);
  if (names.length === 0) return enrollment;
  const assignments = names.map((name, index) => `${name} = $${index + 5}`).join(', ');
  const { rows } = await tx.query<Enrollment>(
    `UPDATE enrollments SET updated_at = $3, changed_by = $4, ${assignments}
     WHERE workspace_id = $1 AND id = $2 RETURNING ${ENROLLMENT_COLUMNS}`,
    [enrollment.workspace_id, enrollment.id, now, by, ...names.map((name) => change[name])],
  );
  if (!rows[0]) throw new Error(`enrollment ${enrollment.id} does not exist`);
  return rows[0];
}

/**
 * Returns whether the referrer has rewards in, or referees of a program with, another currency. Call it with the
 * enrollment locked.
 */
export async function hasOtherCurrency(
  tx: Queryable,
  enrollmentId: string,
  currency: string,
): Promise<boolean> {
  const { rows } = await tx.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT FROM commissions WHERE enrollment_id = $1 AND currency <> $2) OR EXISTS (
       SELECT FROM signups s JOIN programs p ON p.id = s.program_id
       WHERE s.enrollment_id = $1 AND p.currency <> $2) AS found`,
    [enrollmentId, currency],
  );
  return rows[0]?.found === true;
}

/**
 * Returns a referrer and those who referred it in the program, level 1 first, each under a shared lock. The chain
 * ends at the last level, at a referrer without a referrer, and where referrals form a circle.
 *
 * @param levels length of the chain, at most
 */
export async function lockEarnersShared(
  tx: Queryable,
  given: { workspaceId: string; programId: string; enrollmentId: string; levels: number },
): Promise<Earner[]> {
  const earners: Earner[] = [];
  const seen = new Set<string>();
  for (let next: string | null = given.enrollmentId; next && earners.length < given.levels; ) {
    if (seen.has(next)) break;
    seen.add(next);
    const enrollment = await lockEnrollmentShared(tx, given.workspaceId, next);
    const { rows } = await tx.query<{ email: string | null; referrer: string | null }>(
      `SELECT email, CASE WHEN program_id = $3 AND state = 'matched' AND block_reason IS NULL AND NOT rewards_held
         THEN enrollment_id END AS referrer
       FROM signups WHERE workspace_id = $1 AND external_user_id = $2`,
      [given.workspaceId, enrollment.external_user_id, given.programId],
    );
    earners.push({
      enrollmentId: enrollment.id,
      externalUserId: enrollment.external_user_id,
      emails: [enrollment.email, enrollment.payout_email, rows[0]?.email].filter(
        (email) => typeof email === 'string',
      ),
      status: enrollment.status,
      rewardMode: enrollment.reward_mode,
      ownTerms: await ownTermsOf(tx, enrollment, given.programId),
    });
    next = rows[0]?.referrer ?? null;
  }
  return earners;
}
