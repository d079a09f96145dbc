import {
  READING_POINT,
  READING_POINT_OF_REPLICAS,
  type ReadingPoint,
  readingPoint,
} from '../sql/event-log/reading-points.ts';
import type { BesideKey } from '../sql/workspaces/callers.ts';
import type { ApiDeps, Auth } from './dependencies.ts';

/** Returns what the query of a request's key reads for {@link readingPointOf}. */
export function readingPointBeside({ readers }: Pick<ApiDeps, 'readers'>): BesideKey {
  return readers.isReplicated ? READING_POINT_OF_REPLICAS : READING_POINT;
}

/** Returns the reading point that came with the key, or reads it now. */
export async function readingPointOf(
  deps: Pick<ApiDeps, 'pool' | 'readers'>,
  auth: Pick<Auth, 'workspace' | 'beside'>,
): Promise<ReadingPoint> {
  const known = auth.beside as ReadingPoint | null | undefined;
  return known ?? readingPoint(deps.pool, auth.workspace.id, readingPointBeside(deps));
}
