import { newSessionToken } from '../../core/access/session-tokens.ts';
import { uuidv7 } from '../../core/ids.ts';
import type { Queryable } from '../database/pool.ts';

/** Minutes for which the link of a reset works. */
export const RESET_MINUTES = 60;
/** Resets that one address may request in an hour. */
const MOST_AN_HOUR = 3;

/**
 * Creates a link that sets another password, whether the address has an account or not, so that both cost the same
 * work. The worker that sends the mail looks for the account.
 *
 * @param email trimmed, lower case
 * @returns null: the address requested too many
 */
export async function createReset(
  tx: Queryable,
  email: string,
): Promise<{ token: string; expiresAt: Date } | null> {
  const { token, hash } = newSessionToken();
  const { rows } = await tx.query<{ expires_at: Date }>(
    `INSERT INTO password_resets (id, token_hash, email, expires_at)
     SELECT $1, $2, $3, now() + interval '${RESET_MINUTES} minutes'
     WHERE (SELECT count(*) FROM password_resets WHERE email = $3 AND created_at > now() - interval '1 hour')
       < ${MOST_AN_HOUR}
     RETURNING expires_at`,
    [uuidv7(), hash, email],
  );
  return rows[0] ? { token, expiresAt: rows[0].expires_at } : null;
}

const OPEN = 'used_at IS NULL AND expires_at > clock_timestamp()';

/** Returns the address of an open reset, or null. */
export async function openReset(
  db: Queryable,
  tokenHash: Buffer,
): Promise<{ email: string; expires_at: Date } | null> {
  const { rows } = await db.query<{ email: string; expires_at: Date }>(
    `SELECT email, expires_at FROM password_resets WHERE token_hash = $1 AND ${OPEN}`,
    [tokenHash],
  );
  return rows[0] ?? null;
}

/** Uses up a reset, and every other one of its address; null when it was used or has expired. Of two calls one gets it. */
export async function consumeReset(tx: Queryable, tokenHash: Buffer): Promise<string | null> {
  const { rows } = await tx.query<{ email: string }>(
    `UPDATE password_resets SET used_at = now() WHERE token_hash = $1 AND ${OPEN} RETURNING email`,
    [tokenHash],
  );
  const email = rows[0]?.email;
  if (email === undefined) return null;
  await tx.query('UPDATE password_resets SET used_at = now() WHERE email = $1 AND used_at IS NULL', [email]);
  return email;
}
