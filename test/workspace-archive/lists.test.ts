import { expect } from 'vitest';
import { ARCHIVED_EVENTS, EVENTS_LEFT_OUT } from '../../clickhouse/archive/archived-tables.ts';
import { NUMBERED } from '../../sql/archive/archived-table.ts';
import { ARCHIVED_TABLES, LEFT_OUT, OF_THE_DEPLOYMENT } from '../../sql/archive/archived-tables.ts';
import { storesTest } from '../support/fixtures.ts';

/** A new table, column, or number of a workspace cannot be forgotten: it fails here until a list has it. */

const it = storesTest;
const NAMES = ARCHIVED_TABLES.map(({ name }) => name);

it('every table of PostgreSQL is in the archive, or left out for a reason', async ({ stores }) => {
  const { rows } = await stores.pool.query<{ name: string; is_of_workspace: boolean }>(
    `SELECT c.relname AS name, EXISTS (SELECT FROM pg_attribute a
       WHERE a.attrelid = c.oid AND a.attname = 'workspace_id' AND NOT a.attisdropped) AS is_of_workspace
     FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`,
  );
  const listed = [...NAMES, ...Object.keys(LEFT_OUT), ...Object.keys(OF_THE_DEPLOYMENT)];
  expect(listed.toSorted()).toEqual(rows.map(({ name }) => name).toSorted());
  const ofWorkspaces = rows.filter((row) => row.is_of_workspace).map(({ name }) => name);
  expect(ofWorkspaces.filter((name) => name in OF_THE_DEPLOYMENT)).toEqual([]);
  expect(Object.keys(LEFT_OUT).filter((name) => !ofWorkspaces.includes(name))).toEqual([]);
});

it('every table of ClickHouse is in the archive, or left out for a reason', async ({ stores }) => {
  const result = await stores.clickhouse.query({ query: 'SHOW TABLES', format: 'JSONEachRow' });
  const tables = (await result.json<{ name: string }>()).map(({ name }) => name);
  const listed = [...ARCHIVED_EVENTS.map(({ name }) => name), ...Object.keys(EVENTS_LEFT_OUT)];
  expect(listed.toSorted()).toEqual(tables.toSorted());
});

it('columns that are left out or changed are columns of the table', async ({ stores }) => {
  for (const { name, without = {}, written = {}, read = {}, numbers = {} } of ARCHIVED_TABLES) {
    const { rows } = await stores.pool.query<{ name: string }>(
      'SELECT column_name AS name FROM information_schema.columns WHERE table_name = $1',
      [name],
    );
    const columns = rows.map((row) => row.name);
    for (const column of Object.keys({ ...without, ...written, ...read, ...numbers })) {
      expect(columns, name).toContain(column);
    }
  }
});

it('numbers that the database gives, and columns that refer to them, are moved', async ({ stores }) => {
  const { rows: given } = await stores.pool.query<{ table: string; column: string }>(
    `SELECT c.relname AS "table", a.attname AS "column" FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE a.attidentity <> '' AND c.relname = ANY ($1)`,
    [NAMES],
  );
  expect(Object.fromEntries(given.map(({ table, column }) => [table, column]))).toEqual(NUMBERED);
  const { rows: referring } = await stores.pool.query<{ table: string; column: string; to: string }>(
    `SELECT c.relname AS "table", a.attname AS "column", f.relname AS "to"
     FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class f ON f.oid = k.confrelid
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (k.conkey)
     WHERE k.contype = 'f' AND c.relname = ANY ($1) AND f.relname = ANY ($2) AND a.atttypid = 'bigint'::regtype`,
    [NAMES, Object.keys(NUMBERED)],
  );
  for (const { table, column, to } of referring) {
    const archived = ARCHIVED_TABLES.find(({ name }) => name === table);
    expect(archived?.numbers?.[column], `${table}.${column}`).toBe(to);
  }
  expect(referring.length).toBeGreaterThan(8);
});

it('each table comes after those that it refers to', async ({ stores }) => {
  const { rows } = await stores.pool.query<{ table: string; to: string }>(
    `SELECT DISTINCT conrelid::regclass::text AS "table", confrelid::regclass::text AS "to" FROM pg_constraint
     WHERE contype = 'f' AND conrelid::regclass::text = ANY ($1)`,
    [NAMES],
  );
  const left = rows.filter(({ table, to }) => to !== table && NAMES.indexOf(to) > NAMES.indexOf(table));
  expect(left).toEqual([]);
  const missing = rows.filter(({ to }) => !NAMES.includes(to) && to !== 'partners');
  expect(missing).toEqual([]);
  const own = rows.filter(({ table, to }) => to === table).map(({ table }) => table);
  const marked = ARCHIVED_TABLES.filter(({ refersToItself }) => refersToItself).map(({ name }) => name);
  expect(marked.toSorted()).toEqual(own.toSorted());
});
