/**
 * Returns the SQL of a user's visitor: that of the user's signup, else that of the newest report that names the user;
 * null without any.
 *
 * @param workspace SQL of the workspace's id
 * @param user SQL of the user's external id; null: none
 */
export function visitorOfUser(workspace: string, user: string): string {
  const isTheirs = `workspace_id = ${workspace} AND external_user_id = ${user}`;
  // Anyone can report any number of visitors of a user by pixel, so only the newest of each kind is read.
  const newest = (table: string) =>
    `(SELECT visitor_id, 1, last_ts FROM ${table} WHERE ${isTheirs} ORDER BY last_ts DESC LIMIT 1)`;
  return `(SELECT visitor_id FROM (
      SELECT visitor_id, 0 AS rank, 0 AS last_ts FROM signups WHERE ${isTheirs} AND visitor_id IS NOT NULL
      UNION ALL ${newest('identities')} UNION ALL ${newest('visitor_users')}
    ) AS known ORDER BY rank, last_ts DESC LIMIT 1)`;
}
