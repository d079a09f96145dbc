import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createPool } from '../sql/database/pool.ts';
import { storesOf } from './kafka/deployment.ts';
import { follow, makeLink, untilClicks } from './support/first-click.ts';
import { hoplog } from './support/hoplog.ts';
import { type Service, startService } from './support/service.ts';
import { until } from './support/until.ts';

const EMAIL = 'ann.erasable@example.com';
const USER = 'user-of-ann-erasable';

let dataDir: string;
let service: Service | null = null;
beforeEach(() => {
  dataDir = join(mkdtempSync(join(tmpdir(), 'hoplog-erased-')), 'data');
});
afterEach(async () => {
  await service?.stop();
  service = null;
  rmSync(join(dataDir, '..'), { recursive: true, force: true });
});

/** Returns the files below a folder of DATA_DIR whose bytes have the text. */
const filesWith = (text: string, folder: string): string[] =>
  filesBelow(join(dataDir, folder)).filter((path) =>
    unlessRemoved(() => readFileSync(path), Buffer.alloc(0)).includes(text),
  );

/** Folder by folder: ClickHouse renames and removes those of its parts. */
function filesBelow(folder: string): string[] {
  const entries = unlessRemoved(() => readdirSync(folder, { withFileTypes: true }), []);
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}

/** Returns what a read returns, or `removed` where the path was removed meanwhile. */
function unlessRemoved<T>(read: () => T, removed: T): T {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return removed;
    throw error;
  }
}

/** Runs a statement on PostgreSQL of the running service. */
async function rowsOf<Row>(statement: string): Promise<Row[]> {
  const pool = createPool(storesOf(dataDir).databaseUrl, { max: 1 });
  try {
    return (await pool.query(statement)).rows as Row[];
  } finally {
    await pool.end();
  }
}

test('an erased email and its user are in no file of ClickHouse, and in none of the journals after its segments are closed', async () => {
  service = await startService({ dataDir });
  const key = service.demo?.secret_key ?? '';
  const call = async (path: string, body: object) => {
    const response = await fetch(`${service?.api_url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status, await response.text()).toBeLessThan(300);
  };
  const link = await makeLink(service, key, 'erased');
  const { location } = await follow(link);
  const visitor = new URL(location).searchParams.get('_vid') ?? '';
  await untilClicks(service, key, link, 1);
  await call('/track/identify', { visitor_id: visitor, email: EMAIL, external_user_id: USER });
  // The order of a buyer without a visitor id, which a mutation must find.
  await call('/track/order', { order_id: 'o-1', amount: 10, email: EMAIL });
  await call('/track/order', { order_id: 'o-2', amount: 10, external_user_id: USER });
  const isStored = () => [...filesWith(EMAIL, 'clickhouse'), ...filesWith(USER, 'clickhouse')];
  await until('the email in ClickHouse', isStored, (found) => found.length > 1);
  // Each order of its own, and maybe later than the identify.
  const orders = () => rowsOf<{ stored: number }>('SELECT count(*) AS stored FROM orders');
  await until('both orders', orders, ([row]) => row?.stored === 2);
  const published = () => rowsOf<{ left: number }>('SELECT count(*) AS left FROM order_publications');
  await until('the orders in ClickHouse', published, ([row]) => row?.left === 0);

  const person = ['person', 'delete', '--workspace', 'demo', '--email', EMAIL];
  expect(await hoplog(person, { DATA_DIR: dataDir })).toMatchObject({ status: 0 });
  const open = () => rowsOf<{ left: number }>('SELECT count(*) AS left FROM erasures WHERE done_at IS NULL');
  await until('the end of the erasure', open, ([row]) => row?.left === 0);
  await expect.poll(isStored).toEqual([]);
  expect(filesWith(EMAIL, 'ingest')).toEqual([]);

  // A start closes the segments too; core/event-log/journal/writer.test.ts shows that a day does.
  await service.stop();
  service = await startService({ dataDir });
  await expect.poll(() => [...filesWith(EMAIL, 'journal'), ...filesWith(USER, 'journal')]).toEqual([]);
});
