import { Readable } from 'node:stream';
import type { ClickHouseClient } from '../client.ts';
import { PROGRESS_HEADERS } from '../queries/run-query.ts';
import { storedColumns, structureOf } from '../stored-columns.ts';
import type { ComparedTable, Condition } from './compared-tables.ts';

/** Longest time of one statement, in seconds. */
const SECONDS = 600;

/**
 * Copies rows of a table that a replica lacks from another one. May be repeated: clicks that are there are left out,
 * and the other tables keep one row of each key. Nothing else may insert such rows meanwhile.
 */
export async function copyRows(
  from: ClickHouseClient,
  to: ClickHouseClient,
  table: ComparedTable,
  of: Condition,
): Promise<void> {
  const columns = await storedColumns(to, table);
  const names = columns.map(({ name }) => name).join(', ');
  const settings = { wait_end_of_query: 1 as const, max_execution_time: SECONDS, ...PROGRESS_HEADERS };
  const read = await from.exec({
    query: `SELECT ${names} FROM ${table.name} ${table.final ? 'FINAL' : ''} WHERE ${of.sql} FORMAT Native`,
    query_params: of.params,
    use_multipart_params: true,
    // An error has to be a status, not the end of a stream that looks whole.
    clickhouse_settings: settings,
  });
  const pieces = read.stream[Symbol.asyncIterator]();
  const first = await pieces.next();
  if (first.done) return;
  const key = table.key.join(', ');
  const lacking = table.final
    ? ''
    : `SELECT ${names} FROM input('${structureOf(columns)}')
       WHERE (${key}) NOT IN (SELECT ${key} FROM ${table.name} WHERE ${of.sql})`;
  const inserted = await to.exec({
    query: `INSERT INTO ${table.name} (${names}) ${lacking} FORMAT Native`,
    ...(lacking !== '' && { query_params: of.params }),
    values: Readable.from(all(first.value, pieces), { objectMode: false }),
    // A block of rows that were removed since has the token of the one before.
    clickhouse_settings: { ...settings, async_insert: 0, insert_deduplicate: 0 },
  });
  for await (const _ of inserted.stream);
}

async function* all(first: unknown, rest: AsyncIterator<unknown>): AsyncGenerator<unknown> {
  yield first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}
