import type { Queryable } from '../database/pool.ts';

/** Seconds within which the person returns from the identity provider. */
export const PROVIDER_SIGN_IN_SECONDS = 600;

/** A browser's sign-in at the identity provider that has not come back. */
export type ProviderSignIn = {
  state: string;
  nonce: string;
  code_verifier: string;
  /** Path of the console. */
  return_to: string;
};

/**
 * Stores a sign-in, and deletes a few expired ones: anyone may begin one.
 *
 * @param browser hash of the browser's cookie
 */
export async function insertProviderSignIn(
  db: Queryable,
  browser: Buffer,
  given: ProviderSignIn,
): Promise<void> {
  await db.query(
    `INSERT INTO provider_sign_ins (browser_hash, state, nonce, code_verifier, return_to, expires_at)
     VALUES ($1, $2, $3, $4, $5, now() + $6 * interval '1 second')`,
    [browser, given.state, given.nonce, given.code_verifier, given.return_to, PROVIDER_SIGN_IN_SECONDS],
  );
  await db.query(
    `DELETE FROM provider_sign_ins WHERE browser_hash = ANY (ARRAY(
       SELECT browser_hash FROM provider_sign_ins WHERE expires_at < now()
       ORDER BY expires_at LIMIT 5 FOR UPDATE SKIP LOCKED))`,
  );
}

/** Uses a sign-in up. Returns null when it is unknown, used or expired. */
export async function takeProviderSignIn(db: Queryable, browser: Buffer): Promise<ProviderSignIn | null> {
  const { rows } = await db.query<ProviderSignIn>(
    `DELETE FROM provider_sign_ins WHERE browser_hash = $1 AND expires_at > now()
     RETURNING state, nonce, code_verifier, return_to`,
    [browser],
  );
  return rows[0] ?? null;
}
