import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ClickHouseClient } from '../../clickhouse/client.ts';
import { advanceStreams, type RegisteredStream, registerStream } from '../../sql/event-log/streams.ts';
import { revokeKey } from '../../sql/workspaces/keys.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { deleteWithHistory, storeClicks } from '../../test/support/stored-events.ts';

type Page = { clicks: { link_id: string }[]; watermark: string };

let api: TestApi;
let shop: TestWorkspace;
let stream: RegisteredStream;

/** Pages that were read from ClickHouse. */
let reads = 0;
/** Runs when ClickHouse has responded, before the response is passed on. */
let afterRead = async () => {};

beforeAll(async () => {
  api = await testApi(({ clickhouse }) => ({ clickhouse: watched(clickhouse) }));
  stream = await registerStream(api.stores.pool, 'ingest-0');
  await visibleBefore(1_795_168_790_000_000); // 2026-11-20T09:59:50Z
});
beforeEach(async () => {
  afterRead = async () => {};
  shop = await api.addWorkspace();
  reads = 0;
});
afterAll(() => api.close());

function watched(clickhouse: ClickHouseClient): ClickHouseClient {
  const { queries } = clickhouse;
  const lines: typeof queries.lines = async (query) => {
    reads += 1;
    const found = await queries.lines(query);
    await afterRead();
    return found;
  };
  return Object.assign(Object.create(clickhouse), { queries: { ...queries, lines } });
}

/** Requests a page that one query of ClickHouse answers. */
const page = (since = '2026-11-20T09:00:00Z') =>
  shop.get<Page>(`/clicks?since=${since}&before=2026-11-20T10:30:00Z`);
const visibleBefore = (micros: number) =>
  advanceStreams(api.stores.pool, [{ ...stream, highWater: 0n, visibleBefore: micros }]);

test('a page is one query of ClickHouse', async () => {
  expect((await page()).status).toBe(200);
  expect(reads).toBe(1);
});

test('a key that was revoked after a page gets 401 for the next one, without a query of ClickHouse', async () => {
  const { body } = await shop.get<{ key: { id: string } }>('/me');
  expect((await page()).status).toBe(200);
  await revokeKey(api.stores.pool, body.key.id);
  reads = 0;
  expect((await page()).status).toBe(401);
  expect(reads).toBe(0);
});

test('a plan that was canceled after a page gets 402 for the next one, without a query of ClickHouse', async () => {
  expect((await page()).status).toBe(200);
  await api.stores.pool.query(`UPDATE workspaces SET plan_status = 'canceled' WHERE id = $1`, [
    shop.workspace.id,
  ]);
  reads = 0;
  expect((await page()).status).toBe(402);
  expect(reads).toBe(0);
});

test('an unknown key and a key with a wrong secret part cause no query of ClickHouse', async () => {
  expect((await page()).status).toBe(200);
  reads = 0;
  const wrong = shop.secretKey.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
  for (const key of [wrong, shop.publishableKey, 'nonsense', null]) {
    const { status } = await shop.get('/clicks', { key });
    expect([401, 403]).toContain(status);
  }
  expect(reads).toBe(0);
});

test.each(['limit=0', 'before=yesterday', 'link_ids=x', 'link_ids='])(
  '%s is refused without a query of ClickHouse',
  async (query) => {
    expect((await page()).status).toBe(200);
    reads = 0;
    expect((await shop.get(`/clicks?${query}`)).status).toBe(400);
    expect(reads).toBe(0);
  },
);

test('clicks of a link that was deleted after a page are not in the next one', async () => {
  const [gone, kept] = await storeClicks(api.stores, [
    { workspaceId: shop.workspace.id },
    { workspaceId: shop.workspace.id },
  ]);
  const links = async () => (await shop.get<Page>('/clicks')).body.clicks.map(({ link_id }) => link_id);
  expect(await links()).toEqual([kept?.linkId, gone?.linkId]);
  await deleteWithHistory(api.stores, shop.workspace.id, gone?.linkId);
  expect(await links()).toEqual([kept?.linkId]);
});

test('the watermark of a page was read before its clicks', async () => {
  await visibleBefore(1_795_168_800_000_000);
  // A click arrives that the running query has not found, and the watermark passes it.
  afterRead = () => visibleBefore(1_795_168_800_000_005);
  expect((await page()).body.watermark).toBe('2026-11-20T10:00:00.000000Z');
  afterRead = async () => {};
  expect((await page()).body.watermark).toBe('2026-11-20T10:00:00.000005Z');
});

test('the watermark of a poll is no older than the one that it passes back', async () => {
  await visibleBefore(1_795_168_800_000_010);
  expect((await page()).status).toBe(200);
  await visibleBefore(1_795_168_800_000_011);
  const { body } = await page('2026-11-20T10:00:00.000011Z');
  expect(body.watermark).toBe('2026-11-20T10:00:00.000011Z');
});

test('a page is a 503 while ClickHouse is down', async () => {
  expect((await page()).status).toBe(200);
  afterRead = async () => {
    throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  };
  expect((await page()).status).toBe(503);
  afterRead = async () => {};
  expect((await page()).status).toBe(200);
});
