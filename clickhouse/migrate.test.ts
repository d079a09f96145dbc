import { afterAll, beforeAll, expect, test } from 'vitest';
import { uuidToBytes, uuidv7 } from '../core/ids.ts';
import { type TestStores, testStores } from '../test/support/stores.ts';
import { type ClickHouseClient, createClickHouse } from './client.ts';
import { hideLinks } from './erasures.ts';
import { insertBlock } from './inserts/insert-block.ts';
import {
  boolColumn,
  float64Column,
  int64Column,
  lowCardinalityColumn,
  nativeBlock,
  textColumn,
  timeColumn,
  uint16Column,
  uint64Column,
  uuidColumn,
} from './inserts/native-columns.ts';
import { migrate, readMigrations } from './migrate.ts';
import { lifetimeValues } from './queries/lifetime-values.ts';

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

/**
 * A store with the migrations before one, gone afterwards.
 *
 * @param before the first digits of the names that are still missing
 * @param work gets what applies the missing ones, each of them twice
 */
async function withOldStore(
  before: string,
  work: (old: ClickHouseClient, migrateOn: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const database = `${stores.clickhouseDatabase}_before_${before}`;
  const server = createClickHouse({ url: stores.clickhouseUrl, database: 'default' });
  await server.command({ query: `CREATE DATABASE ${database} ENGINE = Atomic` });
  const old = createClickHouse({ url: stores.clickhouseUrl, database });
  try {
    const migrations = await readMigrations({ database, cluster: '' });
    const run = async (of: typeof migrations) => {
      for (const { statements } of of) for (const query of statements) await server.command({ query });
    };
    await run(migrations.filter(({ name }) => name < before));
    await work(old, async () => {
      for (const migration of migrations) if (migration.name >= before) await run([migration, migration]);
    });
  } finally {
    await old.close();
    await server.command({ query: `DROP DATABASE ${database}` });
    await server.close();
  }
}

test('credits of the first release count as they did, whichever file is cut off and run again', async () => {
  await withOldStore('0003', async (old, migrateOn) => {
    await storeOldCredits(old);
    await migrateOn();

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
  });
});

test('credits that do not say which bio button came first count where they did, until a credited button of such is deleted', async () => {
  await withOldStore('0010', async (old, migrateOn) => {
    const [gone, left] = [uuidv7(), uuidv7()];
    const write = (orderId: string) =>
      insertBlock(old, {
        table: 'order_credits_by_time',
        block: creditsBefore0010(orderId, [
          { linkId: gone, channel: 'bio', amountMinor: 1, firstChannel: 'bio' },
          { linkId: left, channel: 'bio', amountMinor: 10, firstChannel: 'bio' },
          { linkId: left, channel: 'facebook', amountMinor: 100, firstChannel: 'bio' },
          { linkId: gone, channel: 'bio', amountMinor: 1_000, firstChannel: 'twitter' },
        ]),
        token: orderId,
      });
    await write('before the migration');
    await migrateOn();
    await write('by a worker of the release before');
    const before = new Map([
      ['bio', 222n],
      ['twitter', 2_000n],
    ]);
    expect(await lifetimeValues(old, WORKSPACE, false)).toEqual(before);
    expect(await lifetimeValues(old, WORKSPACE, true)).toEqual(before);
    await hideLinks(old, [{ workspaceId: WORKSPACE, targetId: gone }]);
    expect(await lifetimeValues(old, WORKSPACE, true)).toEqual(before.set('bio', 220n));
  });
});

test('credits say when the store took them, whoever wrote them, and those of before the migration are old', async () => {
  await withOldStore('0013', async (old, migrateOn) => {
    const write = (orderId: string) =>
      insertBlock(old, {
        table: 'order_credits_by_time',
        block: creditsBefore0010(orderId, [
          { linkId: uuidv7(), channel: 'bio', amountMinor: 1, firstChannel: 'bio' },
        ]),
        token: orderId,
      });
    await write('before the migration');
    await migrateOn();
    await write('by a worker of the release before');
    const result = await old.query({
      query: `SELECT order_id, written > now() - INTERVAL 1 MINUTE AND written <= now() AS is_new,
                written < now() - INTERVAL 1 YEAR AS is_old FROM order_credits_by_time ORDER BY order_id`,
      format: 'JSONEachRow',
    });
    expect(await result.json()).toEqual([
      { order_id: 'before the migration', is_new: 0, is_old: 1 },
      { order_id: 'by a worker of the release before', is_new: 1, is_old: 0 },
    ]);
  });
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

/** A part for each, as workers wrote it that knew no `first_bio_links`. */
function creditsBefore0010(
  orderId: string,
  parts: { linkId: string; channel: string; amountMinor: number; firstChannel: string }[],
): Uint8Array[] {
  const size = parts.length;
  const [workspace, link] = [uuidColumn('workspace_id', size), uuidColumn('link_id', size)];
  const [order, version] = [textColumn('order_id', size), uint64Column('version', size)];
  const [part, ts] = [uint16Column('part', size), timeColumn('ts', size)];
  const channel = lowCardinalityColumn('channel', size);
  const [share, amount] = [float64Column('share', size), int64Column('amount_minor', size)];
  const firstChannel = lowCardinalityColumn('first_channel', size);
  const replaced = boolColumn('replaced', size);
  for (const [row, given] of parts.entries()) {
    workspace.put(row, uuidToBytes(WORKSPACE));
    order.put(row, orderId);
    version.put(row, 7n);
    part.put(row, row);
    ts.put(row, Date.UTC(2026, 10, 7) * 1_000, 1);
    link.put(row, uuidToBytes(given.linkId));
    channel.put(row, given.channel);
    share.put(row, 1 / size);
    amount.put(row, BigInt(given.amountMinor));
    firstChannel.put(row, given.firstChannel);
    replaced.put(row, false);
  }
  const columns = [workspace, order, version, part, ts, link, channel, share, amount, firstChannel, replaced];
  return nativeBlock(columns, size);
}
