import type { Queryable } from '../database/pool.ts';
import { WATERMARK } from './streams.ts';

/** What a query of clicks must know first. */
export type ReadingPoint = {
  /** The {@link watermark}, microseconds since the epoch; null: there is no stream. */
  watermark: number | null;
  /** Whether the workspace ever deleted a link with its history. Few did, and the filter costs time. */
  hasDeletedLinks: boolean;
};

/** A {@link ReadingPoint} as a row. */
export type ReadingPointRow = { watermark: number | null; has_deleted_links: boolean };

/**
 * Returns the columns of a {@link ReadingPointRow}. Erasures are never removed, so done ones count too.
 *
 * @param workspaceId SQL expression of the workspace id
 */
export const readingPointColumns = (workspaceId: string) => `
  (${WATERMARK}) AS watermark,
  EXISTS (SELECT FROM erasures e WHERE e.workspace_id = ${workspaceId} AND e.kind = 'link') AS has_deleted_links`;

export const toReadingPoint = (row: ReadingPointRow): ReadingPoint => ({
  watermark: row.watermark,
  hasDeletedLinks: row.has_deleted_links,
});

/**
 * Returns the reading point. Read it before the clicks: what becomes visible in between is newer than the watermark,
 * or read.
 */
export async function readingPoint(db: Queryable, workspaceId: string): Promise<ReadingPoint> {
  const { rows } = await db.query<ReadingPointRow>({
    name: 'reading_point',
    text: `SELECT ${readingPointColumns('$1')}`,
    values: [workspaceId],
  });
  return rows[0] ? toReadingPoint(rows[0]) : { watermark: null, hasDeletedLinks: true };
}
