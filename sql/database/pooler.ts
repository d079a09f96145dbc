import pg from 'pg';
import { DatabaseConnectionError } from '../../core/databases/connection-error.ts';

/**
 * A connection to PostgreSQL, or to a pooler such as PgBouncer. A pooler in transaction mode may run each transaction
 * on another backend. The state of a session (settings, named statements, locks, notifications) is then lost, or
 * another client gets it.
 */
export class ServiceClient extends pg.Client {
  /** Whether a pooler is in between. */
  isPooled = false;
  /** Limit of a statement. Milliseconds; 0: none. */
  statementTimeoutMs = 0;

  // Typed as none of pg's forms, since it takes all of them, with and without a callback.
  override query(query: unknown, values?: unknown, callback?: unknown): never {
    const run: (query: unknown, values: unknown, callback: unknown) => never = super.query as never;
    return run.call(this, this.isPooled ? withoutName(query) : query, values, callback);
  }
}

/** Removes the name: clients that share a backend could give one name to two statements, or find none of that name. */
function withoutName(query: unknown): unknown {
  if (typeof query !== 'object' || query === null || !('name' in query)) return query;
  return { ...query, name: undefined };
}

/**
 * Prepares a new connection: finds out whether a pooler is in between, and limits its statements.
 *
 * PostgreSQL sends a client the process id of its backend. A pooler sends another id, since the backend changes. Behind
 * a pooler, the next client would get the limit of this session, so transactions set it and the role has one
 * (`service-role.ts`). It can't be in the startup packet, because PgBouncer refuses it there.
 *
 * @param waitMs limit of the wait for the response
 * @param needsPrimary refuses a server that accepts no writes
 * @throws {DatabaseConnectionError} of the code 25006 at such a server
 */
export async function prepareConnection(
  client: ServiceClient,
  given: { statementTimeoutMs: number; waitMs: number; needsPrimary: boolean },
): Promise<void> {
  const { statementTimeoutMs, waitMs, needsPrimary } = given;
  const { rows } = await (client as pg.Client).query<{ is_pooled: boolean; is_read_only: boolean }>({
    text: `SELECT own.pid <> $1 AS is_pooled,
             current_setting('transaction_read_only')::boolean AS is_read_only,
             CASE WHEN own.pid = $1 THEN set_config('statement_timeout', $2, false) END
           FROM (SELECT pg_backend_pid() AS pid) AS own`,
    values: ['processID' in client ? client.processID : null, statementTimeoutMs],
    ...{ query_timeout: waitMs },
  });
  if (needsPrimary && rows[0]?.is_read_only !== false) {
    throw new DatabaseConnectionError('PostgreSQL', 'unavailable', `${client.host} accepts no writes`, {
      code: '25006',
    });
  }
  client.isPooled = rows[0]?.is_pooled !== false;
  client.statementTimeoutMs = statementTimeoutMs;
}

/** Returns the statements that begin a transaction with the connection's limit. */
export function beginOn(client: pg.ClientBase): string {
  const needsLimit = client instanceof ServiceClient && client.isPooled;
  return needsLimit ? `BEGIN; SET LOCAL statement_timeout = ${client.statementTimeoutMs}` : 'BEGIN';
}

/**
 * How a pool's address leads to PostgreSQL: itself, or a pooler that lends a backend for a session or a transaction.
 */
export type Pooling = 'none' | 'session' | 'transaction';

/** Attempts to detect that a session changes its backend. A busy pooler may return the same one first. */
const ATTEMPTS = 5;

/** Returns how the pool's address leads to PostgreSQL. Needs two connections where a pooler is in between. */
export async function poolingOf(pool: pg.Pool): Promise<Pooling> {
  const first = await pool.connect();
  try {
    if (!(first instanceof ServiceClient && first.isPooled)) return 'none';
    const second = await pool.connect();
    try {
      for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
        if (await sharesBackend(first, second)) return 'transaction';
      }
      return 'session';
    } finally {
      second.release();
    }
  } finally {
    first.release();
  }
}

/** Two sessions never share a backend, and a session never changes it. */
async function sharesBackend(first: pg.ClientBase, second: pg.ClientBase): Promise<boolean> {
  const before = await backendOf(first);
  await second.query('BEGIN');
  try {
    return (await backendOf(second)) === before || (await backendOf(first)) !== before;
  } finally {
    await second.query('ROLLBACK');
  }
}

async function backendOf(client: pg.ClientBase): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid;
}
