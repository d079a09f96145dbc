import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';

export type { ClickHouseClient };

export type ClickHouseOptions = {
  /** `http://user:password@host:port` */
  url: string;
  database: string;
  /** Longest time a request may take, milliseconds. */
  timeoutMs?: number;
  maxConnections?: number;
};

/** The client of the analytical store. Inserts are synchronous: an insert that resolved is stored. */
export function createClickHouse(options: ClickHouseOptions): ClickHouseClient {
  return createClient({
    url: options.url,
    database: options.database,
    request_timeout: options.timeoutMs ?? 30_000,
    max_open_connections: options.maxConnections ?? 16,
    // It would write its own format to the console; every error is thrown to whoever asked.
    log: { level: ClickHouseLogLevel.OFF },
    compression: { response: false, request: false },
    // Hundreds of ids would make a URL that proxies refuse.
    use_multipart_params_auto: true,
    clickhouse_settings: {
      async_insert: 0,
      date_time_input_format: 'best_effort',
      output_format_json_quote_64bit_integers: 1,
    },
  });
}
