import { type ReadingPoint, readingPoint } from '../sql/event-log/reading-points.ts';
import type { ApiDeps, Auth } from './dependencies.ts';

/** Returns the reading point that came with the key, or reads it now. */
export async function readingPointOf(
  { pool }: Pick<ApiDeps, 'pool'>,
  auth: Pick<Auth, 'workspace' | 'beside'>,
): Promise<ReadingPoint> {
  return (auth.beside as ReadingPoint | null | undefined) ?? readingPoint(pool, auth.workspace.id);
}
