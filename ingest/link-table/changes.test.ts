import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { inTransaction, type Pool } from '../../sql/database/pool.ts';
import { createKey } from '../../sql/workspaces/keys.ts';
import { heldTransaction } from '../../test/support/held-transaction.ts';
import {
  ageLinksFile,
  makeLink,
  makeWorkspace,
  slugsHeld,
  startTestIngest,
  type TestIngest,
} from '../../test/support/ingest.ts';
import { quietTable } from '../../test/support/quiet-table.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { until } from '../../test/support/until.ts';
import { visit } from '../../test/support/visitors.ts';
import type { SyncPoint } from './loader.ts';
import { policySlug } from './workspace-policies.ts';

let stores: TestStores;
let ingest: TestIngest;
let workspaceId: string;

beforeAll(async () => {
  stores = await testStores();
  workspaceId = (await makeWorkspace(stores.pool)).id;
  ingest = await startTestIngest(stores);
  await until('an empty link table', slugs, (count) => count === 0);
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
  await stores?.close();
});

const slugs = () => slugsHeld(ingest);
const statusOf = async (slug: string) => (await visit(`${ingest.url}/${slug}`)).status;
const pathOf = async (slug: string) => (await visit(`${ingest.url}/${slug}`)).location?.pathname;
test('a new link is found at once by a lookup, and arrives in the table without one', async () => {
  const before = await slugs();
  const { slug } = await makeLink(stores.pool, workspaceId, 'https://example.com/');
  expect(await statusOf(slug)).toBe(302);
  await expect.poll(slugs).toBe(before + 1);
  await makeLink(stores.pool, workspaceId, 'https://example.com/');
  await expect.poll(slugs).toBe(before + 2);
});

test('a cached absence ends with the change that creates the link', async () => {
  expect([await statusOf('Not-yet'), await statusOf('Not-yet')]).toEqual([404, 404]);
  await makeLink(stores.pool, workspaceId, 'https://example.com/', { slug: 'Not-yet' });
  await expect.poll(() => statusOf('Not-yet')).toBe(302);
});

test('changes of a link, of its campaign and of its slug arrive', async () => {
  const { id, slug, destinationId } = await makeLink(stores.pool, workspaceId, 'https://example.com/one');
  expect(await pathOf(slug)).toBe('/one');
  await stores.pool.query(
    `UPDATE destinations SET destination_url = 'https://example.com/two' WHERE id = $1`,
    [destinationId],
  );
  await expect.poll(() => pathOf(slug)).toBe('/two');
  await stores.pool.query(`UPDATE links SET slug = 'renamed' WHERE id = $1`, [id]);
  await expect.poll(() => statusOf(slug)).toBe(404);
  expect(await pathOf('renamed')).toBe('/two');
  await stores.pool.query('UPDATE links SET deleted_at = now() WHERE id = $1', [id]);
  await expect.poll(() => statusOf('renamed')).toBe(404);
});

test('a long transaction delays no other change, and its own arrives when it commits', async () => {
  const slow = await makeLink(stores.pool, workspaceId, 'https://example.com/one');
  const fast = await makeLink(stores.pool, workspaceId, 'https://example.com/one');
  expect([await pathOf(slow.slug), await pathOf(fast.slug)]).toEqual(['/one', '/one']);
  const move = 'UPDATE destinations SET destination_url = $2 WHERE id = $1';
  await heldTransaction(stores.pool, async (tx) => {
    await tx.query(move, [slow.destinationId, 'https://example.com/slow']);
    await stores.pool.query(move, [fast.destinationId, 'https://example.com/fast']);
    await expect.poll(() => pathOf(fast.slug)).toBe('/fast');
    expect(await pathOf(slow.slug)).toBe('/one');
  });
  await expect.poll(() => pathOf(slow.slug)).toBe('/slow');
});

test('one transaction may change more than fits in a page of changes', async () => {
  const before = await slugs();
  const count = 4_500;
  await stores.pool.query(
    `WITH made AS (INSERT INTO destinations (id, workspace_id, name, destination_url)
       VALUES ($1, $2, 'Many', 'https://example.com/many') RETURNING id)
     INSERT INTO links (id, workspace_id, destination_id, slug, created_at, updated_at)
     SELECT gen_random_uuid(), $2, made.id, 'many-' || n, now() + n * interval '1 microsecond', now()
     FROM made, generate_series(1, $3::int) AS n`,
    [uuidv7(), workspaceId, count],
  );
  await expect.poll(slugs).toBe(before + count);
  expect(await pathOf('many-4500')).toBe('/many');
});

test('a restart after hours removes links deleted meanwhile, although the changes were deleted', async () => {
  const { id, slug } = await makeLink(stores.pool, workspaceId, 'https://example.com/');
  expect(await statusOf(slug)).toBe(302);
  await ingest.close();
  await stores.pool.query('UPDATE links SET deleted_at = now() WHERE id = $1', [id]);
  await stores.pool.query('DELETE FROM link_changes');
  ageLinksFile(ingest.dataDir);
  ingest = await startTestIngest({ ...stores, dataDir: ingest.dataDir });
  await expect.poll(() => statusOf(slug)).toBe(404);
});

test('a first start is ready before links are read: one that memory lacks is asked for', async () => {
  const { slug } = await makeLink(stores.pool, workspaceId, 'https://example.com/asked');
  const holder = await stores.pool.connect();
  await holder.query('BEGIN; LOCK TABLE destinations IN ACCESS EXCLUSIVE MODE');
  const filling = await startTestIngest(stores);
  try {
    const ready = async () => (await visit(`${filling.url}/health/ready`)).status;
    await expect.poll(ready).toBe(200);
    expect((await filling.details()).body.link_table.age_seconds).toBeNull();
    const asked = visit(`${filling.url}/${slug}`);
    await holder.query('COMMIT');
    expect((await asked).status).toBe(302);
  } finally {
    holder.release(true);
    await filling.close();
    await filling.remove();
  }
});

test('a slug of a program is in the table and is not a link', async () => {
  const before = await slugs();
  const target = uuidv7();
  await stores.pool.query(
    `INSERT INTO slugs (slug, kind, target_id, workspace_id) VALUES ('mycode', 'program', $1, $2)`,
    [target, workspaceId],
  );
  expect(await statusOf('MyCode')).toBe(404);
  await expect.poll(slugs).toBe(before + 1);
});

/** The pool, and a way to hold the response to the next query that a pattern matches. */
function withHeldAnswers(pool: Pool) {
  const holds: { question: RegExp; answered: PromiseWithResolvers<void>; release: Promise<void> }[] = [];
  async function query(...asked: Parameters<Pool['query']>) {
    const [question] = asked as unknown as [string | { text: string }];
    const text = typeof question === 'string' ? question : question.text;
    const index = holds.findIndex((hold) => hold.question.test(text));
    const [hold] = index < 0 ? [] : holds.splice(index, 1);
    const answer = await pool.query(...asked);
    hold?.answered.resolve();
    await hold?.release;
    return answer;
  }
  return {
    pool: new Proxy(pool, {
      get(target, name) {
        if (name === 'query') return query;
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }),
    /** `answered`: PostgreSQL has responded, and the response is held. */
    hold(question: RegExp) {
      const [answered, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      holds.push({ question, answered, release: release.promise });
      return { answered: answered.promise, release: release.resolve };
    },
  };
}

test.each([
  ['a change', true],
  ['the first load', false],
])('a response from before %s never restores what that removed', async (_, syncStatus) => {
  const { id, slug } = await makeLink(stores.pool, workspaceId, 'https://example.com/');
  const { key } = await createKey(stores.pool, { workspaceId, kind: 'publishable', label: '' });
  const { pool, hold } = withHeldAnswers(stores.pool);
  const { table, loader, resolver } = quietTable(pool);
  const follow = async () => {
    loader.start();
    await expect.poll(loader.loaded).toBe(true);
  };
  if (syncStatus) await follow();

  const miss = hold(/slug = wanted\.slug/);
  const asked = resolver.resolve(slug).catch(() => null);
  await miss.answered;
  // Links are read before keys, so the link is removed while the keys are still being read.
  const round = syncStatus ? hold(/FROM api_keys.*id = ANY/s) : null;
  await inTransaction(stores.pool, async (tx) => {
    await tx.query('UPDATE links SET deleted_at = now() WHERE id = $1', [id]);
    await tx.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [key.id]);
  });
  await (round?.answered ?? follow());
  expect(table.find(slug)).toBeNull();
  miss.release();
  await asked;
  await new Promise(setImmediate);
  const found = table.find(slug);
  round?.release();
  expect(found).toBeNull();
});

test('a disk that fails for longer than the changes’ retention delays no change', async () => {
  const gone = await makeLink(stores.pool, workspaceId, 'https://example.com/');
  const { table, loader } = quietTable(stores.pool, {
    settle: async () => {
      throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    },
  });
  loader.start();
  await expect.poll(loader.loaded).toBe(true);
  await expect.poll(loader.silence).toBeLessThan(5_000);

  const realNow = Date.now;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => realNow() + 7 * 3_600_000);
  onTestFinished(() => clock.mockRestore());
  // The loader takes the jump of the clock for one absence.
  await expect.poll(loader.silence).toBeLessThan(5_000);
  await expect.poll(loader.loaded).toBe(true);
  const revision = loader.revision();
  for (let n = 0; n < 5; n++) {
    const { slug } = await makeLink(stores.pool, workspaceId, 'https://example.com/');
    loader.wake();
    await expect.poll(() => table.find(slug)).not.toBeNull();
    expect(loader.loaded()).toBe(true);
  }
  await stores.pool.query('UPDATE links SET deleted_at = now() WHERE id = $1', [gone.id]);
  await expect.poll(() => table.find(gone.slug)).toBeNull();
  expect(loader.revision() - revision).toBe(6);
});

test('a server that has started again is read whole: it may have lost changes and given their transactions again', async () => {
  const { id, slug } = await makeLink(stores.pool, workspaceId, 'https://example.com/');
  let isStandby = false;
  const query = async (statement: unknown, values?: unknown[]) => {
    const result = await stores.pool.query(statement as string, values);
    if (!isStandby && result.rows[0] && 'server' in result.rows[0])
      result.rows[0].server = 'the former primary';
    return result;
  };
  const { table, loader } = quietTable({ ...stores.pool, query } as unknown as Pool);
  loader.start();
  await expect.poll(() => table.find(slug)).not.toBeNull();
  await expect.poll(loader.loaded).toBe(true);
  // A change below the loader's cursor.
  await inTransaction(stores.pool, async (tx) => {
    await tx.query('UPDATE links SET deleted_at = now() WHERE id = $1', [id]);
    await tx.query('DELETE FROM link_changes WHERE target_id = $1', [id]);
  });
  isStandby = true;
  loader.wake();
  await expect.poll(() => table.find(slug)).toBeNull();
  expect(loader.age()).toBeLessThan(60_000);
});

test('a query of the walk that fails is asked again: a suspended workspace stays so', async () => {
  const { id } = await makeWorkspace(stores.pool);
  await stores.pool.query('UPDATE workspaces SET suspended_at = now() WHERE id = $1', [id]);
  let isFirst = true;
  const query = async (statement: unknown, values?: unknown[]) => {
    const isPolicies = typeof statement === 'string' && statement.includes('suspended_at IS NOT NULL AS');
    if (isPolicies && isFirst) {
      isFirst = false;
      throw new Error('the connection was lost');
    }
    return stores.pool.query(statement as string, values);
  };
  const { table, loader } = quietTable({ ...stores.pool, query } as unknown as Pool);
  loader.start();
  await expect.poll(loader.loaded).toBe(true);
  expect(isFirst).toBe(false);
  expect(table.find(policySlug(id))).not.toBeNull();
});

test('a table with a young sync point of the same server gets the changes since then, and is not read whole', async () => {
  const points: SyncPoint[] = [];
  const former = quietTable(stores.pool, {
    settle: async (point) => {
      if (point) points.push(point);
    },
  });
  former.loader.start();
  await expect.poll(former.loader.loaded).toBe(true);
  const before = await makeLink(stores.pool, workspaceId, 'https://example.com/before');
  await expect.poll(() => former.table.find(before.slug)).not.toBeNull();
  await former.loader.stop();
  const [point] = points.slice(-1);
  if (!point) throw new Error('no sync point was written');

  const since = await makeLink(stores.pool, workspaceId, 'https://example.com/since');
  const start = async (syncPoint: SyncPoint) => {
    const { table, loader } = quietTable(stores.pool, {}, { syncPoint });
    loader.start();
    await loader.tried;
    await expect.poll(loader.loaded).toBe(true);
    expect(table.find(since.slug)).not.toBeNull();
    return table.find(before.slug) === null ? 'changes' : 'all';
  };
  // This table begins empty, so what it holds shows what was read.
  expect(await start(point)).toBe('changes');
  expect(await start({ ...point, server: 'the former primary' })).toBe('all');
  expect(await start({ ...point, at: point.at - 7 * 3_600_000 })).toBe('all');
  expect(await start({ ...point, cursor: String(BigInt(point.cursor) + 1_000_000n) })).toBe('all');
});
