import type { Queryable } from '../database/pool.ts';

/** The authenticator app of a member. */
export type AuthenticatorApp = {
  /** Base32. */
  secret: string;
  confirmed_at: Date | null;
  /** Time step of the last accepted code. Each code counts once. */
  last_step: number | null;
  /** Wrong codes since the last right one. */
  wrong_codes: number;
};

/** The state of the second factor that its member sees. */
export type TwoFactor = { enabled_at: Date | null; recovery_codes: number };

/** Returns the member's confirmed authenticator app and the number of unused recovery codes. */
export async function twoFactorOf(db: Queryable, memberId: string): Promise<TwoFactor> {
  const { rows } = await db.query<TwoFactor>(
    `SELECT (SELECT confirmed_at FROM authenticator_apps WHERE member_id = $1) AS enabled_at,
       (SELECT count(*) FROM recovery_codes WHERE member_id = $1 AND used_at IS NULL) AS recovery_codes`,
    [memberId],
  );
  return rows[0] ?? { enabled_at: null, recovery_codes: 0 };
}

/**
 * Stores the secret of an app that is not confirmed yet, in place of an earlier unconfirmed one. Returns false when the
 * member has a confirmed app.
 */
export async function setUpApp(
  db: Queryable,
  given: { workspaceId: string; memberId: string; secret: string },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `INSERT INTO authenticator_apps AS a (member_id, workspace_id, secret) VALUES ($1, $2, $3)
     ON CONFLICT (member_id) DO UPDATE SET secret = $3, wrong_codes = 0, last_step = NULL
     WHERE a.confirmed_at IS NULL`,
    [given.memberId, given.workspaceId, given.secret],
  );
  return rowCount === 1;
}

/** Returns the member's app, locked until the transaction ends, or null. */
export async function lockApp(tx: Queryable, memberId: string): Promise<AuthenticatorApp | null> {
  const { rows } = await tx.query<AuthenticatorApp>(
    `SELECT secret, confirmed_at, last_step, wrong_codes FROM authenticator_apps WHERE member_id = $1 FOR UPDATE`,
    [memberId],
  );
  return rows[0] ?? null;
}

/** Records a right code, and confirms the app by its first. @param step the code's time step */
export async function acceptCode(tx: Queryable, memberId: string, step: number): Promise<void> {
  await tx.query(
    `UPDATE authenticator_apps SET last_step = $2, wrong_codes = 0, confirmed_at = coalesce(confirmed_at, now())
     WHERE member_id = $1`,
    [memberId, step],
  );
}

/** Counts a wrong code. */
export async function countWrongCode(tx: Queryable, memberId: string): Promise<void> {
  await tx.query('UPDATE authenticator_apps SET wrong_codes = wrong_codes + 1 WHERE member_id = $1', [
    memberId,
  ]);
}

/** Uses up a recovery code, and allows codes of the app again. Returns false when the code is unknown or used. */
export async function takeRecoveryCode(tx: Queryable, memberId: string, hash: Buffer): Promise<boolean> {
  const { rowCount } = await tx.query(
    'UPDATE recovery_codes SET used_at = now() WHERE member_id = $1 AND code_hash = $2 AND used_at IS NULL',
    [memberId, hash],
  );
  if (rowCount === 1) {
    await tx.query('UPDATE authenticator_apps SET wrong_codes = 0 WHERE member_id = $1', [memberId]);
  }
  return rowCount === 1;
}

/** Replaces all recovery codes of a member. */
export async function replaceRecoveryCodes(
  tx: Queryable,
  given: { workspaceId: string; memberId: string; hashes: readonly Buffer[] },
): Promise<void> {
  await tx.query('DELETE FROM recovery_codes WHERE member_id = $1', [given.memberId]);
  await tx.query(
    `INSERT INTO recovery_codes (member_id, workspace_id, code_hash)
     SELECT $1, $2, code_hash FROM unnest($3::bytea[]) AS code_hash`,
    [given.memberId, given.workspaceId, given.hashes],
  );
}

/** Deletes the app and the recovery codes. Returns false when the member has no confirmed app. */
export async function deleteTwoFactor(tx: Queryable, memberId: string): Promise<boolean> {
  await tx.query('DELETE FROM recovery_codes WHERE member_id = $1', [memberId]);
  const { rows } = await tx.query<{ confirmed_at: Date | null }>(
    'DELETE FROM authenticator_apps WHERE member_id = $1 RETURNING confirmed_at',
    [memberId],
  );
  return rows[0]?.confirmed_at != null;
}
