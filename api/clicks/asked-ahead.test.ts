import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import type { Pool } from '../../sql/database/pool.ts';
import { advanceStreams, type RegisteredStream, registerStream } from '../../sql/event-log/streams.ts';
import { revokeKey } from '../../sql/workspaces/keys.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { deleteWithHistory, storeClicks } from '../../test/support/stored-events.ts';

type Page = { clicks: { link_id: string }[]; watermark: string };

let api: TestApi;
let shop: TestWorkspace;
let stream: RegisteredStream;

/** Questions for pages that ClickHouse was asked. */
let asked = 0;
/** What happens before ClickHouse's answer is given on, once it is there. */
let beforeItsAnswer = async () => {};
/** What happens before PostgreSQL is asked. */
let beforePostgres = async () => {};

beforeAll(async () => {
  // Time stands still for the age of a watermark, so that no slow machine makes one too old.
  vi.useFakeTimers({ toFake: ['performance'] });
  api = await testApi(({ clickhouse, pool }) => ({
    clickhouse: watched(clickhouse),
    pool: delayed(pool),
  }));
  stream = await registerStream(api.stores.pool, 'ingest-0');
  await visibleBefore(1_795_168_790_000_000); // 2026-11-20T09:59:50Z
});
beforeEach(async () => {
  beforeItsAnswer = async () => {};
  beforePostgres = async () => {};
  shop = await api.addWorkspace();
  asked = 0;
});
afterAll(async () => {
  vi.useRealTimers();
  await api.close();
});

function watched(clickhouse: ClickHouseClient): ClickHouseClient {
  const { queries } = clickhouse;
  const lines: typeof queries.lines = async (question) => {
    asked += 1;
    const found = await queries.lines(question);
    await beforeItsAnswer();
    return found;
  };
  return Object.assign(Object.create(clickhouse), { queries: { ...queries, lines } });
}

function delayed(pool: Pool): Pool {
  const query = async (...given: unknown[]) => {
    await beforePostgres();
    return Reflect.apply(pool.query, pool, given);
  };
  return Object.assign(Object.create(pool), { query });
}

/** A page behind the watermark, for which one question is enough. */
const page = (since = '2026-11-20T09:00:00Z') =>
  shop.get<Page>(`/clicks?since=${since}&before=2026-11-20T10:30:00Z`);
const visibleBefore = (micros: number) =>
  advanceStreams(api.stores.pool, [{ ...stream, highWater: 0n, visibleBefore: micros }]);

test('a page is asked for while PostgreSQL is asked for its key, when that was admitted a moment ago', async () => {
  expect((await page()).status).toBe(200);
  expect(asked).toBe(1);
  beforePostgres = () => expect.poll(() => asked).toBe(2);
  expect((await page()).status).toBe(200);
  expect(asked).toBe(2);
});

test('a key that was revoked since gets 401 with the next request, and ClickHouse is not asked for it again', async () => {
  const { body } = await shop.get<{ key: { id: string } }>('/me');
  expect((await page()).status).toBe(200);
  await revokeKey(api.stores.pool, body.key.id);
  asked = 0;
  // ClickHouse has answered by then, and the answer is not given.
  beforePostgres = () => expect.poll(() => asked).toBe(1);
  expect((await page()).status).toBe(401);
  expect((await page()).status).toBe(401);
  expect(asked).toBe(1);
});

test('a plan that was left since is 402 with the next request', async () => {
  expect((await page()).status).toBe(200);
  await api.stores.pool.query(`UPDATE workspaces SET plan_status = 'canceled' WHERE id = $1`, [
    shop.workspace.id,
  ]);
  expect((await page()).status).toBe(402);
  asked = 0;
  expect((await page()).status).toBe(402);
  expect(asked).toBe(0);
});

test('ClickHouse is not asked for a key that is not known, nor for one with another secret part', async () => {
  expect((await page()).status).toBe(200);
  asked = 0;
  const wrong = shop.secretKey.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  for (const key of [wrong, shop.publishableKey, 'nonsense', null]) {
    const { status } = await shop.get('/clicks', { key });
    expect([401, 403]).toContain(status);
  }
  expect(asked).toBe(0);
});

test.each(['limit=0', 'before=yesterday', 'link_ids=x', 'link_ids='])(
  '%s is refused without asking ClickHouse',
  async (query) => {
    expect((await page()).status).toBe(200);
    asked = 0;
    expect((await shop.get(`/clicks?${query}`)).status).toBe(400);
    expect(asked).toBe(0);
  },
);

test('clicks of a link that was deleted since are not in the next page', async () => {
  const [gone, kept] = await storeClicks(api.stores, [
    { workspaceId: shop.workspace.id },
    { workspaceId: shop.workspace.id },
  ]);
  const links = async () => (await shop.get<Page>('/clicks')).body.clicks.map(({ link_id }) => link_id);
  expect(await links()).toEqual([kept?.linkId, gone?.linkId]);
  await deleteWithHistory(api.stores, shop.workspace.id, gone?.linkId);
  expect(await links()).toEqual([kept?.linkId]);
});

test('the watermark of an answer was read before its clicks, not while they were', async () => {
  await visibleBefore(1_795_168_800_000_000);
  const before = '2026-11-20T10:00:00.000000Z';
  expect((await page()).body.watermark).toBe(before);
  // A click comes that the question under way has not found, and the watermark passes it.
  let isFound = () => {};
  const found = new Promise<void>((resolve) => {
    isFound = resolve;
  });
  beforeItsAnswer = async () => isFound();
  beforePostgres = async () => {
    await found;
    await visibleBefore(1_795_168_800_000_005);
  };
  expect((await page()).body.watermark).toBe(before);
  beforePostgres = async () => {};
  beforeItsAnswer = async () => {};
  expect((await page()).body.watermark).toBe('2026-11-20T10:00:00.000005Z');
});

test('the watermark of a poll is no older than the one that it passes back, which another process may have given', async () => {
  await visibleBefore(1_795_168_800_000_010);
  expect((await page()).status).toBe(200);
  await visibleBefore(1_795_168_800_000_011);
  asked = 0;
  const { body } = await page('2026-11-20T10:00:00.000011Z');
  expect([body.watermark, asked]).toEqual(['2026-11-20T10:00:00.000011Z', 1]);
  // Now it is this process's own, and a poll that passes it back is asked for ahead.
  beforePostgres = () => expect.poll(() => asked).toBe(2);
  expect((await page('2026-11-20T10:00:00.000011Z')).status).toBe(200);
});

test('a store that is away is a 503 for a page that was asked for ahead', async () => {
  expect((await page()).status).toBe(200);
  beforeItsAnswer = async () => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  };
  expect((await page()).status).toBe(503);
  beforeItsAnswer = async () => {};
  expect((await page()).status).toBe(200);
});
