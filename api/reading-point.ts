import { type ReadingPoint, readingPoint } from '../sql/event-log/reading-points.ts';
import type { ApiDeps, Auth } from './dependencies.ts';

/** Returns the reading point that came with the key, or reads it now. */
export async function readingPointOf(
  { pool }: Pick<ApiDeps, 'pool'>,
  auth: Pick<Auth, 'workspace' | 'readingPoint'>,
): Promise<ReadingPoint> {
  return auth.readingPoint ?? readingPoint(pool, auth.workspace.id);
}
