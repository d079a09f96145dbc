import type { Queryable } from '../database/pool.ts';
import { workspaceList } from '../database/workspace-list.ts';

/** `created_at`: ISO 8601 with microseconds, unique in the workspace. */
export type SavedView = { id: string; name: string; query: Record<string, unknown>; created_at: string };

export const savedViews = workspaceList<SavedView>('saved_views', { name: 'name', query: 'query' });

/** Returns whether the workspace has the view. It stays until the transaction ends. */
export async function savedViewExists(tx: Queryable, workspaceId: string, id: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    'SELECT FROM saved_views WHERE id = $1 AND workspace_id = $2 FOR KEY SHARE',
    [id, workspaceId],
  );
  return rowCount === 1;
}
