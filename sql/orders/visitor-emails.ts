import type { Queryable } from '../database/pool.ts';

/** A visitor, the visitor's newest email, and its time (microseconds since the epoch). */
export type VisitorEmail = { visitorId: string; email: string; lastTs: number };

type Row = { visitor_id: string; email: string; last_ts: string };

const toVisitorEmail = (row: Row): VisitorEmail => ({
  visitorId: row.visitor_id,
  email: row.email,
  lastTs: Number(row.last_ts),
});

/**
 * Returns the visitors with this email, the most recent first.
 *
 * @param email in lower case
 */
export async function visitorsByEmail(
  db: Queryable,
  workspaceId: string,
  email: string,
  limit: number,
): Promise<VisitorEmail[]> {
  const { rows } = await db.query<Row>(
    `SELECT visitor_id, email, last_ts FROM identities WHERE workspace_id = $1 AND email = $2
     ORDER BY last_ts DESC, visitor_id LIMIT $3`,
    [workspaceId, email, limit],
  );
  return rows.map(toVisitorEmail);
}

/** Returns the newest email of each of these visitors, unsorted. Leaves out visitors without one. */
export async function emailsOfVisitors(
  db: Queryable,
  workspaceId: string,
  visitorIds: string[],
): Promise<VisitorEmail[]> {
  if (visitorIds.length === 0) return [];
  const { rows } = await db.query<Row>(
    `SELECT DISTINCT ON (visitor_id) visitor_id, email, last_ts FROM identities
     WHERE workspace_id = $1 AND visitor_id = ANY ($2) ORDER BY visitor_id, last_ts DESC`,
    [workspaceId, visitorIds],
  );
  return rows.map(toVisitorEmail);
}

/**
 * Returns visitors whose email or user id contains a text, ignoring case, with their newest such email (empty: found by
 * a user without one), the most recent first. Reads all names of the workspace.
 */
export async function visitorsByName(
  db: Queryable,
  workspaceId: string,
  text: string,
  limit: number,
): Promise<VisitorEmail[]> {
  const { rows } = await db.query<Row>(
    `SELECT visitor_id, email, last_ts FROM (
       SELECT DISTINCT ON (visitor_id) visitor_id, email, last_ts FROM (
         SELECT visitor_id, email, last_ts FROM identities
         WHERE workspace_id = $1 AND (email LIKE $2 OR lower(external_user_id) LIKE $2)
         UNION ALL
         SELECT visitor_id, '', last_ts FROM visitor_users WHERE workspace_id = $1 AND lower(external_user_id) LIKE $2
       ) AS named ORDER BY visitor_id, last_ts DESC
     ) AS found ORDER BY last_ts DESC, visitor_id LIMIT $3`,
    [workspaceId, `%${text.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`, limit],
  );
  return rows.map(toVisitorEmail);
}
