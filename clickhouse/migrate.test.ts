import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestStores, testStores } from '../test/support/stores.ts';
import { migrate, readMigrations } from './migrate.ts';

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
    expect(statement).toContain("ON CLUSTER 'main'");
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
