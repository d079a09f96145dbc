import { inTransaction, type Pool, type Queryable } from '../database/pool.ts';

/** An attempt that counts as failed until it is withdrawn; or the seconds until the next one is allowed. */
export type SignInAttempt = { allowed: true; at: string } | { allowed: false; retryAfter: number };

/**
 * Counts an attempt before it is made, so that at most `most` concurrent ones are allowed. The last of them locks for a
 * minute, unless it is withdrawn.
 *
 * @param subject a keyed hash of the account or address that attempts are counted by
 * @param most failed attempts within a minute
 */
export function beginAttempt(pool: Pool, subject: Buffer, most: number): Promise<SignInAttempt> {
  return inTransaction(pool, async (tx) => {
    await tx.query('INSERT INTO sign_in_attempts (subject) VALUES ($1) ON CONFLICT DO NOTHING', [subject]);
    const { rows: locks } = await tx.query<{ wait: number | null }>(
      // A lock that is longer than its minute was set while the clock was ahead.
      `SELECT CASE WHEN locked_until < clock_timestamp() + interval '2 minutes'
         THEN ceil(extract(epoch FROM locked_until - clock_timestamp()))::integer END AS wait
       FROM sign_in_attempts WHERE subject = $1 FOR UPDATE`,
      [subject],
    );
    const wait = locks[0]?.wait ?? 0;
    if (wait > 0) return { allowed: false, retryAfter: wait };
    const { rows } = await tx.query<{ at: string }>(
      `UPDATE sign_in_attempts t SET tried_at = recent || at, touched_at = at,
         locked_until = CASE WHEN cardinality(recent) + 1 >= $2 THEN at + interval '1 minute' END
       FROM (SELECT clock.at, ARRAY(SELECT tried FROM unnest(tried_at) AS tried
                                    WHERE tried > clock.at - interval '1 minute' AND tried <= clock.at) AS recent
             FROM sign_in_attempts, (SELECT clock_timestamp() AS at) AS clock WHERE subject = $1) AS past
       WHERE t.subject = $1 RETURNING at::text`,
      [subject, most],
    );
    if (!rows[0]) throw new Error('the sign-in attempt was not counted');
    return { allowed: true, at: rows[0].at };
  });
}

/**
 * Withdraws an attempt that was right or was not made.
 * @param at from {@link beginAttempt}, as `most`
 */
export async function withdrawAttempt(
  db: Queryable,
  subject: Buffer,
  at: string,
  most: number,
): Promise<void> {
  await db.query(
    `UPDATE sign_in_attempts SET tried_at = array_remove(tried_at, $2::timestamptz),
       locked_until = CASE WHEN cardinality(array_remove(tried_at, $2::timestamptz)) >= $3 THEN locked_until END
     WHERE subject = $1`,
    [subject, at, most],
  );
}
