import { type ReadingPoint, readingPoint } from '../sql/event-log/reading-points.ts';
import type { ApiDeps, Auth } from './dependencies.ts';

/** What is to be known before clicks are read: what came with the key, else it is asked for now. */
export async function readingPointOf({ pool }: Pick<ApiDeps, 'pool'>, auth: Auth): Promise<ReadingPoint> {
  return auth.readingPoint ?? readingPoint(pool, auth.workspace.id);
}
