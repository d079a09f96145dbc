import type { Queryable } from '../database/pool.ts';

/**
 * Stores a challenge for five minutes, and deletes a few expired ones: anyone may request one.
 *
 * @param memberId the member that creates a passkey; null: a sign-in
 */
export async function insertChallenge(
  db: Queryable,
  challenge: string,
  memberId: string | null,
): Promise<void> {
  await db.query(
    `INSERT INTO passkey_challenges (challenge, member_id, expires_at)
     VALUES ($1, $2, now() + interval '5 minutes')`,
    [challenge, memberId],
  );
  await db.query(
    `DELETE FROM passkey_challenges WHERE challenge = ANY (ARRAY(
       SELECT challenge FROM passkey_challenges WHERE expires_at < now()
       ORDER BY expires_at LIMIT 5 FOR UPDATE SKIP LOCKED))`,
  );
}

/** Consumes a challenge. Returns whether it was stored for this purpose and has not expired. */
export async function consumeChallenge(
  db: Queryable,
  challenge: string,
  memberId: string | null,
): Promise<boolean> {
  const { rowCount } = await db.query(
    `DELETE FROM passkey_challenges
     WHERE challenge = $1 AND member_id IS NOT DISTINCT FROM $2::uuid AND expires_at > now()`,
    [challenge, memberId],
  );
  return rowCount === 1;
}
