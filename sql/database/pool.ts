import pg from 'pg';

/** A pool, a client of it, or a transaction: whatever runs a query. */
export type Queryable = Pick<pg.ClientBase, 'query'>;
export type Pool = pg.Pool;
export type PoolClient = pg.PoolClient;

// bigint and numeric leave as text by default; counts and microseconds fit a double's 53 bits, sequences and
// offsets (numeric) do not and stay text for the query module to turn into bigint.
const INT8 = 20;
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8 && format !== 'binary') return Number;
    return pg.types.getTypeParser(oid, format);
  }) as pg.CustomTypesConfig['getTypeParser'],
};

export type PoolOptions = {
  max?: number;
  statementTimeoutMs?: number;
  connectTimeoutMs?: number;
  /** Gives up on an answer, and on its connection, after so long: for a server that has vanished. Default: never. */
  responseTimeoutMs?: number;
  name?: string;
};

/** How long nothing may come before a connection asks whether the other side is there. Milliseconds. */
const KEEP_ALIVE_MS = 10_000;
/** What `pg` says, without a code, when `responseTimeoutMs` is over (8, `client.js`). */
const UNANSWERED = 'Query read timeout';

/**
 * A pool of connections to PostgreSQL. Connecting is bounded by `connectTimeoutMs` (default 5 s), a statement by
 * `statementTimeoutMs` (default 30 s). That one is the server's: of a host that has vanished without a word nothing is
 * heard any more, and only `responseTimeoutMs`, a little longer, ends the wait. An idle connection that breaks is dropped;
 * the next query opens another.
 *
 * @param url `postgres://…`
 */
export function createPool(url: string, options: PoolOptions = {}): Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    statement_timeout: options.statementTimeoutMs ?? 30_000,
    ...(options.responseTimeoutMs !== undefined && { query_timeout: options.responseTimeoutMs }),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: options.name ?? 'hoplog',
    allowExitOnIdle: true,
    types,
  });
  // Without listeners the error of a connection that is idle, in the pool or inside a transaction, would end the
  // process when PostgreSQL restarts. The next query on it fails and tells its caller.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/**
 * Runs `work` in one transaction: committed when it resolves, rolled back when it throws.
 *
 * @throws whatever `work` throws, or the error of the commit
 */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    // Who did not answer in time would not answer this either. The server rolls back when the connection is closed.
    if (error instanceof Error && error.message === UNANSWERED) broken = error;
    else {
      await client.query('ROLLBACK').catch((rollbackError: Error) => {
        broken = rollbackError; // the connection is of no use any more
      });
    }
    throw error;
  } finally {
    client.release(broken);
  }
}
