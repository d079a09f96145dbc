import { uuidv7 } from '../../core/ids.ts';
import { nextCreation } from '../database/creation-times.ts';
import { isoMicros } from '../database/instants.ts';
import type { Queryable } from '../database/pool.ts';
import { workspaceRows } from '../database/workspace-list.ts';

/** `created_at`: ISO 8601 with microseconds, unique in the workspace. */
export type Folder = { id: string; name: string; created_at: string };

const COLUMNS = `id, name, ${isoMicros('created_at')} AS created_at`;

/**
 * `deleteFolder` leaves a folder's campaigns without a folder. Its caller has locked the workspace, which prevents a
 * deadlock: a move of a link locks the campaign first, then the folder.
 */
export const {
  list: listFolders,
  byId: folderById,
  delete: deleteFolder,
} = workspaceRows<Folder>('folders', COLUMNS);

/** Creates a folder. The caller has locked the workspace: creation times are unique in it. */
export async function insertFolder(tx: Queryable, workspaceId: string, name: string): Promise<Folder> {
  const { rows } = await tx.query<Folder>(
    `INSERT INTO folders (id, workspace_id, name, created_at)
     SELECT $1, $2, $3, ${nextCreation('folders', '$2')}
     RETURNING ${COLUMNS}`,
    [uuidv7(), workspaceId, name],
  );
  if (!rows[0]) throw new Error('the folder was not inserted');
  return rows[0];
}

/** Returns the number of links in each of the folders, by id, without archived ones; empty folders are left out. */
export async function linksInFolders(
  db: Queryable,
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await db.query<{ id: string; links: number }>(
    `SELECT d.folder_id AS id, count(*)::int AS links
     FROM destinations d JOIN links l ON l.destination_id = d.id
     WHERE d.workspace_id = $1 AND d.folder_id = ANY ($2) AND l.deleted_at IS NULL AND NOT l.archived
     GROUP BY d.folder_id`,
    [workspaceId, ids],
  );
  return new Map(rows.map(({ id, links }) => [id, links]));
}

/** Returns the oldest folder of this name in the workspace, or null. */
export async function folderNamed(db: Queryable, workspaceId: string, name: string): Promise<Folder | null> {
  const { rows } = await db.query<Folder>(
    `SELECT ${COLUMNS} FROM folders WHERE workspace_id = $1 AND name = $2 ORDER BY folders.created_at LIMIT 1`,
    [workspaceId, name],
  );
  return rows[0] ?? null;
}

/** Returns the folders with these ids in the workspace. */
export async function foldersByIds(db: Queryable, workspaceId: string, ids: string[]): Promise<Folder[]> {
  const { rows } = await db.query<Folder>(
    `SELECT ${COLUMNS} FROM folders WHERE id = ANY($1) AND workspace_id = $2`,
    [ids, workspaceId],
  );
  return rows;
}

/** Returns whether the folder belongs to the workspace. It then exists until the transaction ends. */
export async function lockFolderShared(tx: Queryable, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    'SELECT 1 FROM folders WHERE id = $1 AND workspace_id = $2 FOR KEY SHARE',
    [id, workspaceId],
  );
  return rowCount === 1;
}

/** Renames a folder. Returns null when the workspace has none with this id. */
export async function renameFolder(
  db: Queryable,
  workspaceId: string,
  id: string,
  name: string,
): Promise<Folder | null> {
  const { rows } = await db.query<Folder>(
    `UPDATE folders SET name = $3 WHERE id = $1 AND workspace_id = $2 RETURNING ${COLUMNS}`,
    [id, workspaceId, name],
  );
  return rows[0] ?? null;
}
