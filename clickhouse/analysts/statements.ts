import { ANALYST_LIMITS } from './limits.ts';
import { analystDatabase, rowsUser } from './names.ts';
import { ANALYST_TABLES, analystViews } from './views.ts';

export type Analyst = {
  user: string;
  workspaceId: string;
  /** SHA-256 of the password, in hex. */
  passwordHash: string;
};

/** Returns the statements that create or renew the views of a workspace. The user with its row policies must exist. */
export function viewStatements(database: string, workspaceId: string): string[] {
  const views = analystDatabase(database, workspaceId);
  return [
    `CREATE DATABASE IF NOT EXISTS ${views} ENGINE = Atomic`,
    ...Object.entries(analystViews(database)).map(
      ([name, select]) =>
        `CREATE OR REPLACE VIEW ${views}.${name}
        DEFINER = ${rowsUser(workspaceId)} SQL SECURITY DEFINER AS ${select}`,
    ),
  ];
}

/**
 * Returns the statements that create the user with the row policies of a workspace. The policies are on the tables and
 * not on the views: ClickHouse applies a table's policy before any other condition, so that no error of a query tells
 * of other rows.
 */
export function rowsUserStatements(database: string, workspaceId: string): string[] {
  const user = rowsUser(workspaceId);
  return [
    `CREATE USER IF NOT EXISTS ${user} IDENTIFIED WITH no_password HOST NONE`,
    ...ANALYST_TABLES.flatMap((name) => {
      const table = `${database}.${name}`;
      return [
        // Without one for the service itself, some servers would hide all rows from it.
        `CREATE ROW POLICY IF NOT EXISTS hoplog_service ON ${table} USING 1 TO CURRENT_USER`,
        `CREATE ROW POLICY OR REPLACE ${user} ON ${table} USING ${ofWorkspace(workspaceId)} TO ${user}`,
        `GRANT SELECT ON ${table} TO ${user}`,
      ];
    }),
  ];
}

/** The condition of a row policy. */
export const ofWorkspace = (workspaceId: string): string => `workspace_id = toUUID('${workspaceId}')`;

/** Returns the statements that create an analyst's user. Its database must exist. */
export function analystStatements(database: string, analyst: Analyst): string[] {
  const { user, workspaceId, passwordHash } = analyst;
  const views = analystDatabase(database, workspaceId);
  const settings = Object.entries(ANALYST_LIMITS).map(([name, { value, least, most }]) => {
    const range = [least === undefined ? '' : `MIN ${least}`, most === undefined ? '' : `MAX ${most}`];
    return `${name} = ${value} ${most === undefined ? 'READONLY' : range.join(' ')}`;
  });
  return [
    `CREATE USER ${user} IDENTIFIED WITH sha256_hash BY '${passwordHash}'
      DEFAULT DATABASE ${views} SETTINGS ${settings.join(', ')}`,
    `GRANT SELECT ON ${views}.* TO ${user}`,
  ];
}

/** Returns the statements that remove an analyst's user. */
export const dropAnalystStatements = (user: string): string[] => [`DROP USER IF EXISTS ${user}`];

/** Returns the statements that remove the views and row policies of a workspace without analysts. */
export function dropWorkspaceStatements(database: string, workspaceId: string): string[] {
  const user = rowsUser(workspaceId);
  return [
    `DROP DATABASE IF EXISTS ${analystDatabase(database, workspaceId)} SYNC`,
    ...ANALYST_TABLES.map((name) => `DROP ROW POLICY IF EXISTS ${user} ON ${database}.${name}`),
    `DROP USER IF EXISTS ${user}`,
  ];
}
