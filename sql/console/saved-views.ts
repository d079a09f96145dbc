import { workspaceList } from '../database/workspace-list.ts';

/** `created_at`: ISO 8601 with microseconds, unique in the workspace. */
export type SavedView = { id: string; name: string; query: Record<string, unknown>; created_at: string };

export const savedViews = workspaceList<SavedView>('saved_views', { name: 'name', query: 'query' });
