import type { Queryable } from '../database/pool.ts';

/**
 * A row that readers must read again. `target_id` is the id of the link, campaign, key, page, program, alias, prefix,
 * domain or workspace.
 */
export type LinkChange = {
  /** Decimal text of the transaction's id (64 bits). */
  xid: string;
  /** Number within the table, as text. */
  id: string;
  kind: 'link' | 'destination' | 'bio_page' | 'program' | 'alias' | 'prefix' | 'domain' | 'key' | 'workspace';
  target_id: string;
};

/** Channel of the notification that wakes readers. It may be lost, so readers also poll. */
export const LINK_CHANGES_CHANNEL = 'link_changes';

/**
 * Returns the oldest transaction that still runs, and the start of the server that responds. Changes of older
 * transactions are visible or were rolled back: a reader that starts here before it loads anything misses nothing.
 */
export async function oldestRunningTransaction(db: Queryable): Promise<{ xmin: string; server: string }> {
  const { rows } = await db.query<{ xmin: string; server: string }>(
    'SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin, pg_postmaster_start_time()::text AS server',
  );
  const [first] = rows;
  if (first === undefined) throw new Error('PostgreSQL returned no snapshot');
  return first;
}

/**
 * Returns every visible change from a transaction on, in pages, together with the oldest transaction that still runs.
 *
 * The next poll of a reader starts at the `xmin` of its first page. Ids are not in commit order: changes at or above
 * `xmin` may still appear between those that it has read, so it reads them again. A transaction that runs for minutes
 * therefore delays no other change.
 *
 * Changes with a future transaction id came with a backup of another server. Without the upper bound every poll would
 * return them again.
 *
 * @param after the change to continue after: `{ xid, id: '-1' }` starts a poll
 * @returns fewer than `limit` changes: these were the last. `server` names the start of the server that responds
 */
export async function changesAfter(
  db: Queryable,
  after: { xid: string; id: string },
  limit: number,
): Promise<{ xmin: string; server: string; changes: LinkChange[] }> {
  // Named, because each ingest process polls it every second: PostgreSQL then plans it once a connection.
  const { rows } = await db.query<LinkChange & { xmin: string; server: string }>({
    name: 'link_changes_after',
    text: `SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xmin, pg_postmaster_start_time()::text AS server, c.xid::text AS xid, c.id::text AS id, c.kind,
       c.target_id
     FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
       SELECT * FROM link_changes
       WHERE (xid, id) > ($1::text::xid8, $2::text::bigint) AND xid < pg_snapshot_xmax(pg_current_snapshot())
       ORDER BY xid, id LIMIT $3
     ) c ON true`,
    values: [after.xid, after.id, limit],
  });
  const [first] = rows;
  if (first === undefined) throw new Error('PostgreSQL returned no snapshot');
  const { xmin, server } = first;
  return { xmin, server, changes: rows.filter((row) => row.xid !== null) };
}
