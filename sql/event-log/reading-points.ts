import type { Queryable } from '../database/pool.ts';
import { WATERMARK } from './streams.ts';

/** What is to be known before clicks are read. */
export type ReadingPoint = {
  /** As {@link watermark} says, microseconds since the epoch; null: there is no stream. */
  watermark: number | null;
  /** Whether the workspace ever deleted a link with its history. Few did, and leaving theirs out costs a question time. */
  hasDeletedLinks: boolean;
};

/** A {@link ReadingPoint} as it is selected. */
export type ReadingPointRow = { watermark: number | null; has_deleted_links: boolean };

/**
 * The columns of a {@link ReadingPointRow}. Erasures are kept for good, done or not.
 *
 * @param workspaceId SQL that gives it
 */
export const readingPointColumns = (workspaceId: string) => `
  (${WATERMARK}) AS watermark,
  EXISTS (SELECT FROM erasures e WHERE e.workspace_id = ${workspaceId} AND e.kind = 'link') AS has_deleted_links`;

export const toReadingPoint = (row: ReadingPointRow): ReadingPoint => ({
  watermark: row.watermark,
  hasDeletedLinks: row.has_deleted_links,
});

/** To be asked before the clicks: what becomes visible between the two is then newer than the watermark, or read. */
export async function readingPoint(db: Queryable, workspaceId: string): Promise<ReadingPoint> {
  const { rows } = await db.query<ReadingPointRow>({
    name: 'reading_point',
    text: `SELECT ${readingPointColumns('$1')}`,
    values: [workspaceId],
  });
  return rows[0] ? toReadingPoint(rows[0]) : { watermark: null, hasDeletedLinks: true };
}
