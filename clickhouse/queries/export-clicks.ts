import type { Readable } from 'node:stream';
import type { ClickHouseClient } from '../client.ts';
import { clickIdSql } from './click-id.ts';
import { type ClickFilter, clickConditions } from './newest-clicks.ts';
import { PROGRESS_HEADERS } from './run-query.ts';

/** The store's own name of each format that clicks are exported in. */
const FORMATS = { csv: 'CSVWithNames', ndjson: 'JSONEachRow', parquet: 'Parquet' } as const;

export type ExportFormat = keyof typeof FORMATS;
export const EXPORT_FORMATS = Object.keys(FORMATS) as ExportFormat[];

/** Columns whose texts others have written: the visitor's browser, what the parser takes over from it, the city list. */
type OthersText = 'city' | 'browser' | 'os' | 'referer';

/**
 * A text that a spreadsheet would run as a formula gets an apostrophe in front, as OWASP advises ("CSV injection"):
 * anyone may send `=HYPERLINK(...)` as a referer.
 */
const textCell = (column: OthersText) =>
  `if(match(${column}, '^[=+@\\t\\r-]'), concat('\\'', ${column}), ${column}) AS ${column}`;

/** Longest time that an export may take, in seconds. The table's files that it reads are kept that long. */
const SECONDS = 3_600;

/**
 * Clicks of a filter, newest first, in the bytes of the format as the store makes them: columns and order are those
 * of a Click in the API. Nothing is gathered here; a reader that pauses pauses the store. In Parquet `ts` is a
 * timestamp of microseconds in UTC and `is_bot` a boolean, everything else text. Texts are as they were sent, but in
 * CSV, which spreadsheets open.
 *
 * Destroying the stream ends the query. An error of the store in mid-stream arrives as the stream's error.
 */
export async function exportClicks(
  client: ClickHouseClient,
  filter: ClickFilter,
  format: ExportFormat,
  signal: AbortSignal,
): Promise<Readable> {
  const { conditions, params } = clickConditions(filter);
  const text = (column: OthersText) => (format === 'csv' ? textCell(column) : column);
  const { stream } = await client.exec({
    query: `
      SELECT toString(${clickIdSql('ts')}) AS id, toDateTime64(ts, 6, 'UTC') AS ts, toString(link_id) AS link_id,
        toString(visitor_id) AS visitor_id, channel, country, ${text('city')}, device,
        ${text('browser')}, ${text('os')}, ${text('referer')}, is_bot
      FROM clicks WHERE ${conditions} ORDER BY ts DESC FORMAT ${FORMATS[format]}`,
    query_params: params,
    abort_signal: signal,
    clickhouse_settings: {
      max_execution_time: SECONDS,
      ...PROGRESS_HEADERS,
      // `ts` is the table's column everywhere, not the shortened one of the answer.
      prefer_column_name_to_alias: 1,
      cancel_http_readonly_queries_on_client_close: 1,
      date_time_output_format: 'iso',
      output_format_parquet_string_as_string: 1,
      output_format_json_escape_forward_slashes: 0,
    },
  });
  return stream;
}
