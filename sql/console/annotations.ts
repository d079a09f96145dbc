import { isoMicros } from '../database/instants.ts';
import { workspaceList } from '../database/workspace-list.ts';

/**
 * An event of the workspace that charts show. Times: ISO 8601 with microseconds; `created_at` is unique in the
 * workspace.
 */
export type Annotation = { id: string; at: string; text: string; created_at: string };

export const annotations = workspaceList<Annotation>('annotations', { at: isoMicros('at'), text: 'text' });
