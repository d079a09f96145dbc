import { CLICKHOUSE_FAULTS } from './clickhouse-faults.ts';
import { DatabaseConnectionError } from './connection-error.ts';

export type DatabaseName = 'PostgreSQL' | 'ClickHouse';

/** Faults that only a setting, a grant, or a migration fixes. */
export type ConfigurationKind =
  /** The user or the password is refused. */
  | 'credentials'
  /** The user lacks a right. */
  | 'rights'
  /** The database, or a table in it, does not exist. */
  | 'missing'
  /** The certificate is not trusted, or one side speaks no TLS. */
  | 'tls'
  /** Something else responds at the address. */
  | 'address';

/**
 * `unavailable`: down, restarting, overloaded, or read-only; the same request may succeed later. `too_large`: the
 * request needs more than the database may take. `value`: the database can't store a value of the request.
 */
export type FaultKind = 'unavailable' | 'too_large' | 'value' | ConfigurationKind;

export type DatabaseFault = {
  kind: FaultKind;
  /** Null when the code does not tell, as for a lost connection. */
  database: DatabaseName | null;
  /** SQLSTATE, ClickHouse's number, or the code of Node.js; empty: none. */
  code: string;
};

/**
 * SQLSTATEs, or their classes. Source: PostgreSQL, appendix "PostgreSQL Error Codes". PgBouncer sends them too: 08P01
 * for what it does not support, 26000 and 42P05 for a prepared statement of another backend.
 */
const POSTGRES_FAULTS: readonly (readonly [pattern: RegExp, kind: FaultKind])[] = [
  [/^22...$/, 'value'],
  [/^54001$/, 'value'],
  // Connection lost, protocol violation.
  [/^08...$/, 'unavailable'],
  // Read-only: a standby, or a primary that has become one.
  [/^25006$/, 'unavailable'],
  [/^25P0[34]$/, 'unavailable'],
  [/^26000$/, 'unavailable'],
  [/^40(000|001|003|P01)$/, 'unavailable'],
  [/^42P05$/, 'unavailable'],
  // Out of memory, disk, or connections.
  [/^53...$/, 'unavailable'],
  [/^55(000|006|P03)$/, 'unavailable'],
  // Cancelled, shut down, starting up, database dropped.
  [/^57...$/, 'unavailable'],
  // Errors of the operating system.
  [/^58(000|030|P01)$/, 'unavailable'],
  [/^XX000$/, 'unavailable'],
  [/^28(000|P01)$/, 'credentials'],
  [/^42501$/, 'rights'],
  [/^(3D000|3F000|42P01)$/, 'missing'],
];

/** Codes of Node.js for a server that can't be reached now. */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTDOWN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EMFILE',
  'ENFILE',
  'ENOENT', // a unix socket that does not exist
  'HPE_INVALID_CONSTANT', // a response that is not HTTP, such as half of one
  'HPE_INVALID_EOF_STATE',
]);

/** Codes of Node.js and OpenSSL for a certificate that is not trusted, beside `ERR_SSL_*`. */
const UNTRUSTED = new Set([
  'CERT_CHAIN_TOO_LONG',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REJECTED',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'ERR_TLS_HANDSHAKE_TIMEOUT',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'EPROTO',
]);

/**
 * Messages without a code. Source: pg 8 (`client.js`, `connection.js`, `crypto/sasl.js`), pg-pool 3 (`index.js`),
 * @clickhouse/client 1 (`node_base_connection`), Node.js (`_http_client.js`).
 */
const WORDS: readonly (readonly [pattern: RegExp, kind: FaultKind])[] = [
  [
    /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end|Query read timeout|Timeout error|socket hang up|aborted$)/,
    'unavailable',
  ],
  [
    /^There was an error establishing an SSL connection$|^The server does not support SSL connections$/,
    'tls',
  ],
  [/^SASL: /, 'credentials'],
];

/** PgBouncer's messages, with 08P01, when PostgreSQL refuses the login of a client or of PgBouncer itself. */
const POOLER_REFUSES = /auth(entication)? failed/i;

const SQLSTATE = /^[0-9A-Z]{5}$/;
const CLICKHOUSE_CODE = /^\d{1,4}$/;

/** Whether a code of Node.js says that a certificate is not trusted, or that a side speaks no TLS. */
export function isTlsCode(code: string): boolean {
  return UNTRUSTED.has(code) || code.startsWith('ERR_SSL_');
}

/**
 * Returns what an error of PostgreSQL, of ClickHouse, or of the connection to one means; null for any other error,
 * which is a bug of ours. All tiers and the command line decide it here.
 */
export function databaseFault(error: unknown): DatabaseFault | null {
  if (!(error instanceof Error)) return null;
  if (error instanceof DatabaseConnectionError) {
    const { kind, database, code } = error;
    return { kind, database, code };
  }
  if (error instanceof AggregateError && error.errors.length > 0) return databaseFault(error.errors[0]);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (CLICKHOUSE_CODE.test(code)) {
    const [, kind] = CLICKHOUSE_FAULTS[code] ?? [];
    return kind === undefined ? null : { kind, database: 'ClickHouse', code };
  }
  if (UNREACHABLE.has(code)) return { kind: 'unavailable', database: null, code };
  if (isTlsCode(code)) return { kind: 'tls', database: null, code };
  if (code === '08P01' && POOLER_REFUSES.test(error.message)) {
    return { kind: 'credentials', database: 'PostgreSQL', code };
  }
  if (SQLSTATE.test(code)) {
    const [, kind] = POSTGRES_FAULTS.find(([pattern]) => pattern.test(code)) ?? [];
    return kind === undefined ? null : { kind, database: 'PostgreSQL', code };
  }
  const [, kind] = WORDS.find(([pattern]) => pattern.test(error.message)) ?? [];
  return kind === undefined ? null : { kind, database: kind === 'credentials' ? 'PostgreSQL' : null, code };
}

/** Whether only an operator can fix it. */
export function isConfigurationKind(kind: FaultKind): kind is ConfigurationKind {
  return kind !== 'unavailable' && kind !== 'too_large' && kind !== 'value';
}
