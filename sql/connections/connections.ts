import type { ConnectionSettings, Provider } from '../../core/connections/providers.ts';
import { uuidv7 } from '../../core/ids.ts';
import { lockNamed } from '../database/advisory-locks.ts';
import { nextCreation } from '../database/creation-times.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';

/** A connected billing provider. Instants are ISO 8601 with microseconds; `created_at` is unique in the workspace. */
export type Connection = {
  id: string;
  workspace_id: string;
  provider: Provider;
  /** Sealed; null: not set. */
  signing_secret: Buffer | null;
  /** Sealed; null: not set. */
  restricted_key: Buffer | null;
  settings: ConnectionSettings;
  last_event_at: string | null;
  /** When a call was last refused for its signature, to the minute. */
  refused_at: string | null;
  created_at: string;
};

const COLUMNS = `id, workspace_id, provider, signing_secret, restricted_key, settings,
  ${isoMicros('last_event_at')} AS last_event_at,
  ${isoMicros('refused_at')} AS refused_at, ${isoMicros('created_at')} AS created_at`;

/** Returns the connections of a workspace, newest first. @param page.before ISO 8601 with microseconds */
export async function listConnections(
  db: Queryable,
  workspaceId: string,
  page: { before: string | null; limit: number },
): Promise<Connection[]> {
  const { rows } = await db.query<Connection>(
    `SELECT ${COLUMNS} FROM connections WHERE workspace_id = $1 AND deleted_at IS NULL
       AND ($2::timestamptz IS NULL OR connections.created_at < $2)
     ORDER BY connections.created_at DESC LIMIT $3`,
    [workspaceId, page.before, page.limit],
  );
  return rows;
}

/** Returns the connection with this id in the workspace, or null. */
export async function connectionById(
  db: Queryable,
  workspaceId: string,
  id: string,
): Promise<Connection | null> {
  const { rows } = await db.query<Connection>(
    `SELECT ${COLUMNS} FROM connections WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL`,
    [workspaceId, id],
  );
  return rows[0] ?? null;
}

/** Returns the workspace's oldest connection of a provider that has a restricted key, live mode first, or null. */
export async function connectionWithKey(
  db: Queryable,
  workspaceId: string,
  provider: Provider,
): Promise<Connection | null> {
  const { rows } = await db.query<Connection>(
    `SELECT ${COLUMNS} FROM connections
     WHERE workspace_id = $1 AND provider = $2 AND deleted_at IS NULL AND restricted_key IS NOT NULL
     ORDER BY settings ->> 'mode' = 'live' DESC, connections.created_at LIMIT 1`,
    [workspaceId, provider],
  );
  return rows[0] ?? null;
}

/** Returns a connection of any workspace, or null: its provider's calls name only the connection. */
export async function connectionOfAny(db: Queryable, id: string): Promise<Connection | null> {
  const { rows } = await db.query<Connection>(
    `SELECT ${COLUMNS} FROM connections WHERE id = $1 AND deleted_at IS NULL`,
    [id],
  );
  return rows[0] ?? null;
}

/** Returns the newest connection of a workspace to a provider, or null. */
export async function newestConnection(
  db: Queryable,
  { workspace_id, provider }: Pick<Connection, 'workspace_id' | 'provider'>,
): Promise<Connection | null> {
  const { rows } = await db.query<Connection>(
    `SELECT ${COLUMNS} FROM connections WHERE workspace_id = $1 AND provider = $2 AND deleted_at IS NULL
     ORDER BY connections.created_at DESC LIMIT 1`,
    [workspace_id, provider],
  );
  return rows[0] ?? null;
}

/**
 * Locks and returns a connection; null when it is deleted. Until the transaction ends, no other one processes events of
 * its account at the provider, so their payments are joined without further locks.
 */
export async function lockConnection(tx: Queryable, id: string): Promise<Connection | null> {
  const { rows } = await tx.query<Connection>(
    `SELECT ${COLUMNS} FROM connections WHERE id = $1 AND deleted_at IS NULL FOR NO KEY UPDATE`,
    [id],
  );
  if (rows[0]) await lockAccount(tx, rows[0]);
  return rows[0] ?? null;
}

/**
 * Locks a workspace's account at a provider until the transaction ends, because several connections share its payments
 * and customers.
 */
export async function lockAccount(
  tx: Queryable,
  { workspace_id, provider }: Pick<Connection, 'workspace_id' | 'provider'>,
): Promise<void> {
  await lockNamed(tx, 'providerAccounts', `${workspace_id}/${provider}`);
}

export async function countConnections(db: Queryable, workspaceId: string): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'SELECT count(*) AS count FROM connections WHERE workspace_id = $1 AND deleted_at IS NULL',
    [workspaceId],
  );
  return rows[0]?.count ?? 0;
}

/** Adds a connection without secrets. The caller has locked the workspace: creation times are unique in it. */
export async function insertConnection(
  tx: Queryable,
  workspaceId: string,
  given: Pick<Connection, 'provider' | 'settings'>,
): Promise<Connection> {
  const { rows } = await tx.query<Connection>(
    `INSERT INTO connections (id, workspace_id, provider, settings, created_at, updated_at)
     SELECT $2, $1, $3, $4, at, at FROM (
       SELECT ${nextCreation('connections', '$1')} AS at) AS clock
     RETURNING ${COLUMNS}`,
    [workspaceId, uuidv7(), given.provider, given.settings],
  );
  const [made] = rows;
  if (!made) throw new Error('the connection was not inserted');
  return made;
}

/**
 * Records that a call was refused for its signature. Strangers can cause such calls, so it writes at most once a
 * minute, and does not wait for the locks of workers.
 */
export async function noteRefusal(db: Queryable, id: string): Promise<void> {
  await db.query(
    `UPDATE connections SET refused_at = clock_timestamp() WHERE id = (
       SELECT id FROM connections
       WHERE id = $1 AND (refused_at IS NULL OR refused_at < clock_timestamp() - interval '1 minute')
       FOR NO KEY UPDATE SKIP LOCKED)`,
    [id],
  );
}

export type ConnectionChange = Partial<Pick<Connection, 'signing_secret' | 'restricted_key' | 'settings'>>;

/**
 * Changes the given fields of a connection. A new signing secret also clears the last refusal, which concerns the
 * former one.
 *
 * @returns the connection, or null when the workspace has none with this id
 */
export async function updateConnection(
  tx: Queryable,
  workspaceId: string,
  id: string,
  change: ConnectionChange,
): Promise<Connection | null> {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const assignments = given.map(([name], index) => `${name} = $${index + 3}`);
  if (change.signing_secret !== undefined) assignments.push('refused_at = NULL');
  const { rows } = await tx.query<Connection>(
    `UPDATE connections SET ${[...assignments, 'updated_at = clock_timestamp()'].join(', ')}
     WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING ${COLUMNS}`,
    [workspaceId, id, ...given.map(([, value]) => value)],
  );
  return rows[0] ?? null;
}

/**
 * Deletes a connection with its secrets and events. Orders keep the facts from its events.
 *
 * @returns false when the workspace has none with this id
 */
export async function deleteConnection(tx: Queryable, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE connections SET deleted_at = clock_timestamp(), signing_secret = NULL, restricted_key = NULL
     WHERE workspace_id = $1 AND id = $2 AND deleted_at IS NULL`,
    [workspaceId, id],
  );
  if (rowCount !== 1) return false;
  await tx.query('DELETE FROM connection_events WHERE connection_id = $1', [id]);
  return true;
}
