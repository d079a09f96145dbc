import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { ADVISORY_LOCKS } from './advisory-locks.ts';
import type { Pool, PoolClient, Queryable } from './pool.ts';
import { poolingOf } from './pooler.ts';
import { grantToService, limitStatements, type ServiceRole } from './service-role.ts';

const FOLDER = new URL('../migrations/', import.meta.url);

/** Secrets made once per deployment and never rotated: 32 random bytes each. */
const SECRETS = ['visitor_key', 'cookie_key', 'address_key', 'address_hash_key', 'seal_key'];

/**
 * Longest wait for a table, in milliseconds. Other queries queue behind a waiting migration, and a backup holds every
 * table until it ends. Longer than PostgreSQL's `deadlock_timeout` (1 s), after which autovacuum yields.
 */
const LOCK_MS = 2_000;
/** Pause before the next attempt, in milliseconds, in which queued queries run. */
const PAUSE_MS = 2_000;
const GIVE_UP_MS = 600_000;

export type MigrationOptions = {
  /** Role of the tiers; default: the owner's. */
  service?: ServiceRole | null;
  /** Directory URL of the migrations. */
  folder?: URL;
};

/**
 * Applies the numbered migrations that the database lacks, each in its own transaction, creates the deployment's
 * secrets, and grants the rights of the tiers' role. Holds the lock of {@link withMigrationLock} meanwhile.
 *
 * @param owner connects as the owner of the tables
 * @returns names of the migrations applied now, in order
 * @throws Error naming the migration that failed
 */
export function migrate(owner: Pool, options: MigrationOptions = {}): Promise<string[]> {
  return withMigrationLock(owner, (client) => applyPendingMigrations(client, options));
}

/**
 * Runs `work` under a lock that keeps other processes from changing this schema, or ClickHouse's. The lock belongs to a
 * session.
 *
 * @param pool of two connections: the second one is needed only behind a pooler
 * @throws Error behind a pooler in transaction mode
 */
export async function withMigrationLock<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  if ((await poolingOf(pool)) === 'transaction') {
    throw new Error(
      'migrations need a session of PostgreSQL, and this address is a pooler in transaction mode: set DATABASE_DIRECT_URL, or DATABASE_OWNER_URL where it is set, to the address of PostgreSQL itself',
    );
  }
  const client = await pool.connect();
  try {
    await client.query('SET statement_timeout = 0');
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.migrations]);
    return await work(client);
  } finally {
    client.release(true); // closing the connection releases the lock
  }
}

/** Oldest supported major version: statements use `RETURNING old`. */
const OLDEST_POSTGRES = 18;

/** @throws Error when the server is older than the statements need @param version as `server_version_num` has it */
export function requirePostgresVersion(version: number): void {
  const major = Math.floor(version / 10_000);
  if (major < OLDEST_POSTGRES) {
    throw new Error(`PostgreSQL ${major} is too old: Hoplog needs PostgreSQL ${OLDEST_POSTGRES} or later`);
  }
}

/** As {@link migrate}, on a connection that holds the lock. */
export async function applyPendingMigrations(
  client: PoolClient,
  { service = null, folder = FOLDER }: MigrationOptions = {},
): Promise<string[]> {
  const version = await client.query<{ version: string }>(
    `SELECT current_setting('server_version_num') AS version`,
  );
  requirePostgresVersion(Number(version.rows[0]?.version));
  await createMigrationsTable(client);
  const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations');
  const done = new Set(rows.map((row) => row.name));
  const files = await knownMigrations(folder);
  const applied: string[] = [];
  for (const file of files.filter((name) => !done.has(name))) {
    await apply(client, file, folder);
    applied.push(file);
  }
  for (const name of SECRETS) {
    await client.query(
      'INSERT INTO deployment_secrets (name, secret) VALUES ($1, $2) ON CONFLICT DO NOTHING',
      [name, randomBytes(32)],
    );
  }
  if (service !== null) await grantToService(client, service);
  await limitStatements(client, service?.name ?? null);
  return applied;
}

async function createMigrationsTable(client: PoolClient): Promise<void> {
  try {
    await client.query(
      `CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())`,
    );
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === '42501')) throw error;
    throw new Error(
      "this role of PostgreSQL may not create tables: DATABASE_OWNER_URL must name the database's owner",
      { cause: error },
    );
  }
}

async function apply(client: PoolClient, file: string, folder: URL): Promise<void> {
  const sql = await readFile(new URL(file, folder), 'utf8');
  const deadline = Date.now() + GIVE_UP_MS;
  for (;;) {
    try {
      await client.query('BEGIN');
      await client.query(`SET LOCAL lock_timeout = ${LOCK_MS}`);
      await client.query(sql);
      await client.query('INSERT INTO migrations (name) VALUES ($1)', [file]);
      await client.query('COMMIT');
      return;
    } catch (error) {
      await client.query('ROLLBACK');
      if (!isLockConflict(error)) throw new Error(`migration ${file} failed`, { cause: error });
      if (Date.now() > deadline) {
        throw new Error(`migration ${file} failed: another transaction, such as a backup, locks its tables`, {
          cause: error,
        });
      }
    }
    await delay(PAUSE_MS);
  }
}

/** `lock_not_available` or `deadlock_detected`: the migration itself is right. */
function isLockConflict(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '55P03' || error.code === '40P01');
}

/** Returns names of migrations that the database has and this release lacks: a later release applied them. */
export async function migrationsOfLater(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>('SELECT name FROM migrations ORDER BY name');
  const known = new Set(await knownMigrations(FOLDER));
  return rows.map((row) => row.name).filter((name) => !known.has(name));
}

async function knownMigrations(folder: URL): Promise<string[]> {
  return (await readdir(folder)).filter((file) => /^\d{4}_\w+\.sql$/.test(file)).sort();
}
