import { selfReferralEmail } from '../../core/tracking/emails.ts';
import { ADVISORY_LOCKS } from '../database/advisory-locks.ts';
import type { Queryable } from '../database/pool.ts';

/**
 * Whether a person is already a referee: checks that need other signups, and the locks that make two reports at the
 * same time see each other.
 */

/** A person who may be a referee. */
export type Person = {
  workspace_id: string;
  /** Null: the buyer of an order that names no user. */
  external_user_id: string | null;
  email: string | null;
  device_id: string | null;
  visitor_id: string | null;
};

/** Longest circle of referrals that is found. */
const LONGEST_CIRCLE = 20;

const REFERRED = `state IN ('held', 'matched') AND block_reason IS NULL`;

/**
 * Locks what makes a person unique, and the referrer, until the transaction ends. The caller has locked the person's
 * signup, if there is one. Signups of one referrer don't wait for each other, unless they are counted.
 *
 * @param referrer `counted`: the program limits the referrer's signups
 */
export async function lockReferee(
  tx: Queryable,
  person: Person,
  referrer: { externalUserId: string; isCounted: boolean },
): Promise<void> {
  const exclusive = [];
  if (person.external_user_id !== null) exclusive.push(`user/${person.external_user_id}`);
  if (person.email !== null) exclusive.push(`mailbox/${selfReferralEmail(person.email)}`);
  if (person.device_id !== null) exclusive.push(`device/${person.device_id}`);
  if (person.visitor_id !== null) exclusive.push(`visitor/${person.visitor_id}`);
  if (referrer.isCounted) exclusive.push(`count/${referrer.externalUserId}`);
  await takeLocks(tx, person.workspace_id, exclusive, [`user/${referrer.externalUserId}`]);
}

/**
 * Locks the names that an order may share with a signup, until the transaction ends. This serializes a signup and an
 * order that are reported at the same time. Take it before the signup is read.
 */
export async function lockBuyer(
  tx: Queryable,
  workspaceId: string,
  buyer: { externalUserId: string | null; email: string | null; visitorId: string | null },
): Promise<void> {
  const names = [];
  if (buyer.externalUserId !== null) names.push(`buyer/${buyer.externalUserId}`);
  if (buyer.email !== null) names.push(`buyer-email/${buyer.email}`);
  if (buyer.visitorId !== null) names.push(`buyer-visitor/${buyer.visitorId}`);
  await takeLocks(tx, workspaceId, names, []);
}

async function takeLocks(
  tx: Queryable,
  workspaceId: string,
  exclusive: readonly string[],
  shared: readonly string[],
): Promise<void> {
  const names = [...exclusive, ...shared].map((name) => `${workspaceId}/${name}`);
  // In the order of the locks themselves, so that no two transactions wait for each other.
  await tx.query(
    `SELECT CASE WHEN is_shared THEN pg_advisory_xact_lock_shared(key)::text ELSE pg_advisory_xact_lock(key)::text END
     FROM (SELECT hashtextextended(name, $3) AS key, bool_and(is_shared) AS is_shared
           FROM unnest($1::text[], $2::boolean[]) AS given (name, is_shared) GROUP BY 1 ORDER BY 1) AS locks`,
    [names, names.map((_, index) => index >= exclusive.length), ADVISORY_LOCKS.referees],
  );
}

/** Returns whether the person's mailbox, device or visitor is a referee of the workspace under another id. */
export async function isKnownReferee(tx: Queryable, person: Person): Promise<boolean> {
  const { rows } = await tx.query<{ found: boolean }>(
    `SELECT EXISTS (SELECT FROM signups WHERE workspace_id = $1 AND external_user_id IS DISTINCT FROM $2 AND ${REFERRED}
       AND (mailbox = $3 OR device_id = $4 OR visitor_id = $5)) AS found`,
    [
      person.workspace_id,
      person.external_user_id,
      person.email === null ? null : selfReferralEmail(person.email),
      person.device_id,
      person.visitor_id,
    ],
  );
  return rows[0]?.found === true;
}

/** Returns whether `userId` referred the referrer, directly or through others, in any program of the workspace. */
export async function hasReferred(
  tx: Queryable,
  workspaceId: string,
  userId: string,
  referrerUserId: string,
): Promise<boolean> {
  const { rows } = await tx.query<{ found: boolean }>(
    `WITH RECURSIVE above (user_id, level) AS (
       SELECT $2::text, 0
       UNION ALL
       SELECT e.external_user_id, level + 1 FROM above
       JOIN signups s ON s.workspace_id = $1 AND s.external_user_id = above.user_id AND s.${REFERRED.replaceAll(' AND ', ' AND s.')}
       JOIN enrollments e ON e.id = s.enrollment_id WHERE level < $4
     )
     SELECT EXISTS (SELECT FROM above WHERE level > 0 AND user_id = $3) AS found`,
    [workspaceId, referrerUserId, userId, LONGEST_CIRCLE],
  );
  return rows[0]?.found === true;
}

/** Returns whether the referrer has bought with a coupon of this person, who is a referrer too. */
export async function hasCouponUsedBy(
  tx: Queryable,
  person: Pick<Person, 'workspace_id' | 'external_user_id' | 'email'>,
  referrer: { externalUserId: string; emails: readonly string[] },
): Promise<boolean> {
  const { rows } = await tx.query<{ found: boolean }>(
    `SELECT EXISTS (
       SELECT FROM enrollments e JOIN purchases p ON p.enrollment_id = e.id AND p.signup_id IS NULL AND p.rewarded
         JOIN orders o ON o.internal_id = p.order_internal_id
       WHERE e.workspace_id = $1 AND (e.external_user_id = $2 OR lower(e.email) = $3)
         AND (p.external_user_id = $4 OR lower(o.email) = ANY ($5))) AS found`,
    [
      person.workspace_id,
      person.external_user_id,
      person.email?.toLowerCase() ?? null,
      referrer.externalUserId,
      referrer.emails.map((email) => email.toLowerCase()),
    ],
  );
  return rows[0]?.found === true;
}

/** Returns how many signups of the referrer count on the UTC day of `now`, without this one. */
export async function signupsOnDay(
  tx: Queryable,
  enrollmentId: string,
  exceptSignup: string,
  now: Date,
): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `SELECT count(*) AS count FROM signups WHERE enrollment_id = $1 AND id <> $2 AND ${REFERRED}
       AND reported_at >= date_trunc('day', $3::timestamptz, 'UTC')`,
    [enrollmentId, exceptSignup, now],
  );
  return rows[0]?.count ?? 0;
}

/** Returns whether a server reported a purchase of this user before an instant. */
export async function hasPurchasedBefore(
  db: Queryable,
  workspaceId: string,
  externalUserId: string,
  before: Date,
): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    `SELECT EXISTS (
         SELECT FROM orders WHERE workspace_id = $1 AND external_user_id = $2 AND source = 'server'
           AND coalesce(reported_at, ts) < $4
       ) OR EXISTS (
         SELECT FROM purchases WHERE workspace_id = $1 AND external_user_id = $2 AND created_at < $3
       ) AS found`,
    [workspaceId, externalUserId, before, before.getTime() * 1_000],
  );
  return rows[0]?.found === true;
}
