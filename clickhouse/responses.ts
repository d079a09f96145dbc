import type { IncomingHttpHeaders } from 'node:http';
import { ClickHouseError, parseError } from '@clickhouse/client';
import { DatabaseConnectionError } from '../core/databases/connection-error.ts';
import { databaseFault, type FaultKind } from '../core/databases/faults.ts';

/** Longest quote of a response that is not from ClickHouse. Characters. */
const QUOTED = 200;
/** Every response of ClickHouse to a query has it; a proxy's own response does not. */
const FROM_CLICKHOUSE = 'x-clickhouse-query-id';
/** Statuses of a proxy whose server is away or overloaded. */
const PROXY_WAITS = new Set([408, 425, 429, 500, 502, 503, 504]);
const PROXY_REFUSES = new Set([401, 403, 407]);

/**
 * Returns the error of a response that is not a result: ClickHouse's own error, or that of a proxy in front of it.
 *
 * @param status null: not known
 */
export function errorOfResponse(status: number | null, body: string): Error {
  const error = parseError(body);
  if (error instanceof ClickHouseError) return error;
  const what = body.trim() === '' ? 'an empty response' : `a response that is not from ClickHouse`;
  const quoted = body.trim() === '' ? '' : `: ${body.trim().slice(0, QUOTED)}`;
  const withStatus = status === null ? '' : ` with status ${status}`;
  return new DatabaseConnectionError(
    'ClickHouse',
    kindOfStatus(status),
    `got ${what}${withStatus} from the address of ClickHouse${quoted}`,
    { code: status === null ? '' : `HTTP ${status}` },
  );
}

function kindOfStatus(status: number | null): FaultKind {
  if (status === null || PROXY_WAITS.has(status)) return 'unavailable';
  return PROXY_REFUSES.has(status) ? 'credentials' : 'address';
}

/**
 * Checks that a successful response is ClickHouse's. A proxy's empty one would pass for an insert that is stored, or
 * for a result without rows.
 *
 * @throws {DatabaseConnectionError} when it is not
 */
export function assertFromClickHouse(headers: IncomingHttpHeaders, status: number): void {
  if (headers[FROM_CLICKHOUSE] !== undefined) return;
  throw errorOfResponse(status, '');
}

/**
 * Returns an error of ClickHouse's client in a form that the table of faults knows. The client's own error of a failed
 * connection, or of a response that is not ClickHouse's, does not name the server.
 */
export function explained(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const fault = databaseFault(error);
  if (fault?.kind === 'tls') {
    const message = `no trusted TLS connection to ClickHouse: ${error.message}`;
    return new DatabaseConnectionError('ClickHouse', 'tls', message, { cause: error, code: fault.code });
  }
  // The client makes a plain error of a body that it can't parse.
  const isBody = fault === null && error.constructor === Error && !('code' in error);
  if (!isBody || ABORTED.test(error.message)) return error;
  return errorOfResponse(null, error.message);
}

/** Message of the client for a request that its caller has ended. */
const ABORTED = /aborted a request/;
