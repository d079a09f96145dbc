import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { migrate } from './migrate.ts';

const MIGRATION = '0094_orders_reported_at.sql';

let stores: TestStores;
beforeAll(async () => {
  stores = await testStores();
});
afterAll(() => stores.close());

test('while a backup holds a table, its migration lets others at it again and again, and is applied afterwards', async () => {
  const { pool } = stores;
  await pool.query('ALTER TABLE orders DROP COLUMN reported_at');
  await pool.query('DELETE FROM migrations WHERE name = $1', [MIGRATION]);
  const backup = await pool.connect();
  try {
    await backup.query('BEGIN');
    await backup.query('LOCK TABLE orders IN ACCESS SHARE MODE'); // as pg_dump does
    const migrated = migrate(pool);
    migrated.catch(() => {}); // awaited below
    await untilWaiting();
    // It comes behind the migration, which would wait for the backup.
    await pool.query('SELECT count(*) FROM orders');
    await backup.query('COMMIT');
    expect(await migrated).toEqual([MIGRATION]);
  } finally {
    backup.release(true);
  }
});

async function untilWaiting(): Promise<void> {
  const waiting = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'orders'::regclass`;
  while ((await stores.pool.query(waiting)).rowCount === 0);
}
