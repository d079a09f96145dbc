import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { databaseUrlOf, TEST_OWNER, TEST_PASSWORD, TEST_SERVICE } from '../../test/support/database-url.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { migrate } from './migrate.ts';
import { createPool, type Pool } from './pool.ts';
import { APPEND_ONLY_TABLES, serviceRoleIn, UNDELETABLE_TABLES } from './service-role.ts';

let stores: TestStores;
let owner: Pool;
beforeAll(async () => {
  stores = await testStores();
  owner = createPool(stores.databaseOwnerUrl, { max: 1 });
});
afterAll(async () => {
  await owner?.end();
  await stores?.close();
});

const refusal = (statement: string) =>
  stores.pool.query(statement).then(
    () => `${statement} was not refused`,
    (error: Error) => error.message,
  );

test.each([...APPEND_ONLY_TABLES, 'enrollment_changes'])('the service can only add to %s', async (table) => {
  const denied = `permission denied for table ${table}`;
  const { rows } = await stores.admin.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum = 1`,
    [table],
  );
  expect(await refusal(`UPDATE ${table} SET ${rows[0]?.name} = DEFAULT`)).toBe(denied);
  expect(await refusal(`DELETE FROM ${table}`)).toBe(denied);
  expect(await refusal(`TRUNCATE ${table} CASCADE`)).toBe(denied);
});

test.each(UNDELETABLE_TABLES)('the service can not delete from %s', async (table) => {
  expect(await refusal(`DELETE FROM ${table}`)).toBe(`permission denied for table ${table}`);
});

test('the service owns nothing, and can not create, grant, disable triggers, or change secrets', async () => {
  const { rows } = await stores.admin.query(
    `SELECT rolsuper, rolcreaterole, rolcreatedb, rolreplication, rolbypassrls,
       (SELECT count(*) FROM pg_class WHERE relowner = r.oid) AS owned,
       (SELECT count(*) FROM pg_auth_members WHERE member = r.oid) AS memberships
     FROM pg_roles r WHERE rolname = $1`,
    [TEST_SERVICE],
  );
  expect(new Set(Object.values(rows[0]))).toEqual(new Set([false, 0]));
  expect(await refusal('CREATE TABLE mine (a int)')).toBe('permission denied for schema public');
  expect(await refusal('CREATE ROLE mine')).toBe('permission denied to create role');
  expect(await refusal('ALTER TABLE ledger_entries DISABLE TRIGGER append_only')).toBe(
    'must be owner of table ledger_entries',
  );
  expect(await refusal('SET session_replication_role = replica')).toMatch(/^permission denied/);
  expect(await refusal(`UPDATE deployment_secrets SET secret = ''`)).toMatch(/^permission denied/);
  expect(await refusal('DELETE FROM migrations')).toMatch(/^permission denied/);
});

test('every table with a trigger that refuses a change is one that the service may not change so', async () => {
  const withTrigger = async (name: string) => {
    const { rows } = await stores.admin.query<{ name: string }>(
      'SELECT tgrelid::regclass::text AS name FROM pg_trigger WHERE tgname = ANY ($1) ORDER BY 1',
      [name.split(',')],
    );
    return rows.map((row) => row.name);
  };
  expect(await withTrigger('append_only,audit_entries_fixed')).toEqual([...APPEND_ONLY_TABLES].sort());
  expect(await withTrigger('never_deleted')).toEqual([...UNDELETABLE_TABLES, 'enrollment_changes'].sort());
});

test('the next migration takes back what the role should not have', async () => {
  await stores.admin.query(`GRANT UPDATE, DELETE ON ledger_entries TO ${TEST_SERVICE}`);
  await migrate(owner, { service: { name: TEST_SERVICE, password: TEST_PASSWORD } });
  expect(await refusal('DELETE FROM ledger_entries')).toBe('permission denied for table ledger_entries');
});

test('a role is created with its password; an owner that may not create it says what to run', async () => {
  const name = `hoplog test "${stores.clickhouseDatabase}"`;
  const url = new URL(databaseUrlOf(inject('databaseUrl'), stores.clickhouseDatabase));
  url.username = encodeURIComponent(name);
  url.password = encodeURIComponent('pâss:/@"\'');
  const service = serviceRoleIn(url.href, stores.databaseOwnerUrl);
  await stores.admin.query(`ALTER ROLE ${TEST_OWNER} NOCREATEROLE`);
  try {
    await expect(migrate(owner, { service })).rejects.toThrow(/run as an administrator .*: CREATE ROLE "hop/);
  } finally {
    await stores.admin.query(`ALTER ROLE ${TEST_OWNER} CREATEROLE`);
  }
  await migrate(owner, { service });
  const created = createPool(url.href, { max: 1 });
  try {
    expect((await created.query('SELECT current_user AS name')).rows).toEqual([{ name }]);
    await created.query('SELECT FROM links');
  } finally {
    await created.end();
    const role = `"${name.replaceAll('"', '""')}"`;
    await stores.admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  }
});

test('a migration as the service names the setting of the owner', async () => {
  await expect(migrate(stores.pool)).rejects.toThrow(/DATABASE_OWNER_URL must name the database's owner$/);
});

test('one user in both addresses is no separate role', () => {
  expect(serviceRoleIn('postgres://a:x@h/d', 'postgres://a:x@h/d')).toBeNull();
  expect(serviceRoleIn('postgres://a%20b:x%3A@h/d', 'postgres://c@h/d')).toEqual({
    name: 'a b',
    password: 'x:',
  });
});
