import type { Queryable } from '../database/pool.ts';

/**
 * Keeps a challenge for five minutes, and drops a few that are older: anybody may ask for one, and as many go as come.
 *
 * @param memberId whose passkey is to be made with it; null: somebody signs in
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

/** Uses a challenge up. @returns whether it was kept for this purpose and is not too old */
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
