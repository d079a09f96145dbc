import type { Readable } from 'node:stream';
import type { ClickHouseClient } from '../client.ts';
import { PROGRESS_HEADERS, runQuery } from '../queries/run-query.ts';
import type { StoredColumn } from '../stored-columns.ts';
import type { ArchivedEvents } from './archived-tables.ts';

/** Rows of a file. One file is in memory at once; a click with the longest texts takes about 3 kB. */
const FILE_ROWS = 50_000;
/** Longest time of a query, in seconds. */
const SECONDS = 3_600;

/** The limits of a workspace's events in the archive. */
export type EventLimits = {
  workspaceId: string;
  /** Microseconds: only older events. */
  before: number;
  /** The newest version of an order, and the number of the newest lead, that the archive has. */
  version: number;
  lead: number;
};

/** A part of the rows that becomes one file: those with `after < ts <= to`, in nanoseconds. */
type Slice = { after: bigint; to: bigint; rows: number };

/** SQL: the rows of a workspace that are in the archive. */
function conditions({ name, rows = '' }: ArchivedEvents): string {
  const known =
    name === 'attributed_shares'
      ? `AND if(match(order_id, '^lead:[0-9]+$') AND share = 0, toUInt64OrZero(substring(order_id, 6)) <= {lead:UInt64},
          version <= {version:UInt64})`
      : '';
  const older = name === 'clicks' || name === 'identifies' ? IS_OLDER : '';
  return `workspace_id = {workspace:UUID} ${rows} ${known} ${older}`;
}

const IS_OLDER = "AND ts < fromUnixTimestamp64Micro({before:Int64}, 'UTC')";

function parameters({ workspaceId, before, version, lead }: EventLimits): Record<string, unknown> {
  return { workspace: workspaceId, before, version, lead };
}

async function nextSlice(
  client: ClickHouseClient,
  table: ArchivedEvents,
  limits: EventLimits,
  after: bigint,
): Promise<Slice | null> {
  const from = `FROM ${table.name} ${table.final ? 'FINAL' : ''} WHERE ${conditions(table)}
    AND ts > fromUnixTimestamp64Nano({after:Int64}, 'UTC')`;
  const params = { ...parameters(limits), after: String(after) };
  const [first] = await runQuery<{ month: string }>(client, {
    sql: `SELECT toString(toUnixTimestamp(toDateTime(addMonths(toStartOfMonth(ts), 1), 'UTC'))) AS month
      ${from} ORDER BY ts LIMIT 1`,
    params,
    seconds: SECONDS,
  });
  if (first === undefined) return null;
  // A file covers one month, which ClickHouse stores in one partition. Rows with the same last time are in one file.
  const [last] = await runQuery<{ to: string }>(client, {
    sql: `SELECT toString(toUnixTimestamp64Nano(max(ts))) AS to FROM (
        SELECT ts ${from} AND ts < fromUnixTimestamp64Nano({end:Int64}, 'UTC') ORDER BY ts LIMIT ${FILE_ROWS})`,
    params: { ...params, end: String(BigInt(first.month) * 1_000_000_000n) },
    seconds: SECONDS,
  });
  const to = BigInt(last?.to ?? after);
  const [counted] = await runQuery<{ rows: string }>(client, {
    sql: `SELECT count() AS rows ${from} AND ts <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')`,
    params: { ...params, to: String(to) },
    seconds: SECONDS,
  });
  return { after, to, rows: Number(counted?.rows ?? 0) };
}

/** A file of events. `span`: `after < ts <= to`, nanoseconds as text; null: without times. */
export type EventFile = { rows: number; content: Buffer; span: { after: string; to: string } | null };

/** Before every time that ClickHouse can hold. */
const FIRST = -(2n ** 62n);

/**
 * Yields the rows of a table as Parquet, one file after the other, sorted by the table's key.
 *
 * @param columns of `storedColumns`
 */
export async function* readEvents(
  client: ClickHouseClient,
  table: ArchivedEvents,
  columns: readonly StoredColumn[],
  limits: EventLimits,
): AsyncGenerator<EventFile> {
  if (!table.hasTimes) {
    const [counted] = await runQuery<{ rows: string }>(client, {
      sql: `SELECT count() AS rows FROM ${table.name} FINAL WHERE ${conditions(table)}`,
      params: parameters(limits),
      seconds: SECONDS,
    });
    const rows = Number(counted?.rows ?? 0);
    if (rows > 0) yield { rows, content: await parquet(client, table, columns, limits, null), span: null };
    return;
  }
  for (let after = FIRST; ; ) {
    const slice = await nextSlice(client, table, limits, after);
    if (slice === null) return;
    yield {
      rows: slice.rows,
      content: await parquet(client, table, columns, limits, slice),
      span: { after: String(slice.after), to: String(slice.to) },
    };
    after = slice.to;
  }
}

async function parquet(
  client: ClickHouseClient,
  table: ArchivedEvents,
  columns: readonly StoredColumn[],
  limits: EventLimits,
  slice: Slice | null,
): Promise<Buffer> {
  const values = columns.map(({ name }) => {
    const written = table.written?.[name];
    return written === undefined ? `t.${name} AS ${name}` : `${written} AS ${name}`;
  });
  const between =
    slice === null
      ? ''
      : `AND ts > fromUnixTimestamp64Nano({after:Int64}, 'UTC') AND ts <= fromUnixTimestamp64Nano({to:Int64}, 'UTC')`;
  const { stream } = await client.exec({
    query: `SELECT ${values.join(', ')} FROM ${table.name} AS t ${table.final ? 'FINAL' : ''}
      WHERE ${conditions(table)} ${between} ORDER BY ${table.key} FORMAT Parquet`,
    query_params: {
      ...parameters(limits),
      ...(slice && { after: String(slice.after), to: String(slice.to) }),
    },
    clickhouse_settings: {
      max_execution_time: SECONDS,
      ...PROGRESS_HEADERS,
      wait_end_of_query: 1,
      prefer_column_name_to_alias: 1,
      // Equal rows are equal bytes: one row group, written by one thread.
      max_threads: 1,
      output_format_parquet_parallel_encoding: 0,
      output_format_parquet_row_group_size: '1000000',
      output_format_parquet_row_group_size_bytes: '1000000000',
      output_format_parquet_compression_method: 'zstd',
    },
  });
  return bufferOf(stream);
}

async function bufferOf(stream: Readable): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
}
