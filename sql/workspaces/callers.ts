import type { Queryable } from '../database/pool.ts';
import { keyRightsSql, type StoredKey } from './keys.ts';
import { type Workspace, workspaceColumns } from './workspaces.ts';

/** A value of the caller's workspace that a route reads in the query of the key. */
export type BesideKey = {
  /** Name of the prepared statement. */
  name: string;
  /** Returns the SQL of one column, from the SQL expression of the workspace id. */
  column: (workspaceId: string) => string;
};

/** The workspace key and workspace of an API request. */
export type Caller = { key: StoredKey; workspace: Workspace; beside: unknown };

type Row = Workspace & {
  beside: unknown;
  key_id: string;
  key_kind: StoredKey['kind'];
  key_hash: Buffer;
  key_label: string;
  key_scopes: StoredKey['scopes'];
  key_manage: boolean;
  key_created_by: StoredKey['created_by'];
  key_created_at: Date;
  key_expires_at: Date | null;
  key_last_used_at: Date | null;
  key_revoked_at: Date | null;
};

/**
 * Returns the key with this 8-digit lookup, revoked or not, with its workspace, or null. Every request starts with
 * it: one indexed query, prepared once per connection. Nothing is cached, so a revocation holds at once.
 */
export async function callerByLookup(
  db: Queryable,
  lookup: string,
  beside: BesideKey = { name: 'nothing', column: () => 'NULL' },
): Promise<Caller | null> {
  const { rows } = await db.query<Row>({
    name: `caller_with_${beside.name}`,
    text: `SELECT ${workspaceColumns('w')}, k.id AS key_id, k.kind AS key_kind, k.hash AS key_hash,
             k.label AS key_label, ${keyRightsSql('k', 'key_')}, k.created_at AS key_created_at,
             k.expires_at AS key_expires_at, k.last_used_at AS key_last_used_at, k.revoked_at AS key_revoked_at,
             ${beside.column('w.id')} AS beside
           FROM api_keys k JOIN workspaces w ON w.id = k.workspace_id WHERE k.lookup = $1`,
    values: [lookup],
  });
  return rows[0] ? toCaller(rows[0]) : null;
}

function toCaller(row: Row): Caller {
  const {
    key_id,
    key_kind,
    key_hash,
    key_label,
    key_scopes,
    key_manage,
    key_created_by,
    key_created_at,
    key_expires_at,
    key_last_used_at,
    key_revoked_at,
    beside,
    ...workspace
  } = row;
  return {
    workspace,
    beside,
    key: {
      id: key_id,
      workspace_id: workspace.id,
      kind: key_kind,
      label: key_label,
      scopes: key_scopes,
      manage: key_manage,
      created_by: key_created_by,
      hash: key_hash,
      created_at: key_created_at,
      expires_at: key_expires_at,
      last_used_at: key_last_used_at,
      revoked_at: key_revoked_at,
    },
  };
}
