import { Readable } from 'node:stream';
import type { ClickHouseClient } from '../client.ts';
import { type StoredColumn, structureOf } from '../stored-columns.ts';
import { ARCHIVED_EVENTS, type ArchivedEvents } from './archived-tables.ts';
import type { EventFile } from './read-events.ts';

const SECONDS = 3_600;

/**
 * Stores those rows of an archive's file that the table lacks: all of them or none. It can be repeated, also after the
 * process was killed.
 *
 * @param given.known columns of the table here
 * @param given.columns those of the archive
 * @param given.token names the file and its archive
 * @param given.leads what is added to the numbers of leads
 */
export async function writeEvents(
  client: ClickHouseClient,
  table: ArchivedEvents,
  given: {
    workspaceId: string;
    known: readonly StoredColumn[];
    columns: readonly string[];
    content: Buffer;
    token: string;
    span: EventFile['span'];
    leads: number;
    /** Ends the wait for ClickHouse, which may still store the file. */
    signal: AbortSignal;
  },
): Promise<void> {
  const columns = given.columns.map((name) => {
    const column = given.known.find((one) => one.name === name);
    if (column === undefined) throw new Error(`${table.name} has no column ${name}`);
    return column;
  });
  const names = columns.map(({ name }) => name).join(', ');
  const values = columns.map(({ name }) =>
    table.name === 'attributed_shares' && name === 'order_id' && given.leads !== 0
      ? `if(match(order_id, '^lead:[0-9]+$') AND share = 0,
          concat('lead:', toString(toInt64(substring(order_id, 6)) + ${BigInt(given.leads)})), order_id) AS order_id`
      : name,
  );
  const { span } = given;
  const between =
    span === null
      ? ''
      : `AND ts > fromUnixTimestamp64Nano({after:Int64}, 'UTC') AND ts <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')`;
  const { stream } = await client.exec({
    query: `INSERT INTO ${table.name} (${names})
      SELECT ${names} FROM (SELECT ${values.join(', ')} FROM input('${structureOf(columns)}')
        WHERE workspace_id = {workspace:UUID})
      WHERE (${table.key}) NOT IN (SELECT ${table.key} FROM ${table.name} WHERE workspace_id = {workspace:UUID} ${between})
      FORMAT Parquet`,
    query_params: { workspace: given.workspaceId, ...span },
    abort_signal: given.signal,
    values: Readable.from([given.content], { objectMode: false }),
    clickhouse_settings: {
      async_insert: 0,
      insert_deduplicate: 1,
      insert_deduplication_token: given.token,
      wait_end_of_query: 1,
      max_execution_time: SECONDS,
      max_threads: 1,
      max_insert_threads: '1',
      prefer_column_name_to_alias: 1,
    },
  });
  for await (const _ of stream);
}

/** Removes the events of a workspace that an import of another archive left behind. The workspace is not there. */
export async function removeEvents(client: ClickHouseClient, workspaceId: string): Promise<void> {
  for (const { name } of ARCHIVED_EVENTS) {
    await client.command({
      query: `DELETE FROM ${name} WHERE workspace_id = {workspace:UUID}`,
      query_params: { workspace: workspaceId },
      clickhouse_settings: { lightweight_deletes_sync: '2', max_execution_time: SECONDS },
    });
  }
}
