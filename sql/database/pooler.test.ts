import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_PASSWORD, TEST_SERVICE } from '../../test/support/database-url.ts';
import { HAS_PGBOUNCER, type PgBouncer, startPgBouncer } from '../../test/support/pgbouncer.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { withJobLease } from './job-leases.ts';
import { migrate } from './migrate.ts';
import { outsideTransaction } from './nested-connections.ts';
import { createPool, inTransaction, type Pool } from './pool.ts';
import { poolingOf } from './pooler.ts';

let stores: TestStores;
let ofTransactions: PgBouncer;
let ofSessions: PgBouncer;
let direct: Pool;
let pooled: Pool;

describe.skipIf(!HAS_PGBOUNCER)('behind a pooler', () => {
  beforeAll(async () => {
    stores = await testStores();
    const { databaseUrl, databaseOwnerUrl } = stores;
    const urls = [databaseUrl, databaseOwnerUrl];
    // Two backends for many clients: each transaction may run on another one.
    ofTransactions = await startPgBouncer({
      urls,
      settings: { default_pool_size: 2, server_round_robin: 1 },
    });
    ofSessions = await startPgBouncer({ urls, settings: { pool_mode: 'session' } });
    direct = createPool(databaseUrl, { statementTimeoutMs: 7_000 });
    pooled = createPool(ofTransactions.through(databaseUrl), { statementTimeoutMs: 7_000 });
  });
  afterAll(async () => {
    await Promise.all([direct?.end(), pooled?.end()]);
    await Promise.all([ofTransactions?.stop(), ofSessions?.stop(), stores?.close()]);
  });

  const limitOf = async (db: Pick<Pool, 'query'>) => {
    const { rows } = await db.query<{ limit: string }>(
      "SELECT current_setting('statement_timeout') AS limit",
    );
    return rows[0]?.limit;
  };

  test('a pooler is told from PostgreSQL, and a session from a transaction', async () => {
    const session = createPool(ofSessions.through(stores.databaseUrl), { max: 2 });
    expect(await Promise.all([direct, session, pooled].map(poolingOf))).toEqual([
      'none',
      'session',
      'transaction',
    ]);
    await session.end();
  });

  test('statements are limited: by the connection, by the transaction, and by the role', async () => {
    await migrate(stores.admin, { service: { name: TEST_SERVICE, password: TEST_PASSWORD } });
    expect(await limitOf(direct)).toBe('7s');
    expect(await inTransaction(pooled, limitOf)).toBe('7s');
    // Backends that started before the migration have no limit yet.
    await stores.admin.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1 AND datname = current_database()',
      [TEST_SERVICE],
    );
    await expect.poll(() => limitOf(pooled).catch(() => '')).toBe('30s');
    const quick = createPool(ofTransactions.through(stores.databaseUrl), { statementTimeoutMs: 50 });
    const slow = inTransaction(quick, (tx) => tx.query('SELECT pg_sleep(60)'));
    await expect(slow).rejects.toMatchObject({ code: '57014' });
    await quick.end();
    expect(await inTransaction(pooled, limitOf)).toBe('7s');
    expect(await limitOf(pooled)).toBe('30s');
  });

  test('an administrator’s limit of the role stays', async () => {
    const setTo = (limit: string) =>
      stores.admin.query(
        `DO $$ BEGIN EXECUTE format('ALTER ROLE ${TEST_SERVICE} IN DATABASE %I SET statement_timeout = ''${limit}''',
         current_database()); END $$`,
      );
    await setTo('5s');
    await migrate(stores.admin, { service: { name: TEST_SERVICE, password: TEST_PASSWORD } });
    const fresh = createPool(stores.databaseUrl, { max: 1 });
    const { rows } = await fresh.query<{ setting: string }>(
      `SELECT reset_val AS setting FROM pg_settings WHERE name = 'statement_timeout'`,
    );
    expect(rows).toEqual([{ setting: '5000' }]);
    await fresh.end();
    await setTo('30s');
  });

  test('statements have a name for PostgreSQL alone: clients of a pooler share its backends', async () => {
    const named = (text: string) => ({ name: 'of_two_releases', text });
    const prepared = "SELECT count(*) AS count FROM pg_prepared_statements WHERE name = 'of_two_releases'";
    const other = createPool(ofTransactions.through(stores.databaseUrl));
    for (let round = 0; round < 6; round += 1) {
      const answers = await Promise.all([
        pooled.query(named('SELECT 1 AS one')),
        other.query(named('SELECT 2 AS two')),
      ]);
      expect(answers.map(({ rows }) => rows)).toEqual([[{ one: 1 }], [{ two: 2 }]]);
      expect((await pooled.query(prepared)).rows).toEqual([{ count: 0 }]);
    }
    const client = await direct.connect();
    await client.query(named('SELECT 1 AS one'));
    expect((await client.query(prepared)).rows).toEqual([{ count: 1 }]);
    client.release();
    await other.end();
  });

  test('migrations are refused behind a pooler in transaction mode alone', async () => {
    const service = { name: TEST_SERVICE, password: TEST_PASSWORD };
    const through = (pooler: PgBouncer) => createPool(pooler.through(stores.databaseOwnerUrl), { max: 2 });
    const [refused, accepted] = [through(ofTransactions), through(ofSessions)];
    await expect(migrate(refused, { service })).rejects.toThrow(
      /pooler in transaction mode: set DATABASE_DIRECT_URL/,
    );
    expect(await migrate(accepted, { service })).toEqual([]);
    await Promise.all([refused.end(), accepted.end()]);
  });

  test('one process at a time runs a job, also behind a pooler, and the next one after a kill', async () => {
    const other = createPool(ofTransactions.through(stores.databaseUrl));
    const ran = await withJobLease(pooled, 'rollups', async () => {
      // A session lock would occupy one backend. The lease occupies none, so all backends are free.
      await Promise.all([1, 2].map(() => other.query('SELECT pg_sleep(0.05)')));
      return [
        await withJobLease(other, 'rollups', async () => 'ran'),
        await withJobLease(other, 'clockCorrections', async () => 'ran'),
      ];
    });
    expect(ran).toEqual([null, 'ran']);
    const failed = withJobLease(pooled, 'rollups', () => Promise.reject(new Error('failed')));
    await expect(failed).rejects.toThrow('failed');
    const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const killed = withJobLease(pooled, 'rollups', () => {
      begun.resolve();
      return end.promise;
    });
    await begun.promise;
    expect(await withJobLease(other, 'rollups', async () => 'ran')).toBe(null);
    await other.query("UPDATE job_leases SET held_until = now() - interval '1 second'");
    expect(await withJobLease(other, 'rollups', async () => 'ran')).toBe('ran');
    end.resolve();
    await killed;
    await other.end();
  });

  test('a connection that is asked for inside of a transaction is refused in tests', async () => {
    const nested = inTransaction(direct, () => direct.query('SELECT 1'));
    await expect(nested).rejects.toThrow('a transaction asks for a second connection');
    const ofAnother = inTransaction(direct, async () => {
      await turnOfLoop();
      return pooled.query('SELECT 1');
    });
    await expect(ofAnother).rejects.toThrow('a transaction asks for a second connection');
    await inTransaction(direct, () => outsideTransaction(() => direct.query('SELECT 1')));
  });
});
