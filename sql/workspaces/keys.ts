import type { KeyRestriction } from '../../core/access/key-scopes.ts';
import { mintKey } from '../../core/access/keys.ts';
import { uuidv7 } from '../../core/ids.ts';
import { nextCreation } from '../database/creation-times.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';
import { workspaceRows } from '../database/workspace-list.ts';

export type WorkspaceKeyKind = 'secret' | 'publishable';

/** `secret` or `publishable` alone: all rights of the kind. Otherwise the restrictions of a secret key. */
export type KeyScopes = (WorkspaceKeyKind | KeyRestriction)[];

/** The maker of a key. The operator of the service has no id. */
export type KeyMaker = { type: 'key' | 'member' | 'partner'; id: string } | { type: 'operator'; id: null };

/** A workspace key without its token and hash. */
export type KeyRecord = {
  id: string;
  workspace_id: string;
  kind: WorkspaceKeyKind;
  label: string;
  scopes: KeyScopes;
  manage: boolean;
  created_by: KeyMaker;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  revoked_at: Date | null;
};

const OPERATOR: KeyMaker = { type: 'operator', id: null };

/** SQL: scopes, manage and maker of the key `k`, as in {@link KeyRecord}. */
export const keyRightsSql = (k: string, as = '') =>
  `coalesce(${k}.restrictions, ARRAY[${k}.kind]) AS ${as}scopes, ${k}.manage AS ${as}manage,
   jsonb_build_object('type', CASE WHEN ${k}.maker_key_id IS NOT NULL THEN 'key'
     WHEN ${k}.maker_member_id IS NOT NULL THEN 'member' WHEN ${k}.partner_id IS NOT NULL THEN 'partner'
     ELSE 'operator' END, 'id', coalesce(${k}.maker_key_id, ${k}.maker_member_id, ${k}.partner_id)) AS ${as}created_by`;

const COLUMNS = `id, workspace_id, kind, label, ${keyRightsSql('api_keys')}, created_at, expires_at, last_used_at,
  revoked_at`;

/** The rights of a new key, and their end. */
export type KeyRights = {
  /** Secret keys only. By default true for the operator's keys, else false. */
  manage?: boolean;
  /** Secret keys only; null: unrestricted. */
  restrictions?: readonly KeyRestriction[] | null;
  expiresAt?: Date | null;
};

/**
 * Creates a workspace key and returns its token, which can't be read again. With the workspace locked, creation times
 * are unique in it: they are the cursors of {@link listKeyPage}.
 *
 * @param maker by default the operator of the service
 */
export async function createKey(
  db: Queryable,
  given: { workspaceId: string; kind: WorkspaceKeyKind; label: string; maker?: KeyMaker } & KeyRights,
): Promise<{ key: KeyRecord; token: string }> {
  const { maker = OPERATOR, manage = maker.type === 'operator' && given.kind === 'secret' } = given;
  const makerId = (type: KeyMaker['type']) => (maker.type === type ? maker.id : null);
  for (;;) {
    const minted = mintKey(given.kind);
    const { rows } = await db.query<KeyRecord>(
      `INSERT INTO api_keys (id, workspace_id, kind, lookup, hash, label, partner_id, maker_key_id, maker_member_id,
         manage, restrictions, expires_at, created_at)
       SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, ${nextCreation('api_keys', '$2')}
       ON CONFLICT (lookup) DO NOTHING RETURNING ${COLUMNS}`,
      [
        uuidv7(),
        given.workspaceId,
        given.kind,
        minted.lookup,
        minted.hash,
        given.label,
        makerId('partner'),
        makerId('key'),
        makerId('member'),
        manage,
        given.restrictions ?? null,
        given.expiresAt ?? null,
      ],
    );
    if (rows[0]) return { key: rows[0], token: minted.token };
  }
}

/** A key with the hash to check a token against. */
export type StoredKey = KeyRecord & { hash: Buffer };

/** Returns the keys of a workspace, oldest first, revoked ones too. */
export async function listKeys(db: Queryable, workspaceId: string): Promise<KeyRecord[]> {
  const { rows } = await db.query<KeyRecord>(
    `SELECT ${COLUMNS} FROM api_keys WHERE workspace_id = $1 ORDER BY created_at, id`,
    [workspaceId],
  );
  return rows;
}

/** A key in a list. Times are ISO 8601 with microseconds. */
export type ListedKey = {
  id: string;
  kind: WorkspaceKeyKind;
  label: string;
  /** The 8 hex digits that follow the kind in the token. */
  lookup: string;
  scopes: KeyScopes;
  manage: boolean;
  created_by: KeyMaker;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
};

const LISTED = `id, kind, label, lookup, ${keyRightsSql('api_keys')}, ${isoMicros('created_at')} AS created_at,
  ${isoMicros('expires_at')} AS expires_at, ${isoMicros('last_used_at')} AS last_used_at, ${isoMicros('revoked_at')} AS revoked_at`;

/** The keys of a workspace as lists show them, revoked ones too. */
export const { list: listKeyPage, byId: listedKey } = workspaceRows<ListedKey>('api_keys', LISTED);

/**
 * Returns whether the creator of a new key still has the right to create one. With the workspace locked, the result
 * holds until the commit.
 */
export async function mayStillMakeKeys(
  tx: Queryable,
  maker: { type: 'key' | 'member'; id: string },
): Promise<boolean> {
  const { rows } = await tx.query(
    maker.type === 'key'
      ? `SELECT 1 FROM api_keys WHERE id = $1 AND revoked_at IS NULL AND manage
           AND (expires_at IS NULL OR expires_at > clock_timestamp())`
      : `SELECT 1 FROM members WHERE id = $1 AND removed_at IS NULL AND role = 'owner'`,
    [maker.id],
  );
  return rows.length === 1;
}

/** {@link revokeKey} for a key of this workspace only. Returns false when it has no such key. */
export async function revokeWorkspaceKey(db: Queryable, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE id = $2 AND workspace_id = $1`,
    [workspaceId, id],
  );
  return rowCount === 1;
}

/** Revokes a key; a second call changes nothing. Returns the key, or null when there is none. */
export async function revokeKey(db: Queryable, id: string): Promise<KeyRecord | null> {
  const { rows } = await db.query<KeyRecord>(
    `UPDATE api_keys SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1 RETURNING ${COLUMNS}`,
    [id],
  );
  return rows[0] ?? null;
}

/**
 * Records a use of the key, at most once a minute.
 *
 * @param byPixel whether a script in a page sent it to `/collect`, with a report that was recorded
 */
export async function recordKeyUse(db: Queryable, id: string, { byPixel = false } = {}): Promise<void> {
  await db.query(
    `UPDATE api_keys SET last_used_at = now(), pixel_seen_at = CASE WHEN $2 THEN coalesce(pixel_seen_at, now())
       ELSE pixel_seen_at END
     WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute'
       OR last_used_at > now() + interval '1 minute' OR ($2 AND pixel_seen_at IS NULL))`,
    [id, byPixel],
  );
}
