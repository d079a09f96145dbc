import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestStores, testStores } from './stores.ts';

let first: TestStores;
let second: TestStores;

beforeAll(async () => {
  [first, second] = await Promise.all([testStores(), testStores()]);
});

afterAll(async () => {
  await Promise.all([first.close(), second.close()]);
});

test('each test file gets PostgreSQL tables of its own', async () => {
  await first.admin.query('CREATE TABLE mine (a int)');
  const there = await second.pool.query("SELECT to_regclass('mine') AS found");
  expect(there.rows).toEqual([{ found: null }]);
});

test('ClickHouse gets the tables of a file at their first use', async () => {
  const stores = await testStores();
  const databases = async () => {
    const found = await first.clickhouse.queries.rows<{ name: string }>({
      sql: 'SELECT name FROM system.databases WHERE name = {name:String}',
      params: { name: stores.clickhouseDatabase },
      settings: {},
    });
    return found.length;
  };
  expect(await databases()).toBe(0);
  const [clicks] = await Promise.all([
    stores.clickhouse.queries.rows({ sql: 'SELECT * FROM clicks', params: {}, settings: {} }),
    stores.createTables(),
  ]);
  expect(clicks).toEqual([]);
  expect(await databases()).toBe(1);
  await stores.close();
  expect(await databases()).toBe(0);
});

test('each test file gets migrated ClickHouse tables of its own', async () => {
  const result = await first.clickhouse.query({
    query: 'SELECT count() AS n FROM clicks',
    format: 'JSONEachRow',
  });
  expect(await result.json()).toEqual([{ n: '0' }]);
  expect(first.clickhouseDatabase).not.toBe(second.clickhouseDatabase);
});
