import type { SplitGoal, SplitVariant } from '../../core/links/rules/types.ts';
import type { Queryable } from '../database/pool.ts';

/** A split that has ended and has no winner. Times are milliseconds since the epoch. */
export type EndedSplit = {
  id: string;
  workspace_id: string;
  created_at: number;
  split: SplitVariant[];
  split_goal: SplitGoal;
  ends_at: number;
};

/** The condition on links whose split has ended and has no winner, as the index `links_split_due` has it. */
export const IS_SPLIT_DUE = `split_ends_at IS NOT NULL AND split_winner IS NULL AND deleted_at IS NULL`;

const millis = (column: string) => `floor(extract(epoch FROM ${column}) * 1000)::float8`;

/** Returns splits that ended at least `graceMs` ago and have no winner, the oldest first. */
export async function endedSplits(db: Queryable, graceMs: number, limit: number): Promise<EndedSplit[]> {
  const { rows } = await db.query<EndedSplit>(
    `SELECT id, workspace_id, ${millis('created_at')} AS created_at, split, split_goal,
       ${millis('split_ends_at')} AS ends_at
     FROM links
     WHERE ${IS_SPLIT_DUE} AND split_ends_at <= now() - $1 * interval '1 millisecond'
     ORDER BY split_ends_at LIMIT $2`,
    [graceMs, limit],
  );
  return rows;
}

/**
 * Stores the winner of a split, unless the split changed meanwhile or another worker was first.
 *
 * @returns whether it was stored
 */
export async function storeWinner(db: Queryable, ended: EndedSplit, winner: string): Promise<boolean> {
  const { rowCount } = await db.query(
    `UPDATE links SET split_winner = $3, updated_at = clock_timestamp()
     WHERE id = $1 AND workspace_id = $2 AND ${IS_SPLIT_DUE} AND split = $4 AND split_goal = $5
       AND ${millis('split_ends_at')} = $6`,
    [ended.id, ended.workspace_id, winner, JSON.stringify(ended.split), ended.split_goal, ended.ends_at],
  );
  return rowCount === 1;
}
