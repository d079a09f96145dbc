import type { MarksRecord } from '../../core/event-log/replica-marks.ts';
import type { Queryable } from '../database/pool.ts';
import type { BesideKey } from '../workspaces/callers.ts';
import { REPLICAS_READABLE } from './replica-marks.ts';
import { WATERMARK } from './streams.ts';

/** State that is read before a query of clicks. */
export type ReadingPoint = {
  /** The {@link watermark}, microseconds since the epoch; null: there is no stream. */
  watermark: number | null;
  /** Whether the workspace ever deleted a link with its history. Few did, and the filter costs time. */
  hasDeletedLinks: boolean;
  /** Where there are several replicas of ClickHouse: how far they are, see {@link MarksRecord}. */
  replicas?: MarksRecord['replicas'];
};

/** Reads a {@link ReadingPoint} beside other columns. Erasures are never removed, so done ones count too. */
export const READING_POINT: BesideKey = {
  name: 'reading_point',
  column: (workspaceId) => `json_build_object(${fields(workspaceId)})`,
};

/** Reads it with {@link ReadingPoint.replicas}. */
export const READING_POINT_OF_REPLICAS: BesideKey = {
  name: 'reading_point_of_replicas',
  column: (workspaceId) => `json_build_object(${fields(workspaceId)}, 'replicas', (${REPLICAS_READABLE}))`,
};

const fields = (workspaceId: string) => `
    'watermark', (${WATERMARK}),
    'hasDeletedLinks',
      EXISTS (SELECT FROM erasures e WHERE e.workspace_id = ${workspaceId} AND e.kind = 'link')`;

/**
 * Returns the reading point. Read it before the clicks: a click that becomes visible in between is newer than the
 * watermark, or is read.
 */
export async function readingPoint(
  db: Queryable,
  workspaceId: string,
  { name, column } = READING_POINT,
): Promise<ReadingPoint> {
  const { rows } = await db.query<{ point: ReadingPoint }>({
    name,
    text: `SELECT ${column('$1')} AS point`,
    values: [workspaceId],
  });
  return rows[0]?.point ?? { watermark: null, hasDeletedLinks: true };
}
