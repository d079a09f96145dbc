import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  isCurrent,
  makeLink,
  makeWorkspace,
  startTestIngest,
  type TestIngest,
} from '../../test/support/ingest.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { visit } from '../../test/support/visitors.ts';

/** The shortest limit of ingest's wait for PostgreSQL, for a connection; after it, a start serves what it has. */
const LIMIT_MS = 2_000;

let stores: TestStores;
let workspaceId: string;

beforeAll(async () => {
  stores = await testStores();
  workspaceId = (await makeWorkspace(stores.pool)).id;
});
afterAll(() => stores?.close());

/** Whether a query waits for a lock in this test's database. */
async function isHeldUp(): Promise<boolean> {
  const { rowCount } = await stores.pool.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return (rowCount ?? 0) > 0;
}

const statusOf = async ({ url }: TestIngest, slug: string) => (await visit(`${url}/${slug}`)).status;

for (const [table, env] of [
  ['in memory', {}],
  ['on disk', { INGEST_LINKS_IN_MEMORY: '10' }],
] as const) {
  test(`a table ${table} applies PostgreSQL’s changes before a start accepts visitors`, async () => {
    const { pool, databaseUrl } = stores;
    const [kept, deleted] = [
      await makeLink(pool, workspaceId, 'https://example.com/kept'),
      await makeLink(pool, workspaceId, 'https://example.com/deleted'),
    ];
    const first = await startTestIngest({ databaseUrl, pool, env });
    await expect.poll(() => isCurrent(first)).toBe(true);
    expect(await statusOf(first, deleted.slug)).toBe(302);
    await first.close();
    await pool.query('UPDATE links SET deleted_at = now() WHERE id = $1', [deleted.id]);

    const holder = await pool.connect();
    await holder.query('BEGIN; LOCK TABLE link_changes IN ACCESS EXCLUSIVE MODE');
    const begun = performance.now();
    const starting = startTestIngest({ databaseUrl, pool, env, dataDir: first.dataDir });
    await expect.poll(isHeldUp).toBe(true);
    const early = await Promise.race([starting, delay(300)]);
    const answeredEarly = early && (await statusOf(early, deleted.slug));
    await holder.query('COMMIT');
    holder.release();
    const second = await starting;
    const isWithinLimit = performance.now() - begun < LIMIT_MS;
    const answers = [await statusOf(second, deleted.slug), await statusOf(second, kept.slug)];
    await expect.poll(() => statusOf(second, deleted.slug)).toBe(404);
    await second.close();
    await second.remove();
    // A machine too slow for the limit shows only that the change arrives.
    if (isWithinLimit) expect([answeredEarly, ...answers]).toEqual([undefined, 404, 302]);
  });
}
