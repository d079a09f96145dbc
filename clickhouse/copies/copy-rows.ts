import { Readable } from 'node:stream';
import type { ClickHouseClient } from '../client.ts';
import { PROGRESS_HEADERS, runQuery } from '../queries/run-query.ts';

/** Rows that one replica lacks and another one has. */
export type RowsToCopy = {
  table: 'attributed_shares' | 'clicks' | 'deleted_links' | 'identifies' | 'removed_clicks';
  /** SQL, of the table. */
  condition: string;
  params: Record<string, unknown>;
};

/** Longest time of one statement, in seconds. */
const SECONDS = 600;

/** Inserts of clicks that are repaired by copies, by the beginning of their tokens. */
export const REPAIRED_TOKENS = { import: 'import/', deadLetter: 'dead/', archive: 'archive/' } as const;

type Column = { name: string; type: string };

/**
 * Copies rows from one replica to another. May be repeated: clicks that are there are left out, and the other tables
 * keep one row of each key.
 *
 * @throws Error while an earlier insert of such clicks may still take effect in `to`, which would store them twice
 */
export async function copyRows(
  from: ClickHouseClient,
  to: ClickHouseClient,
  { table, condition, params }: RowsToCopy,
): Promise<void> {
  if (table === 'clicks') await assertNoneRuns(to);
  const columns = await columnsOf(to, table);
  const names = columns.map(({ name }) => name).join(', ');
  const { stream } = await from.exec({
    query: `SELECT ${names} FROM ${table} ${table === 'clicks' ? '' : 'FINAL'} WHERE ${condition} FORMAT Native`,
    query_params: params,
    use_multipart_params: true,
    // An error has to be a status, not the end of a stream that looks whole.
    clickhouse_settings: { wait_end_of_query: 1, max_execution_time: SECONDS, ...PROGRESS_HEADERS },
  });
  const pieces = stream[Symbol.asyncIterator]();
  const first = await pieces.next();
  if (first.done) return;
  const lacking =
    table === 'clicks'
      ? `SELECT ${names} FROM input('${structure(columns)}')
         WHERE (workspace_id, ts) NOT IN (SELECT workspace_id, ts FROM clicks WHERE ${condition})`
      : '';
  const inserted = await to.exec({
    query: `INSERT INTO ${table} (${names}) ${lacking} FORMAT Native`,
    ...(lacking !== '' && { query_params: params }),
    values: Readable.from(all(first.value, pieces), { objectMode: false }),
    clickhouse_settings: {
      async_insert: 0,
      // A copy of rows that were removed since has the same hash.
      insert_deduplicate: 0,
      wait_end_of_query: 1,
      max_execution_time: SECONDS,
      ...PROGRESS_HEADERS,
    },
  });
  for await (const _ of inserted.stream);
}

async function* all(first: unknown, rest: AsyncIterator<unknown>): AsyncGenerator<unknown> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

/** Returns the columns that an insert gives. `written` is the time at which this replica gets a share. */
async function columnsOf(client: ClickHouseClient, table: string): Promise<Column[]> {
  return runQuery<Column>(client, {
    sql: `SELECT name, type FROM system.columns
      WHERE database = currentDatabase() AND table = {table:String} AND default_kind NOT IN ('MATERIALIZED', 'ALIAS')
        AND (table, name) != ('attributed_shares', 'written')
      ORDER BY position`,
    params: { table },
    seconds: 30,
  });
}

function structure(columns: readonly Column[]): string {
  return columns
    .map(({ name, type }) => `${name} ${type}`.replaceAll('\\', '\\\\').replaceAll("'", "\\'"))
    .join(', ');
}

async function assertNoneRuns(client: ClickHouseClient): Promise<void> {
  const [row] = await runQuery<{ running: string }>(client, {
    sql: `SELECT count() AS running FROM system.processes
      WHERE current_database = currentDatabase()
        AND arrayExists(start -> startsWith(Settings['insert_deduplication_token'], start), {starts:Array(String)})`,
    params: { starts: Object.values(REPAIRED_TOKENS) },
    seconds: 30,
  });
  if (row?.running !== '0') throw new Error('an earlier insert of clicks still runs in the replica');
}
