import { uuidv7 } from '../core/ids.ts';
import { mintKey } from '../core/keys.ts';
import type { Queryable } from './pool.ts';

export type WorkspaceKeyKind = 'secret' | 'publishable';

/** A workspace key as it may be shown: never its token, never its hash. */
export type KeyRecord = {
  id: string;
  workspace_id: string;
  kind: WorkspaceKeyKind;
  label: string;
  scopes: WorkspaceKeyKind[];
  created_at: Date;
  last_used_at: Date | null;
  revoked_at: Date | null;
};

const COLUMNS = `id, workspace_id, kind, label, ARRAY[kind] AS scopes, created_at, last_used_at, revoked_at`;

/**
 * Makes a workspace key and returns its token, which can't be had a second time.
 *
 * @param partnerId the partner that minted it, so that a rotation revokes it
 */
export async function createKey(
  db: Queryable,
  given: { workspaceId: string; kind: WorkspaceKeyKind; label: string; partnerId?: string },
): Promise<{ key: KeyRecord; token: string }> {
  for (;;) {
    const minted = mintKey(given.kind);
    const { rows } = await db.query<KeyRecord>(
      `INSERT INTO api_keys (id, workspace_id, kind, lookup, hash, label, partner_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (lookup) DO NOTHING RETURNING ${COLUMNS}`,
      [
        uuidv7(),
        given.workspaceId,
        given.kind,
        minted.lookup,
        minted.hash,
        given.label,
        given.partnerId ?? null,
      ],
    );
    if (rows[0]) return { key: rows[0], token: minted.token };
  }
}

/** A key with what is needed to check a token against it. */
export type StoredKey = KeyRecord & { hash: Buffer };

/** The key that has these 8 hex, revoked or not, or null. */
export async function keyByLookup(db: Queryable, lookup: string): Promise<StoredKey | null> {
  const { rows } = await db.query<StoredKey>(`SELECT ${COLUMNS}, hash FROM api_keys WHERE lookup = $1`, [
    lookup,
  ]);
  return rows[0] ?? null;
}

/** The keys of a workspace, oldest first, revoked ones too. */
export async function listKeys(db: Queryable, workspaceId: string): Promise<KeyRecord[]> {
  const { rows } = await db.query<KeyRecord>(
    `SELECT ${COLUMNS} FROM api_keys WHERE workspace_id = $1 ORDER BY created_at, id`,
    [workspaceId],
  );
  return rows;
}

/** Revokes a key; a second call changes nothing. Returns the key, or null when there is none. */
export async function revokeKey(db: Queryable, id: string): Promise<KeyRecord | null> {
  const { rows } = await db.query<KeyRecord>(
    `UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1 RETURNING ${COLUMNS}`,
    [id],
  );
  return rows[0] ?? null;
}

/** Notes a use of the key, at most once a minute. */
export async function noteKeyUse(db: Queryable, id: string): Promise<void> {
  await db.query(
    `UPDATE api_keys SET last_used_at = now()
     WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
    [id],
  );
}
