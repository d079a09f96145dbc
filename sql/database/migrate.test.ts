import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { LIMIT_MS } from '../../test/support/until.ts';
import { migrate, migrationsOfLater, requirePostgresVersion } from './migrate.ts';

const MIGRATION = '9001_added.sql';

let stores: TestStores;
let directory: string;
let folder: URL;
beforeAll(async () => {
  stores = await testStores();
  directory = await mkdtemp(join(tmpdir(), 'hoplog-migrations-'));
  folder = pathToFileURL(`${directory}/`);
  await writeFile(
    new URL(MIGRATION, folder),
    'ALTER TABLE partners ADD COLUMN added integer NOT NULL DEFAULT 7',
  );
});
afterAll(async () => {
  await stores.close();
  await rm(directory, { recursive: true });
});

test('a later migration applies once, to tables with rows, and other queries run while a backup locks its table', async () => {
  const { pool, admin } = stores;
  await pool.query(
    `INSERT INTO partners (id, name) SELECT gen_random_uuid(), 'p' FROM generate_series(1, 3)`,
  );
  const backup = await pool.connect();
  try {
    await backup.query('BEGIN');
    await backup.query('LOCK TABLE partners IN ACCESS SHARE MODE'); // as pg_dump does
    const migrated = migrate(admin, { folder });
    migrated.catch(() => {}); // awaited below
    await vi.waitFor(
      async () => {
        // Databases of other tests have tables with the same OID.
        const waiting = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'partners'::regclass
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
        expect((await pool.query(waiting)).rowCount).toBe(1);
      },
      { timeout: LIMIT_MS, interval: 5 },
    );
    // This query queues behind the migration, which waits for the backup.
    await pool.query('SELECT count(*) FROM partners');
    await backup.query('COMMIT');
    expect(await migrated).toEqual([MIGRATION]);
  } finally {
    backup.release(true);
  }
  expect(await migrate(admin, { folder })).toEqual([]);
  const { rows } = await pool.query<{ sum: number }>('SELECT sum(added) FROM partners');
  expect(rows).toEqual([{ sum: 21 }]);
});

test('a release that lacks a migration of the database names it', async () => {
  expect(await migrationsOfLater(stores.pool)).toEqual([MIGRATION]);
});

test('a server that is too old is refused by name', () => {
  expect(() => requirePostgresVersion(170_006)).toThrow(
    'PostgreSQL 17 is too old: Hoplog needs PostgreSQL 18 or later',
  );
  expect(() => requirePostgresVersion(180_000)).not.toThrow();
});
