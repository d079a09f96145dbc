import type { Queryable } from '../database/pool.ts';

/** Returns the workspace's logo, a PNG, or null. It is read only to be shown: other code reads the workspace often. */
export async function workspaceLogo(db: Queryable, workspaceId: string): Promise<Buffer | null> {
  const { rows } = await db.query<{ logo: Buffer | null }>('SELECT logo FROM workspaces WHERE id = $1', [
    workspaceId,
  ]);
  return rows[0]?.logo ?? null;
}

/** Stores the workspace's logo, a PNG; null removes it. */
export async function setWorkspaceLogo(
  db: Queryable,
  workspaceId: string,
  logo: Uint8Array | null,
): Promise<void> {
  await db.query('UPDATE workspaces SET logo = $2 WHERE id = $1', [workspaceId, logo]);
}
