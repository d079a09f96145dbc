import { newSessionToken } from '../../core/access/session-tokens.ts';
import { lockNamed } from '../database/advisory-locks.ts';
import type { Queryable } from '../database/pool.ts';

/** Minutes for which the link of a sign-in works. */
export const SIGN_IN_MINUTES = 10;
/** Links that one address may request in an hour. */
const MOST_AN_HOUR = 5;

/**
 * Creates a link that signs in, whether the address has an account or not, so that both cost the same work. The worker
 * that sends the mail looks for the account.
 *
 * @param email as addresses identify a person
 * @param browserHash of the cookie of the browser that asks
 * @returns null: the address requested too many
 */
export async function createSignIn(
  tx: Queryable,
  email: string,
  browserHash: Buffer,
): Promise<{ token: string; expiresAt: Date } | null> {
  const { token, hash } = newSessionToken();
  // Concurrent requests follow each other, so that all of them count.
  await lockNamed(tx, 'portalSignIns', email);
  const { rows } = await tx.query<{ expires_at: Date }>(
    `INSERT INTO portal_sign_ins (token_hash, browser_hash, email, expires_at)
     SELECT $1, $2, $3, now() + interval '${SIGN_IN_MINUTES} minutes'
     WHERE (SELECT count(*) FROM portal_sign_ins WHERE email = $3 AND created_at > now() - interval '1 hour')
       < ${MOST_AN_HOUR}
     RETURNING expires_at`,
    [hash, browserHash, email],
  );
  return rows[0] ? { token, expiresAt: rows[0].expires_at } : null;
}

/**
 * Uses up a link, and returns its address; null when it was used, has expired, or another browser asked for it. Of two
 * calls one gets it.
 */
export async function consumeSignIn(
  tx: Queryable,
  tokenHash: Buffer,
  browserHash: Buffer,
): Promise<string | null> {
  const { rows } = await tx.query<{ email: string }>(
    `UPDATE portal_sign_ins SET used_at = now()
     WHERE token_hash = $1 AND browser_hash = $2 AND used_at IS NULL AND expires_at > clock_timestamp()
     RETURNING email`,
    [tokenHash, browserHash],
  );
  return rows[0]?.email ?? null;
}
