import { uuidv7 } from '../../core/ids.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';

/**
 * The actor of an entry. A billing provider has the id of its connection. The identity provider, the operator and the
 * service have no id.
 */
export type AuditActor =
  | { type: 'member' | 'key' | 'partner'; id: string }
  | { type: 'provider'; id: string | null }
  | { type: 'operator' | 'service'; id: null };

/** An entry to record. It has no secret, password, email or network address. */
export type NewAuditEntry = {
  /** Null: of the deployment, such as a new partner. */
  workspaceId: string | null;
  actor: AuditActor;
  /** Such as `key.create`. */
  action: string;
  target: { type: string; id: string | null };
  /** Keyed hash of the caller's network address. */
  ipHash?: Buffer | null;
  details?: Record<string, string | number | boolean | string[] | null>;
};

/** An entry of the log. */
export type AuditEntry = {
  id: string;
  created_at: string;
  actor_type: AuditActor['type'];
  actor_id: string | null;
  /** Label of the key, email of the member, name of the partner or billing provider; null: unknown or without one. */
  actor_name: string | null;
  action: string;
  target_type: string;
  target_id: string | null;
  ip_hash: string | null;
  details: Record<string, unknown>;
};

/** Appends an entry. Times are unique in a workspace: they are the cursors of {@link listAuditEntries}. */
export async function recordAudit(db: Queryable, entry: NewAuditEntry): Promise<void> {
  for (;;) {
    const { rowCount } = await db.query(
      `INSERT INTO audit_entries (id, workspace_id, at, actor_type, actor_id, action, target_type, target_id, ip_hash,
         details)
       VALUES ($1, $2, clock_timestamp(), $3, $4, $5, $6, $7, $8, $9)
       ON CONFLICT (workspace_id, at) DO NOTHING`,
      [
        uuidv7(),
        entry.workspaceId,
        entry.actor.type,
        entry.actor.id,
        entry.action,
        entry.target.type,
        entry.target.id,
        entry.ipHash ?? null,
        entry.details ?? {},
      ],
    );
    if (rowCount === 1) return;
  }
}

/** Returns whether the workspace has an entry of this action and target, and reason if given, from the last minute. */
export async function hasRecentAudit(
  db: Queryable,
  workspaceId: string,
  action: string,
  targetId: string | null,
  reason: string | null = null,
): Promise<boolean> {
  const { rows } = await db.query(
    `SELECT 1 FROM audit_entries WHERE workspace_id = $1 AND at > now() - interval '1 minute' AND action = $2
       AND target_id IS NOT DISTINCT FROM $3 AND ($4::text IS NULL OR details ->> 'reason' = $4) LIMIT 1`,
    [workspaceId, action, targetId, reason],
  );
  return rows.length > 0;
}

/** Selects entries. Left out or null: all. */
export type AuditPage = {
  /** ISO 8601 with microseconds: only older entries. */
  before: string | null;
  /** ISO 8601: only entries from this time on. */
  since?: string | null;
  action?: string | null;
  /** Type or id of the actor. */
  actor?: string | null;
  limit: number;
};

/**
 * Returns entries of a workspace, newest first.
 *
 * @param workspaceId null: those of the deployment
 */
export async function listAuditEntries(
  db: Queryable,
  workspaceId: string | null,
  { before, since = null, action = null, actor = null, limit }: AuditPage,
): Promise<AuditEntry[]> {
  const { rows } = await db.query<AuditEntry>(
    `SELECT a.id, ${isoMicros('a.at')} AS created_at, a.actor_type, a.actor_id,
       coalesce(k.label, m.email, p.name, c.provider) AS actor_name, a.action, a.target_type, a.target_id,
       encode(a.ip_hash, 'hex') AS ip_hash, a.details
     FROM audit_entries a
       LEFT JOIN api_keys k ON a.actor_type = 'key' AND k.id = a.actor_id
       LEFT JOIN members m ON a.actor_type = 'member' AND m.id = a.actor_id
       LEFT JOIN partners p ON a.actor_type = 'partner' AND p.id = a.actor_id
       LEFT JOIN connections c ON a.actor_type = 'provider' AND c.id = a.actor_id
     WHERE a.workspace_id IS NOT DISTINCT FROM $1::uuid AND ($2::timestamptz IS NULL OR a.at < $2)
       AND ($3::timestamptz IS NULL OR a.at >= $3) AND ($4::text IS NULL OR a.action = $4)
       AND ($5::text IS NULL OR a.actor_type = $5 OR a.actor_id::text = $5)
     ORDER BY a.at DESC LIMIT $6`,
    [workspaceId, before, since, action, actor, limit],
  );
  return rows;
}
