import type { ClickHouseClient } from '../client.ts';
import { runQuery } from '../queries/run-query.ts';
import { rowsUser, workspaceOfDatabase, workspaceOfRowsUser } from './names.ts';
import {
  type Analyst,
  analystStatements,
  dropAnalystStatements,
  dropWorkspaceStatements,
  rowsUserStatements,
  viewStatements,
} from './statements.ts';

/** Users that read one workspace by SQL: docs/analysts.md. */

export { ANALYST_PREFIX, analystDatabase } from './names.ts';
export type { Analyst } from './statements.ts';

const SECONDS = 20;
const ACCESS_DENIED = '497';

/** Returns whether SQL can create users on this server; the embedded one has no storage for them. */
export async function canCreateUsers(client: ClickHouseClient): Promise<boolean> {
  const rows = await runQuery<{ type: string }>(client, {
    sql: `SELECT type FROM system.user_directories WHERE type IN ('local_directory', 'replicated')`,
    params: {},
    seconds: SECONDS,
  });
  return rows.length > 0;
}

/** Creates an analyst's user, and the views of its workspace. */
export async function createAnalyst(
  client: ClickHouseClient,
  database: string,
  analyst: Analyst,
): Promise<void> {
  await run(client, [
    ...rowsUserStatements(database, analyst.workspaceId),
    ...viewStatements(database, analyst.workspaceId),
    ...analystStatements(database, analyst),
  ]);
}

/** Statements that must fail for an analyst, each with what the server's configuration lacks when it succeeds. */
const PROBES = [
  {
    sql: 'SELECT 1 FROM system.parts LIMIT 1',
    lack: 'every user reads its system tables, which describe all workspaces; set access_control_improvements.select_from_system_db_requires_grant to true in its configuration',
  },
  {
    sql: "SELECT file('/proc/self/environ')",
    lack: 'every user reads files of the machine by file(), as in clickhouse-local',
  },
] as const;

/**
 * Returns how the server fails to confine an analyst, or null.
 *
 * @param analyst a client that is signed in as the analyst
 */
export async function findLeak(analyst: ClickHouseClient): Promise<string | null> {
  for (const { sql, lack } of PROBES) {
    try {
      await runQuery(analyst, { sql, params: {}, seconds: SECONDS });
      return lack;
    } catch (error) {
      // Only an error of the server itself is a refusal.
      if (codeOf(error) === undefined) throw error;
    }
  }
  return null;
}

export type ListedAnalyst = Pick<Analyst, 'user' | 'workspaceId'>;

/** Returns the analysts that the server has. */
export async function listAnalysts(client: ClickHouseClient, database: string): Promise<ListedAnalyst[]> {
  const rows = await runQuery<{ name: string; default_database: string }>(client, {
    sql: `SELECT name, default_database FROM system.users WHERE startsWith(name, 'analyst_') ORDER BY name`,
    params: {},
    seconds: SECONDS,
  });
  return rows.flatMap(({ name, default_database }) => {
    const workspaceId = workspaceOfDatabase(database, default_database);
    return workspaceId === null ? [] : [{ user: name, workspaceId }];
  });
}

/** Removes an analyst's user, and after the last one of a workspace its views and row policies. */
export async function deleteAnalyst(
  client: ClickHouseClient,
  database: string,
  { user, workspaceId }: ListedAnalyst,
): Promise<void> {
  await run(client, dropAnalystStatements(user));
  const others = (await listAnalysts(client, database)).some((one) => one.workspaceId === workspaceId);
  if (!others) await run(client, dropWorkspaceStatements(database, workspaceId));
}

/** Creates the views of every workspace with analysts, as this release has them. */
export async function renewAnalystViews(client: ClickHouseClient, database: string): Promise<void> {
  for (const workspaceId of await workspacesWithAnalysts(client)) {
    await run(client, viewStatements(database, workspaceId));
  }
}

async function workspacesWithAnalysts(client: ClickHouseClient): Promise<string[]> {
  try {
    const rows = await runQuery<{ name: string }>(client, {
      sql: `SELECT name FROM system.users WHERE startsWith(name, {prefix:String})`,
      params: { prefix: rowsUser('') },
      seconds: SECONDS,
    });
    return rows.flatMap(({ name }) => workspaceOfRowsUser(name) ?? []);
  } catch (error) {
    // A user without rights over users has created none.
    if (isDenied(error)) return [];
    throw error;
  }
}

/** The server's code of an error; undefined when the server did not respond. */
function codeOf(error: unknown): string | undefined {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^\d+$/.test(code) ? code : undefined;
}

const isDenied = (error: unknown): boolean => codeOf(error) === ACCESS_DENIED;

async function run(client: ClickHouseClient, statements: readonly string[]): Promise<void> {
  for (const query of statements) await client.command({ query });
}
