import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { bytesToUuid } from '../../core/ids.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { createPool } from '../../sql/database/pool.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { type DailyVisitors, openDailyVisitors } from './daily-salts.ts';

const DAY = 86_400_000;
const EVENING = Date.UTC(2026, 10, 25, 23, 59, 59);
const SHOP = Buffer.alloc(16, 1);
const ADDRESS = Buffer.alloc(16, 2);

let stores: TestStores;
let directory: string;
let now: number;
beforeAll(async () => {
  stores = await testStores();
  directory = mkdtempSync(join(tmpdir(), 'hoplog-salts-'));
});
beforeEach(async () => {
  now = EVENING;
  await stores.pool.query('TRUNCATE visitor_salts');
});
afterAll(async () => {
  await stores?.close();
  rmSync(directory, { recursive: true, force: true });
});

let files = 0;
const newPath = () => join(directory, `salts-${files++}`);

async function openAt(path: string, pool = stores.pool): Promise<DailyVisitors> {
  const visitors = await openDailyVisitors({ pool, path, log: silentLogger(), clock: () => now });
  onTestFinished(() => visitors.close());
  return visitors;
}

function downPool() {
  const pool = createPool('postgresql://nobody@127.0.0.1:1/none', {
    max: 1,
    connectTimeoutMs: 500,
    name: 'down',
  });
  onTestFinished(() => pool.end());
  return pool;
}

const idOf = ({ visitorOf }: DailyVisitors, workspace = SHOP, address = ADDRESS, agent = 'Firefox') =>
  bytesToUuid(visitorOf(workspace, address, agent));

const saltsIn = (path: string) =>
  readFileSync(path, 'latin1')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' ') as [string, string]);

async function saltsInPostgres(): Promise<[string, string][]> {
  const { rows } = await stores.pool.query<{ day: string; salt: Buffer }>(
    'SELECT day::text, salt FROM visitor_salts ORDER BY day',
  );
  return rows.map(({ day, salt }) => [day, salt.toString('hex')]);
}

test('a visitor is the same within a day, in every process, and another one in each workspace and with another agent or address', async () => {
  const [one, two] = [await openAt(newPath()), await openAt(newPath())];
  const id = idOf(one);
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab]/);
  expect(idOf(two)).toBe(id);
  const others = [
    idOf(one, Buffer.alloc(16, 9)),
    idOf(one, SHOP, Buffer.alloc(16, 9)),
    idOf(one, SHOP, ADDRESS, 'Safari'),
  ];
  expect(new Set([id, ...others]).size).toBe(4);
});

test('at midnight the visitor is another one, the same in every process', async () => {
  const [one, two] = [await openAt(newPath()), await openAt(newPath())];
  const before = idOf(one);
  now += 1_000;
  expect(idOf(one)).not.toBe(before);
  expect(idOf(two)).toBe(idOf(one));
});

test('after its day a salt is in no file: not in ours, not in PostgreSQL’s table, not in its write-ahead log', async () => {
  const path = newPath();
  const visitors = await openAt(path);
  const [[day, salt] = ['', '']] = saltsIn(path);
  expect(day).toBe('2026-11-25');
  expect(await saltsInPostgres()).toEqual(saltsIn(path));
  const { rows } = await stores.admin.query<{ file: string }>(
    "SELECT current_setting('data_directory') || '/' || pg_relation_filepath('visitor_salts') AS file",
  );

  now += 1_000;
  idOf(visitors);
  await expect.poll(() => saltsIn(path).map(([one]) => one)).toEqual(['2026-11-26', '2026-11-27']);
  await expect.poll(saltsInPostgres).toEqual(saltsIn(path));
  await stores.admin.query('CHECKPOINT');
  expect(readFileSync(path, 'latin1')).not.toContain(salt);
  const formerFile = rows[0]?.file ?? '';
  expect(existsSync(formerFile) ? statSync(formerFile).size : 0).toBe(0);
  const isLogged = async (bytes: Buffer) => {
    // Writes what is in memory.
    await stores.admin.query('SELECT pg_switch_wal()');
    const found = await stores.admin.query<{ logged: boolean }>(
      `SELECT bool_or(position($1::bytea IN pg_read_binary_file('pg_wal/' || name, true)) > 0) AS logged
       FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]{24}$'`,
      [bytes],
    );
    return found.rows[0]?.logged;
  };
  expect(await isLogged(Buffer.from(salt, 'hex'))).toBe(false);
  // The control shows that the log does contain the rows of an ordinary table.
  await stores.admin.query('CREATE TABLE control (salt bytea)');
  // A checkpoint of another test may remove the file that has it.
  await expect
    .poll(async () => {
      const control = randomBytes(32);
      await stores.admin.query('INSERT INTO control VALUES ($1)', [control]);
      return isLogged(control);
    })
    .toBe(true);
});

test('with PostgreSQL down, a start has the salts of today and tomorrow from the file', async () => {
  const path = newPath();
  const before = await openAt(path);
  const today = idOf(before);
  now += 1_000;
  const tomorrow = idOf(before);
  now -= 1_000;
  await before.close();
  const again = await openAt(path, downPool());
  expect(idOf(again)).toBe(today);
  now += 1_000;
  expect(idOf(again)).toBe(tomorrow);
});

test('with PostgreSQL down for days, visitors have ids, and yesterday’s salt goes', async () => {
  const path = newPath();
  const visitors = await openAt(path, downPool());
  const first = idOf(visitors);
  now += 3 * DAY;
  expect(idOf(visitors)).not.toBe(first);
  await expect.poll(() => saltsIn(path).map(([day]) => day)).toEqual(['2026-11-28', '2026-11-29']);
});
