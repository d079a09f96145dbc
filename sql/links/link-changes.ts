import type { Queryable } from '../database/pool.ts';

/** What must be read again. `target_id` is the id of the link, campaign, key, page or programme. */
export type LinkChange = {
  /** Decimal text of the transaction's id (64 bits). */
  xid: string;
  /** Number within the table, as text. */
  id: string;
  kind: 'link' | 'destination' | 'workspace' | 'bio_page' | 'program' | 'key';
  target_id: string;
};

/** Name of the notification that wakes readers. It may be lost, so readers also look by themselves. */
export const LINK_CHANGES_CHANNEL = 'link_changes';

/**
 * The oldest transaction that still runs. Changes of every older one are visible or will never be: a reader that
 * starts here before it loads anything misses nothing.
 */
export async function oldestRunningTransaction(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ xmin: string }>(
    'SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin',
  );
  const xmin = rows[0]?.xmin;
  if (xmin === undefined) throw new Error('PostgreSQL gave no snapshot');
  return xmin;
}

/**
 * Every visible change from a transaction on, in pages, together with the oldest transaction that still runs.
 *
 * A reader takes `xmin` of its first page as the start of its next round: order of ids is not order of commits,
 * so changes at or above `xmin` may still appear between those that it has seen, and it gets the ones it has
 * seen again. That way a transaction that runs for minutes holds nobody's changes up.
 *
 * What a visible change names is a transaction of before this moment. One that lies ahead was another server's, and came with
 * a backup that was restored here: without the bound it would be given again in each round for as long as it is kept.
 *
 * @param after start with the change behind this one: `{ xid, id: '-1' }` for a new round
 * @returns fewer than `limit` changes: these were the last
 */
export async function changesAfter(
  db: Queryable,
  after: { xid: string; id: string },
  limit: number,
): Promise<{ xmin: string; changes: LinkChange[] }> {
  const { rows } = await db.query<LinkChange & { xmin: string }>(
    `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin, c.xid::text AS xid, c.id::text AS id, c.kind,
       c.target_id
     FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
       SELECT * FROM link_changes
       WHERE (xid, id) > ($1::text::xid8, $2::text::bigint) AND xid < pg_snapshot_xmax(pg_current_snapshot())
       ORDER BY xid, id LIMIT $3
     ) c ON true`,
    [after.xid, after.id, limit],
  );
  const xmin = rows[0]?.xmin;
  if (xmin === undefined) throw new Error('PostgreSQL gave no snapshot');
  return { xmin, changes: rows.filter((row) => row.xid !== null) };
}
