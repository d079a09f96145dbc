import type { Queryable } from '../database/pool.ts';

/**
 * Counts a row that a publishable key creates, in the same transaction.
 *
 * @returns 0 when the workspace may create it, else the seconds until the next hour begins
 */
export async function countPublishableUse(tx: Queryable, workspaceId: string, most: number): Promise<number> {
  const { rowCount } = await tx.query(
    `INSERT INTO publishable_uses AS u (workspace_id, hour, made)
     VALUES ($1, date_trunc('hour', clock_timestamp()), 1)
     ON CONFLICT (workspace_id, hour) DO UPDATE SET made = u.made + 1 WHERE u.made < $2`,
    [workspaceId, most],
  );
  if (rowCount === 1) return 0;
  const { rows } = await tx.query<{ wait: number }>(
    `SELECT ceil(extract(epoch FROM date_trunc('hour', clock_timestamp()) + interval '1 hour'
       - clock_timestamp()))::integer AS wait`,
  );
  return Math.max(1, rows[0]?.wait ?? 1);
}
