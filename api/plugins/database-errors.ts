import { ClickHouseError } from '@clickhouse/client';
import { AppError } from '../../core/errors.ts';

/** SQLSTATEs of a temporary failure: connection lost, shutdown, out of resources, timeout, conflict. */
const POSTGRES_DOWN = /^(08...|53...|57P0[1-5]|57014|25P0[34]|40001|40P01|55P03|XX000)$/;
/**
 * SQLSTATEs of values that PostgreSQL can't store. They passed the schema and are still the client's error.
 */
const POSTGRES_REFUSED = /^(22...|54001)$/;
const SOCKET_DOWN = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT', // a unix socket that does not exist
]);
/**
 * Messages of `pg` and the ClickHouse client, without a code, when a connection ends or a wait times out. Source:
 * pg 8 (`client.js`, pg-pool `index.js`), @clickhouse/client 1 (`node_base_connection`).
 */
const WORDS_DOWN =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|Query read timeout|Timeout error|socket hang up)/;
const TIME_LIMIT = '159';
const MEMORY_LIMIT = '241';
/** Errors that the same request gets again, by code, with what to do. */
const TOO_LARGE: Readonly<Record<string, string>> = {
  [TIME_LIMIT]: 'the request needs more time than ClickHouse may take; try again, or choose a shorter window',
  [MEMORY_LIMIT]: 'ClickHouse has too little memory for this request; try again, or choose a shorter window',
};
/** ClickHouse error codes: timeout, too many queries, memory limit, network, table read-only, keeper. */
const CLICKHOUSE_BUSY = new Set([TIME_LIMIT, '202', MEMORY_LIMIT, '209', '210', '242', '999', '236', '394']);

/**
 * Converts a database error to the API's error: 503 when the database is down, restarting or overloaded, 400 when
 * it refused a value. Returns null for any other error, which is a bug of ours.
 */
export function databaseError(error: unknown): AppError | null {
  if (!(error instanceof Error)) return null;
  if (error instanceof AggregateError && error.errors.length > 0) return databaseError(error.errors[0]);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (POSTGRES_REFUSED.test(code)) {
    return new AppError('bad_request', 'a value in the request can not be stored', undefined, {
      cause: error,
    });
  }
  const down =
    SOCKET_DOWN.has(code) ||
    POSTGRES_DOWN.test(code) ||
    WORDS_DOWN.test(error.message) ||
    (error instanceof ClickHouseError && CLICKHOUSE_BUSY.has(code));
  if (!down) return null;
  const tooLarge = error instanceof ClickHouseError ? TOO_LARGE[code] : undefined;
  const message = tooLarge ?? 'the database is temporarily unavailable; try again';
  return new AppError('unavailable', message, undefined, { cause: error });
}
