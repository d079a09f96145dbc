import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { signedInAs } from '../../test/support/members.ts';
import type { SavedViewRecord } from './schemas.ts';

type Page = { saved_views: SavedViewRecord[]; next_cursor: string | null };

let api: TestApi;
let shop: TestWorkspace;

beforeAll(async () => {
  api = await testApi();
});
beforeEach(async () => {
  shop = await api.addWorkspace();
});
afterAll(() => api.close());

const query = {
  metrics: ['clicks'],
  filters: [{ dimension: 'country', operator: 'is', values: ['DE'] }],
  window: { days: 7 },
};

test('a view is saved, listed as it was sent, and deleted', async () => {
  const made = await shop.post<SavedViewRecord>('/saved-views', { name: 'Germany', query });
  expect([made.status, made.body]).toEqual([
    201,
    { id: expect.any(String), name: 'Germany', query, created_at: expect.any(String) },
  ]);
  expect((await shop.get<Page>('/saved-views')).body).toEqual({
    saved_views: [made.body],
    next_cursor: null,
  });
  expect((await shop.delete(`/saved-views/${made.body.id}`)).body).toEqual({ ok: true });
  expect((await shop.delete(`/saved-views/${made.body.id}`)).status).toBe(404);
});

test('a walk gives every view once, newest first', async () => {
  const made: SavedViewRecord[] = [];
  for (const name of ['A', 'B', 'C', 'D', 'E']) {
    made.unshift((await shop.post<SavedViewRecord>('/saved-views', { name, query })).body);
  }
  const first = (await shop.get<Page>('/saved-views?limit=3')).body;
  const second = (await shop.get<Page>(`/saved-views?limit=3&cursor=${first.next_cursor}`)).body;
  expect([...first.saved_views, ...second.saved_views]).toEqual(made);
  expect(second.next_cursor).toBe(null);
});

test.each([
  [{ query }],
  [{ name: '', query }],
  [{ name: 'A' }],
  [{ name: 'A', query: [] }],
  [{ name: 'A', query: 'clicks' }],
  [{ name: 'A', query: { text: 'x'.repeat(16_384) } }],
])('%j is 400', async (body) => {
  expect((await shop.post('/saved-views', body)).status).toBe(400);
});

test('a workspace has at most 500 views', async () => {
  await api.stores.pool.query(
    `INSERT INTO saved_views (id, workspace_id, name, query, created_at)
     SELECT gen_random_uuid(), $1, 'View', '{}', now() - n * interval '1 second' FROM generate_series(1, 500) n`,
    [shop.workspace.id],
  );
  const { status, body } = await shop.post('/saved-views', { name: 'One more', query });
  expect([status, body.error.code]).toEqual([409, 'conflict']);
});

test('saving is safe to retry', async () => {
  const options = { headers: { 'idempotency-key': 'view' } };
  const first = await shop.post('/saved-views', { name: 'Once', query }, options);
  const second = await shop.post('/saved-views', { name: 'Once', query }, options);
  expect([second.status, second.body]).toEqual([201, first.body]);
  expect((await shop.get<Page>('/saved-views')).body.saved_views).toHaveLength(1);
});

test('an analyst reads views and saves none; a free plan has none', async () => {
  const analyst = await signedInAs(api, shop, 'analyst');
  expect((await analyst.call('GET', '/saved-views')).status).toBe(200);
  expect((await analyst.call('POST', '/saved-views', { body: { name: 'A', query } })).status).toBe(403);
  const free = await api.addWorkspace({ plan: 'free' });
  expect((await free.get('/saved-views')).status).toBe(402);
});
