import type { Queryable } from '../database/pool.ts';
import type { BesideKey } from '../workspaces/callers.ts';
import { WATERMARK } from './streams.ts';

/** State that is read before a query of clicks. */
export type ReadingPoint = {
  /** The {@link watermark}, microseconds since the epoch; null: there is no stream. */
  watermark: number | null;
  /** Whether the workspace ever deleted a link with its history. Few did, and the filter costs time. */
  hasDeletedLinks: boolean;
};

/** Reads a {@link ReadingPoint} beside other columns. Erasures are never removed, so done ones count too. */
export const READING_POINT: BesideKey = {
  name: 'reading_point',
  column: (workspaceId) => `json_build_object(
    'watermark', (${WATERMARK}),
    'hasDeletedLinks',
      EXISTS (SELECT FROM erasures e WHERE e.workspace_id = ${workspaceId} AND e.kind = 'link'))`,
};

/**
 * Returns the reading point. Read it before the clicks: a click that becomes visible in between is newer than the
 * watermark, or is read.
 */
export async function readingPoint(db: Queryable, workspaceId: string): Promise<ReadingPoint> {
  const { rows } = await db.query<{ point: ReadingPoint }>({
    name: 'reading_point',
    text: `SELECT ${READING_POINT.column('$1')} AS point`,
    values: [workspaceId],
  });
  return rows[0]?.point ?? { watermark: null, hasDeletedLinks: true };
}
