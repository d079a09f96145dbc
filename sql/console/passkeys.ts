import { uuidv7 } from '../../core/ids.ts';
import type { Queryable } from '../database/pool.ts';

/** A passkey as its member sees it. */
export type PasskeyRecord = { id: string; label: string; created_at: Date; last_used_at: Date | null };

/** A passkey with the data that verifies its signatures. `credential_id` is base64url, `public_key` COSE. */
export type Passkey = PasskeyRecord & {
  workspace_id: string;
  member_id: string;
  credential_id: string;
  public_key: Buffer;
  counter: number;
  transports: string[];
};

const SHOWN = 'p.id, p.label, p.created_at, p.last_used_at';

/** Returns the passkeys of a member, oldest first. */
export async function listPasskeys(db: Queryable, memberId: string): Promise<Passkey[]> {
  const { rows } = await db.query<Passkey>(
    `SELECT ${SHOWN}, p.workspace_id, p.member_id, p.credential_id, p.public_key, p.counter, p.transports
     FROM passkeys p WHERE p.member_id = $1 ORDER BY p.created_at, p.id`,
    [memberId],
  );
  return rows;
}

/** Returns the passkey with this credential, of a member that can sign in, or null. */
export async function passkeyByCredential(db: Queryable, credentialId: string): Promise<Passkey | null> {
  const { rows } = await db.query<Passkey>(
    `SELECT ${SHOWN}, p.workspace_id, p.member_id, p.credential_id, p.public_key, p.counter, p.transports
     FROM passkeys p JOIN members m ON m.id = p.member_id AND m.removed_at IS NULL
     WHERE p.credential_id = $1`,
    [credentialId],
  );
  return rows[0] ?? null;
}

/** Stores a passkey; null when its credential exists. */
export async function insertPasskey(
  tx: Queryable,
  given: {
    workspaceId: string;
    memberId: string;
    credentialId: string;
    publicKey: Uint8Array;
    counter: number;
    transports: string[];
    label: string;
  },
): Promise<PasskeyRecord | null> {
  const { rows } = await tx.query<PasskeyRecord>(
    `INSERT INTO passkeys AS p (id, workspace_id, member_id, credential_id, public_key, counter, transports, label)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (credential_id) DO NOTHING RETURNING ${SHOWN}`,
    [
      uuidv7(),
      given.workspaceId,
      given.memberId,
      given.credentialId,
      Buffer.from(given.publicKey),
      given.counter,
      given.transports,
      given.label,
    ],
  );
  return rows[0] ?? null;
}

/**
 * Records a signature.
 * @param counter the authenticator's count
 */
export async function recordPasskeyUse(db: Queryable, id: string, counter: number): Promise<void> {
  await db.query('UPDATE passkeys SET counter = $2, last_used_at = now() WHERE id = $1', [id, counter]);
}

/** Deletes one passkey of a member. Returns false when the member has none with this id. */
export async function deletePasskey(db: Queryable, memberId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query('DELETE FROM passkeys WHERE id = $1 AND member_id = $2', [
    id,
    memberId,
  ]);
  return rowCount === 1;
}
