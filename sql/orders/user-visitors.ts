/**
 * SQL of the visitor whose clicks led to what a user does: the one that the user signed up as, else the one that is known to be that
 * user by the newest report of it; null where nobody said so.
 *
 * @param workspace SQL of the workspace's id
 * @param user SQL of the user's external id; null: nobody
 */
export function visitorOfUser(workspace: string, user: string): string {
  const isTheirs = `workspace_id = ${workspace} AND external_user_id = ${user}`;
  // Anyone can say by the pixel that ever more visitors are one user: only the newest of each kind is looked at.
  const newest = (table: string) =>
    `(SELECT visitor_id, 1, last_ts FROM ${table} WHERE ${isTheirs} ORDER BY last_ts DESC LIMIT 1)`;
  return `(SELECT visitor_id FROM (
      SELECT visitor_id, 0 AS rank, 0 AS last_ts FROM signups WHERE ${isTheirs} AND visitor_id IS NOT NULL
      UNION ALL ${newest('identities')} UNION ALL ${newest('visitor_users')}
    ) AS known ORDER BY rank, last_ts DESC LIMIT 1)`;
}
