import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestStores, testStores } from '../test/support/stores.ts';
import { migrate, readMigrations } from './migrate.ts';

let stores: TestStores;

beforeAll(async () => {
  stores = await testStores();
  await stores.createTables();
});

afterAll(() => stores.close());

test('a database that has every migration stays as it is', async () => {
  const options = { database: stores.clickhouseDatabase };
  expect(await migrate(stores.clickhouse, options)).toEqual([]);
});

test('the tables leave replication to the event log', async () => {
  const statements = (await readMigrations({ database: 'hoplog' })).flatMap(
    (migration) => migration.statements,
  );
  expect(statements.length).toBeGreaterThan(5);
  for (const statement of statements) {
    expect(statement).not.toMatch(/\{\{|ON CLUSTER|Replicated/);
    const parsed = await stores.clickhouse.query({
      query: `EXPLAIN AST ${statement}`,
      format: 'TabSeparated',
    });
    expect(await parsed.text()).not.toBe('');
  }
});

test('rows that are not sent again are on disk when their insert resolves, and after each merge', async () => {
  const result = await stores.clickhouse.query({
    query: `SELECT name FROM system.tables WHERE database = currentDatabase()
              AND engine_full LIKE '%fsync_after_insert = 1%' AND engine_full LIKE '%fsync_part_directory = 1%'
              AND engine_full LIKE '%min_rows_to_fsync_after_merge = 1%'
            ORDER BY name`,
    format: 'JSONEachRow',
  });
  expect((await result.json<{ name: string }>()).map(({ name }) => name)).toEqual([
    'attributed_shares',
    'clicks',
    'clicks_by_visitor',
    'clicks_rolled_up',
    'deleted_links',
    'identifies',
    'orders',
    'removed_clicks',
    'rolled_up_periods',
    'rolled_up_workspaces',
  ]);
});

test('a later migration applies once to tables with rows, also after an interrupted run', async () => {
  const { clickhouse, clickhouseDatabase: database } = stores;
  const directory = await mkdtemp(join(tmpdir(), 'hoplog-migrations-'));
  const folder = pathToFileURL(`${directory}/`);
  const options = { database, folder };
  try {
    await writeFile(
      new URL('9001_added.sql', folder),
      `ALTER TABLE {{database}}.deleted_links ADD COLUMN IF NOT EXISTS added UInt8 DEFAULT 7;`,
    );
    await clickhouse.command({
      query: `INSERT INTO deleted_links SELECT generateUUIDv4(), generateUUIDv4() FROM numbers(3)`,
    });
    // An interrupted run has applied the statement and not recorded the file.
    await clickhouse.command({ query: 'ALTER TABLE deleted_links ADD COLUMN added UInt8 DEFAULT 7' });
    expect(await migrate(clickhouse, options)).toEqual(['9001_added.sql']);
    expect(await migrate(clickhouse, options)).toEqual([]);
    const result = await clickhouse.query({
      query: 'SELECT toUInt32(sum(added)) AS sum FROM deleted_links',
      format: 'JSONEachRow',
    });
    expect(await result.json()).toEqual([{ sum: 21 }]);
  } finally {
    await rm(directory, { recursive: true });
  }
});
