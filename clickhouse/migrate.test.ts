import { afterAll, beforeAll, expect, test } from 'vitest';
import { uuidv7 } from '../core/ids.ts';
import { type TestStores, testStores } from '../test/support/stores.ts';
import { type ClickHouseClient, createClickHouse } from './client.ts';
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
  const result = await stores.clickhouse.query({
    query: `SELECT name FROM system.tables WHERE database = currentDatabase()
              AND engine_full LIKE '%fsync_after_insert = 1%' AND engine_full LIKE '%fsync_part_directory = 1%'
              AND engine_full LIKE '%min_rows_to_fsync_after_merge = 1%'
            ORDER BY name`,
    format: 'JSONEachRow',
  });
  expect((await result.json<{ name: string }>()).map(({ name }) => name)).toEqual([
    'clicks',
    'clicks_by_visitor',
    'clicks_rolled_up',
    'deleted_links',
    'identifies',
    'order_credits_by_time',
    'orders',
    'rolled_up_periods',
    'rolled_up_workspaces',
  ]);
});

test('credits of the first release count as they did, whichever file is cut off and run again', async () => {
  const database = `${stores.clickhouseDatabase}_old`;
  const server = createClickHouse({ url: stores.clickhouseUrl, database: 'default' });
  await server.command({ query: `CREATE DATABASE ${database} ENGINE = Atomic` });
  const old = createClickHouse({ url: stores.clickhouseUrl, database });
  try {
    const migrations = await readMigrations({ database, cluster: '' });
    const run = async (of: typeof migrations) => {
      for (const { statements } of of) for (const query of statements) await server.command({ query });
    };
    const isFirst = ({ name }: { name: string }) => name < '0003';
    await run(migrations.filter(isFirst));
    await storeOldCredits(old);
    for (const migration of migrations) if (!isFirst(migration)) await run([migration, migration]);

    expect(await lifetimeValues(old, WORKSPACE, false)).toEqual(new Map([['facebook', 1_700n]]));
    const result = await old.query({
      query: `SELECT order_id, toUInt32(count()) AS parts, toUInt32(sum(amount_minor)) AS amount
              FROM order_credits_by_time FINAL WHERE NOT replaced GROUP BY order_id ORDER BY order_id`,
      format: 'JSONEachRow',
    });
    expect(await result.json()).toEqual([
      { order_id: 'reported again', parts: 1, amount: 700 },
      { order_id: 'shared', parts: 3, amount: 1_000 },
      { order_id: 'shared, of nobody known', parts: 3, amount: 1_000 },
    ]);
  } finally {
    await old.close();
    await server.command({ query: `DROP DATABASE ${database}` });
    await server.close();
  }
});

const WORKSPACE = uuidv7();

/** As the first release wrote them: a shared order names the first channel on its first part only. */
async function storeOldCredits(client: ClickHouseClient): Promise<void> {
  const row = (order: string, version: number, part: number, amount: number, firstChannel = '') => ({
    workspace_id: WORKSPACE,
    order_id: order,
    version,
    part,
    ts: `2026-11-0${version} 10:00:00.000000001`,
    link_id: uuidv7(),
    channel: 'youtube',
    share: amount / 1_000,
    amount_minor: amount,
    first_channel: firstChannel,
  });
  const shared = (order: string, firstChannel: string) => [
    row(order, 7, 0, 334, firstChannel),
    row(order, 7, 1, 333),
    row(order, 7, 2, 333),
  ];
  await client.insert({
    table: 'order_credits',
    values: [
      ...shared('shared', 'facebook'),
      ...shared('shared, of nobody known', ''),
      row('reported again', 1, 0, 500, 'facebook'),
      row('reported again', 1, 1, 500),
      row('reported again', 2, 0, 700, 'facebook'),
    ],
    format: 'JSONEachRow',
  });
}
