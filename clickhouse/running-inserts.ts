import type { ClickHouseClient } from './client.ts';
import type { Condition } from './copies/compared-tables.ts';
import { runQuery } from './queries/run-query.ts';

/**
 * An insert continues when its caller is gone, and the same one beside it would store rows twice.
 *
 * @param given on `system.processes`, of this database
 * @param what such an insert, in the message
 * @throws Error while one still runs
 */
export async function assertNoneRuns(
  client: ClickHouseClient,
  given: Condition,
  what: string,
): Promise<void> {
  const [row] = await runQuery<{ running: string }>(client, {
    sql: `SELECT count() AS running FROM system.processes WHERE current_database = currentDatabase() AND ${given.sql}`,
    params: given.params,
    seconds: 30,
  });
  if (row?.running !== '0') throw new Error(`an earlier ${what} still runs in the replica`);
}
