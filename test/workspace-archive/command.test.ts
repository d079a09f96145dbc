import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ArchiveImportResult } from '../../cli/archive/import-workspace.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import { operator } from '../support/hoplog.ts';
import { makeLink } from '../support/ingest.ts';
import { NIGHTLY } from '../support/nightly.ts';
import { PROGRAM_ENV, programArguments } from '../support/program.ts';
import { type TestStores, testStores } from '../support/stores.ts';
import { archives, contentOf } from './support.ts';

const CLICKS = NIGHTLY ? 1_000_000 : 200_000;

let old: TestStores;
let other: TestStores;
const files = archives();

beforeAll(async () => {
  [old, other] = await Promise.all([testStores(), testStores()]);
  await Promise.all([old.createTables(), other.createTables()]);
});
afterAll(async () => {
  files.remove();
  await Promise.all([old.close(), other.close()]);
});

async function clicksIn({ clickhouse }: TestStores): Promise<{ clicks: number; ids: number }> {
  const result = await clickhouse.query({
    query: 'SELECT count() AS clicks, uniqExact(ts) AS ids FROM clicks',
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ clicks: string; ids: string }>();
  return { clicks: Number(row?.clicks), ids: Number(row?.ids) };
}

test(`a workspace with ${CLICKS} clicks arrives whole, though the command is killed in the middle`, async () => {
  const { id, slug } = await createWorkspace(old.pool, { name: 'Large', plan: 'unlimited' });
  const link = await makeLink(old.pool, id, 'https://shop.example/', { slug: 'large' });
  await old.clickhouse.command({
    query: `INSERT INTO clicks (workspace_id, ts, link_id, visitor_id, channel, sequence, referer, country)
      SELECT {workspace:UUID}, toDateTime64('2026-06-01 00:00:00', 9, 'UTC') + toIntervalMillisecond(number * ${Math.floor(7_000_000_000 / CLICKS)}),
        {link:UUID}, generateUUIDv4(), 'other', number, concat('https://news.example/', toString(number % 1000)), 'DE'
      FROM numbers(${CLICKS})`,
    query_params: { workspace: id, link: link.id },
  });
  const path = files.unused();
  const [from, to] = [operator(old), operator(other)];
  const exported = await from.json<{ tables: Record<string, number> }>(
    'export',
    'workspace',
    '--workspace',
    slug,
    path,
  );
  expect(exported.tables).toMatchObject({ workspaces: 1, links: 1, clicks: CLICKS });
  await from.refused(1, /exists: choose another name/, 'export', 'workspace', '--workspace', slug, path);

  const args = ['import', 'workspace', path];
  const child = spawn(process.execPath, [...programArguments('hoplog'), ...args], {
    env: { ...PROGRAM_ENV, HOME: process.env.HOME, ...to.env },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  await expect.poll(async () => (await clicksIn(other)).clicks, { interval: 20 }).toBeGreaterThan(0);
  child.kill('SIGKILL');
  expect(await ended).toEqual([null, 'SIGKILL']);
  expect((await other.pool.query('SELECT FROM workspaces')).rowCount).toBe(0);

  const dry = await to.json<ArchiveImportResult>(...args, '--dry-run');
  const made = await to.json<ArchiveImportResult>(...args);
  expect(dry).toEqual({ ...made, dry_run: true });
  expect(made).toMatchObject({
    workspace: { id, slug },
    renamed: [],
    unproven: [],
    tables: { clicks: CLICKS },
  });
  expect(await clicksIn(other)).toEqual({ clicks: CLICKS, ids: CLICKS });
  expect(await to.json('ledger', 'verify')).toMatchObject({ ok: true });

  const again = await to.run(...args);
  expect(again).toMatchObject({ status: 0, stdout: expect.stringContaining('nothing was added') });
  const second = files.unused();
  await to.json('export', 'workspace', '--workspace', slug, second);
  expect(await contentOf(second)).toEqual(await contentOf(path));
  expect((await to.run('import', 'workspace', second)).stderr).toContain(
    'was imported from another archive already',
  );
}, 300_000);
