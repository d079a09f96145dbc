import { afterAll, beforeAll, expect, test } from 'vitest';
import { uuidToBytes, uuidv7 } from '../core/ids.ts';
import { type TestStores, testStores } from '../test/support/stores.ts';
import { insertBlock } from './inserts/insert-block.ts';
import { type OrderCreditRow, orderCreditBlock } from './inserts/order-credits.ts';
import { migrate, readMigrations } from './migrate.ts';
import { lifetimeValues } from './questions/lifetime-values.ts';

let stores: TestStores;

beforeAll(async () => {
  stores = await testStores();
});

afterAll(() => stores.close());

test('a store that has every migration is left as it is', async () => {
  const options = { database: stores.clickhouseDatabase, cluster: '' };
  expect(await migrate(stores.clickhouse, options)).toEqual([]);
});

test('on a cluster the same files make replicated tables everywhere, in a form that ClickHouse reads', async () => {
  const statements = (await readMigrations({ database: 'hoplog', cluster: 'main' })).flatMap(
    (migration) => migration.statements,
  );
  expect(statements.length).toBeGreaterThan(5);
  for (const statement of statements) {
    if (!statement.startsWith('INSERT')) expect(statement).toContain("ON CLUSTER 'main'");
    expect(statement).not.toContain('{{');
    if (statement.startsWith('CREATE TABLE')) {
      expect(statement).toMatch(/ENGINE = Replicated\w*MergeTree\('\/clickhouse\/tables\/\{shard\}/);
    }
    const parsed = await stores.clickhouse.query({
      query: `EXPLAIN AST ${statement}`,
      format: 'TabSeparated',
    });
    expect(await parsed.text()).not.toBe('');
  }
});

test('rows that nobody sends again are on the disk when their insert is answered, and after each merge', async () => {
  const { statements } =
    (await readMigrations({ database: stores.clickhouseDatabase, cluster: '' })).find(({ name }) =>
      name.startsWith('0006'),
    ) ?? {};
  for (const query of statements ?? []) await stores.clickhouse.command({ query }); // may be run twice
  const result = await stores.clickhouse.query({
    query: `SELECT name FROM system.tables WHERE database = currentDatabase()
              AND engine_full LIKE '%fsync_after_insert = 1%' AND engine_full LIKE '%fsync_part_directory = 1%'
              AND engine_full LIKE '%min_rows_to_fsync_after_merge = 1%'
            ORDER BY name`,
    format: 'JSONEachRow',
  });
  expect((await result.json<{ name: string }>()).map(({ name }) => name)).toEqual([
    'clicks',
    'clicks_rolled_up',
    'deleted_links',
    'identifies',
    'order_credits',
    'orders',
    'rolled_up_periods',
    'rolled_up_workspaces',
  ]);
});

test('shared credits of before 0003 get their first channel, once and for all', async () => {
  const workspaceId = uuidv7();
  const parts = [
    { part: 0, amountMinor: 334, firstChannel: 'facebook' },
    { part: 1, amountMinor: 333, firstChannel: '' },
    { part: 2, amountMinor: 333, firstChannel: '' },
  ];
  const credits = ['order-1', 'order-2'].flatMap((orderId) =>
    parts.map(
      ({ part, amountMinor, firstChannel }): OrderCreditRow => ({
        workspaceId: uuidToBytes(workspaceId),
        orderId,
        version: 7n,
        part,
        ts: Date.now() * 1_000,
        ordinal: 1,
        linkId: uuidToBytes(uuidv7()),
        channel: 'youtube',
        share: 1 / 3,
        amountMinor,
        // Of the second order's buyer no click is known.
        firstChannel: orderId === 'order-1' ? firstChannel : '',
      }),
    ),
  );
  await insertBlock(stores.clickhouse, {
    table: 'order_credits',
    block: orderCreditBlock(credits),
    token: workspaceId,
  });
  expect(
    await lifetimeValues(stores.clickhouse, workspaceId, { hasDeleted: false, hasShared: true }),
  ).toEqual(new Map([['facebook', 334n]]));
  const migrations = await readMigrations({ database: stores.clickhouseDatabase, cluster: '' });
  const { statements } = migrations.find(({ name }) => name.startsWith('0003')) ?? { statements: [] };
  expect(statements).not.toEqual([]);
  for (let run = 0; run < 2; run++) {
    for (const query of statements) await stores.clickhouse.command({ query });
    expect(
      await lifetimeValues(stores.clickhouse, workspaceId, { hasDeleted: false, hasShared: true }),
    ).toEqual(new Map([['facebook', 1_000n]]));
  }
});
