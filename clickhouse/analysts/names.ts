/** The names of analysts' users begin with it: the embedded ClickHouse accepts only these beside its own. */
export const ANALYST_PREFIX = 'analyst_';

const hexOf = (workspaceId: string): string => workspaceId.replaceAll('-', '').toLowerCase();

/** Returns the database of a workspace's views. @param database the database of the tables */
export const analystDatabase = (database: string, workspaceId: string): string =>
  `${database}_workspace_${hexOf(workspaceId)}`;

/** Returns the user with the row policies of a workspace. Its views run as this user, which cannot sign in. */
export const rowsUser = (workspaceId: string): string => `hoplog_rows_${hexOf(workspaceId)}`;

/** Returns the workspace of an analyst's database, or null for another database. */
export function workspaceOfDatabase(database: string, name: string): string | null {
  const prefix = analystDatabase(database, '');
  return name.startsWith(prefix) ? idOf(name.slice(prefix.length)) : null;
}

/** Returns the workspace of a {@link rowsUser}, or null for another user. */
export function workspaceOfRowsUser(name: string): string | null {
  const prefix = rowsUser('');
  return name.startsWith(prefix) ? idOf(name.slice(prefix.length)) : null;
}

function idOf(hex: string): string | null {
  const parts = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(hex);
  return parts === null ? null : parts.slice(1).join('-');
}
