import { Readable } from 'node:stream';
import { CLICK_NAMES, clickField } from '../../core/clicks/field-names.ts';
import type { ClickHouseClient } from '../client.ts';
import { clickIdSql } from './click-id.ts';
import { type ClickFilter, clickConditions } from './newest-clicks.ts';
import { PROGRESS_HEADERS, runQuery } from './run-query.ts';

/** ClickHouse's name of each export format. */
const FORMATS = { csv: 'CSVWithNames', ndjson: 'JSONEachRow', parquet: 'Parquet' } as const;

export type ExportFormat = keyof typeof FORMATS;
export const EXPORT_FORMATS = Object.keys(FORMATS) as ExportFormat[];

/** ClickHouse writes these as numbers or bytes by default. */
const AS_TEXT = CLICK_NAMES.filter((name) => clickField(name).type === 'uuid' || name === 'trigger');

/**
 * Puts an apostrophe before text that a spreadsheet would run as a formula (OWASP, "CSV injection"): anyone may send
 * `=HYPERLINK(...)` as a referer.
 */
const textCell = (column: string) =>
  `if(match(${column}, '^[=+@\\t\\r-]'), concat('\\'', ${column}), ${column}) AS ${column}`;

/** Longest time of an export, in seconds. ClickHouse keeps the files that it reads until it ends. */
const SECONDS = 3_600;

/**
 * Streams the clicks of a filter as ClickHouse writes them, newest first, with the columns of a Click in the API. A
 * reader that pauses pauses the query. In Parquet `ts` is a timestamp of microseconds in UTC, `imported` and `is_bot`
 * are booleans, `asn` and `count` INT64, everything else text; `link_id` is null for a visit that led to no link, an
 * empty cell in CSV. In CSV, text is safe to open in a spreadsheet.
 *
 * Destroying the stream ends the query. An error in mid-stream is the stream's error.
 */
export async function exportClicks(
  client: ClickHouseClient,
  filter: ClickFilter,
  format: ExportFormat,
  signal: AbortSignal,
): Promise<Readable> {
  const windows = format === 'parquet' ? [filter] : await byMonth(client, filter);
  const [first = filter, ...rest] = windows;
  const newest = await exportWindow(client, first, format, FORMATS[format], signal);
  if (rest.length === 0) return newest;
  const all = async function* () {
    yield* newest;
    const further = format === 'csv' ? 'CSV' : FORMATS[format];
    for (const window of rest) yield* await exportWindow(client, window, format, further, signal);
  };
  return Readable.from(all(), { objectMode: false });
}

/**
 * Cuts the window of a filter at each month that has clicks, newest first. Months are the partitions of the table. A
 * query over all of them holds a block of each part at once: 400 MB for a year of five million clicks.
 */
async function byMonth(client: ClickHouseClient, filter: ClickFilter): Promise<ClickFilter[]> {
  const { conditions, params } = clickConditions(filter);
  const months = await runQuery<{ start: string }>(client, {
    sql: `SELECT DISTINCT toString(toUnixTimestamp(toDateTime(toStartOfMonth(ts), 'UTC'))) AS start
      FROM clicks WHERE ${conditions} ORDER BY toUInt64(start) DESC`,
    params,
    seconds: SECONDS,
  });
  const starts = months.map(({ start }) => BigInt(start) * 1_000_000_000n);
  // Each window begins where a newer one ends, so that a click that arrives meanwhile is in one of them.
  return starts.map((start, index) => ({
    ...filter,
    since: index === starts.length - 1 ? filter.since : start,
    before: index === 0 ? filter.before : (starts[index - 1] ?? null),
  }));
}

async function exportWindow(
  client: ClickHouseClient,
  filter: ClickFilter,
  format: ExportFormat,
  written: string,
  signal: AbortSignal,
): Promise<Readable> {
  const { conditions, params } = clickConditions(filter);
  const columns = CLICK_NAMES.map((column) => {
    if (format === 'csv' && clickField(column).isForeign) return textCell(column);
    // Older versions of Spark and Athena refuse unsigned integers.
    if (format === 'parquet' && clickField(column).type === 'number')
      return `toInt64(${column}) AS ${column}`;
    if (column === 'link_id') return `if(is_orphan, NULL, toString(link_id)) AS link_id`;
    return AS_TEXT.includes(column) ? `toString(${column}) AS ${column}` : column;
  });
  const { stream } = await client.exec({
    query: `
      SELECT toString(${clickIdSql('ts')}) AS id, toDateTime64(ts, 6, 'UTC') AS ts,
        ${columns.join(', ')}
      FROM clicks WHERE ${conditions} ORDER BY ts DESC FORMAT ${written}`,
    query_params: params,
    abort_signal: signal,
    clickhouse_settings: {
      max_execution_time: SECONDS,
      ...PROGRESS_HEADERS,
      // `ts` is the column of the table everywhere, not the shortened one of the result.
      prefer_column_name_to_alias: 1,
      cancel_http_readonly_queries_on_client_close: 1,
      date_time_output_format: 'iso',
      output_format_parquet_string_as_string: 1,
      output_format_json_escape_forward_slashes: 0,
      format_csv_null_representation: '',
    },
  });
  return stream;
}
