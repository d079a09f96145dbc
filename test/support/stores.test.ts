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

test('each test file gets migrated ClickHouse tables of its own', async () => {
  const result = await first.clickhouse.query({
    query: 'SELECT count() AS n FROM clicks',
    format: 'JSONEachRow',
  });
  expect(await result.json()).toEqual([{ n: '0' }]);
  expect(first.clickhouseDatabase).not.toBe(second.clickhouseDatabase);
});
