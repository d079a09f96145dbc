import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEmbeddedPostgres } from '../cli/embedded/postgres.ts';
import type { EmbeddedStore } from '../cli/embedded/store.ts';
import { silentLogger } from '../core/tier/log.ts';
import { migrate } from '../sql/database/migrate.ts';
import { createPool, type Pool } from '../sql/database/pool.ts';
import {
  isCurrent,
  makeLink,
  makeWorkspace,
  slugsHeld,
  startTestIngest,
  type TestIngest,
} from '../test/support/ingest.ts';
import { startIngestProcess } from '../test/support/ingest-process.ts';
import { keepConnection } from '../test/support/kept-connection.ts';
import { until } from '../test/support/until.ts';
import { visit } from '../test/support/visitors.ts';

/** PostgreSQL of its own, which is stopped. ClickHouse and Kafka are not part of a redirect. */
let storeDir: string;
let postgres: EmbeddedStore;
let pool: Pool;
let ingest: TestIngest;
let dataDir: string;
let workspace: Awaited<ReturnType<typeof makeWorkspace>>;
let known: { id: string; slug: string };
let limited: { id: string; slug: string };

const options = () => ({ dataDir: storeDir, log: silentLogger(), durable: false });

async function visitStatus(slug: string): Promise<number> {
  return (await visit(`${ingest.url}/${slug}`)).status;
}

beforeAll(async () => {
  storeDir = await mkdtemp(join(tmpdir(), 'hoplog-outage-'));
  postgres = await startEmbeddedPostgres(options());
  pool = createPool(postgres.url);
  await migrate(pool);
  workspace = await makeWorkspace(pool);
  known = await makeLink(pool, workspace.id, 'https://example.com/known');
  limited = await makeLink(pool, workspace.id, 'https://example.com/limited', { max_clicks: 10 });
  ingest = await startTestIngest({ databaseUrl: postgres.url, pool });
  dataDir = ingest.dataDir;
  await until('ingest is ready', ready, ({ status }) => status === 200);
});
afterAll(async () => {
  await ingest?.close();
  await pool?.end();
  await postgres?.stop();
  for (const dir of [storeDir, dataDir]) if (dir) await rm(dir, { recursive: true, force: true });
});

async function ready() {
  const { status } = await visit(`${ingest.url}/health/ready`);
  return { status, body: (await ingest.details()).body };
}

async function collect(key: string): Promise<number> {
  const body = JSON.stringify({ key, type: 'identify', email: 'a@example.com' });
  return (await visit(`${ingest.url}/collect`, { method: 'POST', body })).status;
}

async function expectOutageRules(): Promise<void> {
  expect((await visit(`${ingest.url}/${known.slug}`)).status).toBe(302);
  const unknown = await visit(`${ingest.url}/not-known`);
  expect([unknown.status, unknown.headers.get('retry-after')]).toEqual([503, '1']);
  const kept = await keepConnection(ingest.url);
  expect((await kept.ask('HEAD', '/not-known')).status).toBe(503);
  expect((await kept.ask('GET', `/${known.slug}`)).status).toBe(302);
  kept.close();
  expect((await visit(`${ingest.url}/${limited.slug}`)).status).toBe(503);
  expect(await collect(workspace.publishable.token)).toBe(202);
  expect(await collect(`pk_live_00000000_${'0'.repeat(48)}`)).toBe(503);
  expect((await visit(`${ingest.url}/health/live`)).status).toBe(200);
  expect((await ready()).status).toBe(200);
}

test('an unknown slug is 404 while PostgreSQL is up, and 503 once it is down', async () => {
  expect((await visit(`${ingest.url}/not-known`)).status).toBe(404);
  expect((await visit(`${ingest.url}/not-known`)).status).toBe(404);
  await pool.end();
  await postgres.stop();
  await until(
    '503 for unknown links',
    () => visitStatus('not-known'),
    (status) => status === 503,
  );
});

test('with PostgreSQL down known links redirect, unknown ones are 503, known keys collect', async () => {
  await expectOutageRules();
});

test('the same holds after a restart of ingest, and readiness says that PostgreSQL is down', async () => {
  await ingest.close();
  ingest = await startTestIngest({ databaseUrl: postgres.url, pool, dataDir });
  await expectOutageRules();
  expect((await ready()).body).toMatchObject({ status: 'ready', postgres: 'down' });
});

test('the files that hold secrets and links are for this user only', async () => {
  const dir = join(dataDir, 'ingest', 'ingest-0');
  const names = await readdir(dir);
  expect(names).toContain('secrets.json');
  for (const name of names) expect([name, (await stat(join(dir, name))).mode & 0o777]).toEqual([name, 0o600]);
});

test('when PostgreSQL is back the table has the changes made meanwhile', async () => {
  const port = postgres.port;
  postgres = await startEmbeddedPostgres({ ...options(), port });
  pool = createPool(postgres.url);
  const fresh = await makeLink(pool, workspace.id, 'https://example.com/fresh', { slug: 'not-known' });
  await pool.query(
    `UPDATE destinations SET destination_url = 'https://example.com/moved' WHERE id =
    (SELECT destination_id FROM links WHERE id = $1)`,
    [known.id],
  );
  await expect.poll(() => visitStatus(fresh.slug)).toBe(302);
  const path = async () => (await visit(`${ingest.url}/${known.slug}`)).location?.pathname;
  await expect.poll(path).toBe('/moved');
  await expect.poll(() => visitStatus(limited.slug)).toBe(302);
  await expect.poll(ready).toMatchObject({ body: { postgres: 'up' } });
});

test('a link of a moment ago survives kill -9 with PostgreSQL down; a torn file loses that link alone', async () => {
  const env = { DATABASE_URL: postgres.url, DATA_DIR: dataDir };
  await ingest.close();
  const victim = await startIngestProcess(env);
  await expect.poll(() => isCurrent(victim)).toBe(true);
  const before = await slugsHeld(victim);
  const late = await makeLink(pool, workspace.id, 'https://example.com/late');
  // A change reaches memory after it was written to the file.
  await expect.poll(() => slugsHeld(victim)).toBe(before + 1);
  await victim.kill();
  await pool.end();
  await postgres.stop();
  const dir = join(dataDir, 'ingest', 'ingest-0');
  const names = (await readdir(dir)).filter((name) => name.startsWith('links.sqlite'));
  const left = await Promise.all(
    names.map(async (name) => ({ name, bytes: await readFile(join(dir, name)) })),
  );
  const survivor = await startIngestProcess(env);
  expect((await visit(`${survivor.url}/${late.slug}`)).status).toBe(302);
  expect(await survivor.stop()).toBe(0);
  for (const name of await readdir(dir)) if (name.startsWith('links.sqlite')) await rm(join(dir, name));
  for (const { name, bytes } of left) {
    const torn = name.endsWith('-wal') ? bytes.indexOf(late.slug) : bytes.length;
    expect(torn).toBeGreaterThanOrEqual(0);
    await writeFile(join(dir, name), bytes.subarray(0, torn));
  }
  const again = await startIngestProcess(env);
  expect((await visit(`${again.url}/${known.slug}`)).status).toBe(302);
  expect((await visit(`${again.url}/${late.slug}`)).status).toBe(503);
  expect(await again.stop()).toBe(0);
  postgres = await startEmbeddedPostgres(options());
  pool = createPool(postgres.url);
});
