import pg from 'pg';
import { type Address, credentialsOf } from '../../core/settings/credentials.ts';
import { clientWith, connecting } from './connecting.ts';
import { createHosts } from './hosts.ts';
import { asTransaction } from './nested-connections.ts';
import { beginOn, prepareConnection, type ServiceClient } from './pooler.ts';

/** A pool, a client or a transaction: anything that runs queries. */
export type Queryable = Pick<pg.ClientBase, 'query'>;
export type Pool = pg.Pool;
export type PoolClient = pg.PoolClient;

// pg returns bigint and numeric as text. Counts and microseconds (bigint) fit the 53 bits of a double. Sequences and
// offsets (numeric) do not, and stay text for query modules to turn into bigint.
const INT8 = 20;
/** How a connection returns the values of columns. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8 && format !== 'binary') return Number;
    return pg.types.getTypeParser(oid, format);
  }) as pg.CustomTypesConfig['getTypeParser'],
};

export type PoolOptions = {
  max?: number;
  statementTimeoutMs?: number;
  connectTimeoutMs?: number;
  /** Ends the wait for a response, and its connection, after this: for a server that vanished. Default: never. */
  responseTimeoutMs?: number;
  name?: string;
};

/** Silence on a connection before TCP keep-alive probes it. Milliseconds. */
const KEEP_ALIVE_MS = 10_000;
/**
 * Time without use after which a connection is closed. Milliseconds. A new connection costs both sides some
 * milliseconds of CPU, so loops with occasional bursts must not open and close connections all the time.
 */
const IDLE_MS = 60_000;
/** Message, without a code, of pg's timeout for `responseTimeoutMs` (pg 8, `client.js`). */
const RESPONSE_TIMEOUT = 'Query read timeout';
/**
 * SQLSTATEs after which a connection is discarded: its server has become a standby, or a pooler gave it another backend
 * without its prepared statements.
 */
const LEFT = new Set(['25006', '26000', '42P05']);

/**
 * Creates a pool of connections to PostgreSQL, or to a pooler in front of it. `connectTimeoutMs` (default 5 s) bounds
 * connecting, `statementTimeoutMs` (default 30 s) a statement.
 * The server enforces the statement timeout: when its host vanishes, only `responseTimeoutMs`, a little longer, ends
 * the wait. A broken idle connection is dropped; the next query opens another. Behind a pooler, transactions have the
 * statement timeout, and single statements have that of the role; see `migrate`.
 *
 * With several hosts in the address a connection is one to the primary, wherever that is now.
 *
 * @param address `postgres://…`, or credentials that are read again when PostgreSQL refuses them
 */
export function createPool(address: Address, options: PoolOptions = {}): Pool {
  const credentials = credentialsOf(address);
  const hosts = createHosts(credentials);
  const connectTimeoutMs = options.connectTimeoutMs ?? 5_000;
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000;
  const pool = new pg.Pool({
    Client: clientWith(hosts),
    max: options.max ?? 10,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: IDLE_MS,
    onConnect: (client) =>
      prepareConnection(client as ServiceClient, {
        statementTimeoutMs,
        waitMs: connectTimeoutMs,
        needsPrimary: hosts.needsPrimary(),
      }),
    ...(options.responseTimeoutMs !== undefined && { query_timeout: options.responseTimeoutMs }),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: options.name ?? 'hoplog',
    allowExitOnIdle: true,
    types,
  });
  // Without listeners, the error of an idle connection would end the process when PostgreSQL restarts. The next query
  // on it fails and tells its caller.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  pool.connect = connecting(pool.connect.bind(pool), credentials, hosts);
  return pool;
}

/**
 * Runs `work` in one transaction: commits when it resolves, rolls back when it throws.
 *
 * @throws what `work` throws, or the error of the commit
 */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(beginOn(client));
    const result = await asTransaction(() => work(client));
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // A server that did not respond would not respond to ROLLBACK either. Closing the connection rolls back.
    if (error instanceof Error && error.message === RESPONSE_TIMEOUT) broken = error;
    else {
      if (error instanceof pg.DatabaseError && LEFT.has(error.code ?? '')) broken = error;
      await client.query('ROLLBACK').catch((rollbackError: Error) => {
        broken = rollbackError; // the connection is unusable
      });
    }
    throw error;
  } finally {
    client.release(broken);
  }
}
