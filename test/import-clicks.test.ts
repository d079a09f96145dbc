import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ClickImportResult } from '../api/click-imports/result.ts';
import { createWorkspace } from '../sql/workspaces/workspaces.ts';
import { operator } from './support/hoplog.ts';
import { makeLink } from './support/ingest.ts';
import { NIGHTLY } from './support/nightly.ts';
import { PROGRAM_ENV, programArguments } from './support/program.ts';
import { type TestStores, testStores } from './support/stores.ts';

const VISITS = NIGHTLY ? 100_000 : 20_000;
/** Links that the visits are on. */
const SLUGS = ['spring', 'summer', 'autumn'];

let stores: TestStores;
let cli: ReturnType<typeof operator>;
let directory: string;

beforeAll(async () => {
  stores = await testStores();
  await stores.createTables();
  cli = operator(stores);
  directory = mkdtempSync(join(tmpdir(), 'hoplog-clicks-'));
});
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await stores.close();
});

async function workspaceWithLinks(): Promise<string> {
  const { id } = await createWorkspace(stores.pool, { name: 'Moved', plan: 'unlimited' });
  for (const slug of SLUGS)
    await makeLink(stores.pool, id, 'https://shop.example/', { slug: `${slug}-${id.slice(-6)}` });
  return id;
}

/** Writes visits as Shlink's API has them, page by page, newest first, over two years. */
async function shlinkVisits(workspaceId: string): Promise<string> {
  const path = join(directory, 'visits.json');
  const file = createWriteStream(path);
  const newest = Date.parse('2026-06-30T22:00:00Z');
  for (let page = 0; page < VISITS / 1_000; page++) {
    const data = Array.from({ length: 1_000 }, (_, index) => {
      const n = page * 1_000 + index;
      return {
        referer: n % 3 === 0 ? 'https://news.example/a' : '',
        // Three visits share a second, and two of them are equal.
        date: new Date(newest - Math.floor(n / 3) * 1_890_000).toISOString().replace('.000Z', '+00:00'),
        userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
        visitLocation: {
          cityName: 'Bonn',
          countryCode: 'DE',
          countryName: 'Germany',
          regionName: 'North Rhine-Westphalia',
        },
        potentialBot: n % 50 === 0,
        visitedUrl: `https://hop.example/${SLUGS[Math.floor(n / 3) % 3]}-${workspaceId.slice(-6)}`,
      };
    });
    const pagination = {
      currentPage: page + 1,
      pagesCount: VISITS / 1_000,
      itemsPerPage: 1_000,
      totalItems: VISITS,
    };
    file.write(`${JSON.stringify({ visits: { data, pagination } })}\n`);
  }
  file.end();
  await once(file, 'finish');
  return path;
}

async function stored(workspaceId: string): Promise<{ clicks: number; ids: number }> {
  const result = await stores.clickhouse.query({
    query: `SELECT count() AS clicks, uniqExact(ts) AS ids FROM clicks WHERE workspace_id = {workspace:UUID} AND imported`,
    query_params: { workspace: workspaceId },
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ clicks: string; ids: string }>();
  return { clicks: Number(row?.clicks), ids: Number(row?.ids) };
}

test(`${VISITS} visits of Shlink arrive once each, though the command is killed in the middle, and leave with undo`, async () => {
  const workspaceId = await workspaceWithLinks();
  const file = await shlinkVisits(workspaceId);
  const args = ['import', 'clicks', '--workspace', workspaceId, '--from', 'shlink', file];

  const child = spawn(process.execPath, [...programArguments('hoplog'), ...args], {
    env: { ...PROGRAM_ENV, HOME: process.env.HOME, ...cli.env },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  await expect
    .poll(async () => (await stored(workspaceId)).clicks, { timeout: 60_000, interval: 50 })
    .toBeGreaterThan(0);
  child.kill('SIGKILL');
  expect(await ended).toEqual([null, 'SIGKILL']);
  const before = (await stored(workspaceId)).clicks;

  const second = await cli.json<ClickImportResult>(...args);
  expect(second).toMatchObject({ read: VISITS, failed: 0, errors: [] });
  expect(second.created + second.skipped).toBe(VISITS);
  expect(second.skipped).toBeGreaterThanOrEqual(before);
  expect(await stored(workspaceId)).toEqual({ clicks: VISITS, ids: VISITS });

  const third = await cli.json<ClickImportResult>(...args);
  expect(third).toMatchObject({ read: VISITS, created: 0, skipped: VISITS });

  const { rows } = await stores.pool.query<{ id: string }>(
    'SELECT id FROM click_imports WHERE workspace_id = $1',
    [workspaceId],
  );
  for (const { id } of rows) await cli.json('import', 'undo', id);
  expect(await stored(workspaceId)).toEqual({ clicks: 0, ids: 0 });
}, 240_000);

test('a file of another service, and an import that is not there, are errors in words', async () => {
  const workspaceId = await workspaceWithLinks();
  const path = join(directory, 'other.csv');
  writeFileSync(path, 'a,b\n1,2\n');
  await cli.refused(
    1,
    /not an export of YOURLS: it has no `click_time` with `shorturl`/,
    ...['import', 'clicks', '--workspace', workspaceId, '--from', 'yourls', path],
  );
  await cli.refused(1, /there is no import/, 'import', 'undo', workspaceId);
  await cli.refused(2, /'kaputt' is invalid.*must be the import_id/s, 'import', 'undo', 'kaputt');
});

test('orders are imported beside clicks, or alone, and leave with them', async () => {
  const workspaceId = await workspaceWithLinks();
  const slug = `spring-${workspaceId.slice(-6)}`;
  const [clicks, orders] = [join(directory, 'clicks.csv'), join(directory, 'orders.csv')];
  writeFileSync(clicks, `ts,slug,visitor\n2024-03-01,${slug},anna\n`);
  writeFileSync(
    orders,
    `ts,order_id,amount,visitor,slug\n2024-03-02,o-1,19.99,anna,\n2024-03-02,o-2,x,,${slug}\n`,
  );
  const args = ['import', 'clicks', '--workspace', workspaceId, '--from', 'csv'];
  const dry = await cli.json<ClickImportResult>(...args, clicks, '--orders', orders, '--dry-run');
  const made = await cli.json<ClickImportResult>(...args, clicks, '--orders', orders);
  const counts = { read: 1, created: 1, clicks: 1, orders: 1 };
  const ofOrders = { read: 2, created: 1, skipped: 0, failed: 1, errors: [{ line: 3, field: 'amount' }] };
  expect(made).toMatchObject({ ...counts, orders_file: ofOrders });
  expect(dry).toMatchObject({ ...counts, orders_file: ofOrders, dry_run: true });
  expect(await cli.json('import', 'undo', made.import_id)).toMatchObject({
    clicks: 1,
    orders: 1,
    complete: true,
  });
  const alone = await cli.run(...args, '--orders', orders);
  expect(alone.stdout).toMatch(/orders read +created +skipped +errors\n2 +1 +0 +1\n/);
  await cli.refused(2, /give a file of clicks, or --orders/, ...args);
});
