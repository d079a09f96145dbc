import { AppError } from '../../core/errors.ts';

/** SQLSTATE classes and codes that say "not now": connection lost, shutting down, out of resources, too slow. */
const POSTGRES_DOWN = /^(08...|53...|57P0[1-5]|57014|25P0[34]|40001|40P01|55P03|XX000)$/;
/** SQLSTATEs of values that PostgreSQL can't hold: input got past a schema, which is still the caller's error. */
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
  'ENOENT', // a unix socket that is gone
]);
/**
 * What `pg` and the ClickHouse client say, without a code, when a connection ends or a wait is over. The words
 * are theirs: pg 8 (`client.js`, pg-pool `index.js`), @clickhouse/client 1 (`node_base_connection`).
 */
const WORDS_DOWN =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|Query read timeout|Timeout error|socket hang up)/;
/** ClickHouse: timeout, too many queries, memory limit, network, table read-only, keeper. */
const CLICKHOUSE_BUSY = new Set(['159', '202', '241', '209', '210', '242', '999', '236', '394']);

/**
 * Turns an error of a store into the error that the API answers with: 503 when the store is down, restarting or
 * overloaded, 400 when it refused a value. Null for any other error: a bug of ours.
 */
export function storeError(error: unknown): AppError | null {
  if (!(error instanceof Error)) return null;
  if (error instanceof AggregateError && error.errors.length > 0) return storeError(error.errors[0]);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (POSTGRES_REFUSED.test(code)) {
    return new AppError('bad_request', "a value in the request can't be stored", undefined, { cause: error });
  }
  const down =
    SOCKET_DOWN.has(code) ||
    POSTGRES_DOWN.test(code) ||
    WORDS_DOWN.test(error.message) ||
    (error.name === 'ClickHouseError' && CLICKHOUSE_BUSY.has(code));
  if (!down) return null;
  return new AppError('unavailable', 'a store does not answer right now, try again', undefined, {
    cause: error,
  });
}
