import { expect } from 'vitest';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { signedInAs } from '../../test/support/members.ts';
import type { SavedViewRecord } from './schemas.ts';

type Page = { saved_views: SavedViewRecord[]; next_cursor: string | null };

const query = {
  metrics: ['clicks'],
  filters: [{ dimension: 'country', operator: 'is', values: ['DE'] }],
  window: { days: 7 },
};

test('a view is saved, listed as it was sent, and deleted', async ({ shop }) => {
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

test('a walk gives every view once, newest first', async ({ shop }) => {
  const made: SavedViewRecord[] = [];
  for (const name of ['A', 'B', 'C', 'D', 'E']) {
    made.unshift((await shop.post<SavedViewRecord>('/saved-views', { name, query })).body);
  }
  const first = (await shop.get<Page>('/saved-views?limit=3')).body;
  const second = (await shop.get<Page>(`/saved-views?limit=3&cursor=${first.next_cursor}`)).body;
  expect([...first.saved_views, ...second.saved_views]).toEqual(made);
  expect(second.next_cursor).toBe(null);
});

test.for([
  [{ query }],
  [{ name: '', query }],
  [{ name: 'A' }],
  [{ name: 'A', query: [] }],
  [{ name: 'A', query: 'clicks' }],
  [{ name: 'A', query: { text: 'x'.repeat(16_384) } }],
])('%j is 400', async ([body], { shop }) => {
  expect((await shop.post('/saved-views', body)).status).toBe(400);
});

test('a workspace has at most 500 views', async ({ api, shop }) => {
  await api.stores.pool.query(
    `INSERT INTO saved_views (id, workspace_id, name, query, created_at)
     SELECT gen_random_uuid(), $1, 'View', '{}', now() - n * interval '1 second' FROM generate_series(1, 500) n`,
    [shop.workspace.id],
  );
  const { status, body } = await shop.post('/saved-views', { name: 'One more', query });
  expect([status, body.error.code]).toEqual([409, 'conflict']);
});

test('saving is safe to retry', async ({ shop }) => {
  const options = { headers: { 'idempotency-key': 'view' } };
  const first = await shop.post('/saved-views', { name: 'Once', query }, options);
  const second = await shop.post('/saved-views', { name: 'Once', query }, options);
  expect([second.status, second.body]).toEqual([201, first.body]);
  expect((await shop.get<Page>('/saved-views')).body.saved_views).toHaveLength(1);
});

test('an analyst reads views and saves none; a free plan has none', async ({ api, shop }) => {
  const analyst = await signedInAs(api, shop, 'analyst');
  expect((await analyst.call('GET', '/saved-views')).status).toBe(200);
  expect((await analyst.call('POST', '/saved-views', { body: { name: 'A', query } })).status).toBe(403);
  const free = await api.addWorkspace({ plan: 'free' });
  expect((await free.get('/saved-views')).status).toBe(402);
});

const filter = { dimension: 'weekday', operator: 'is', values: ['1'] };
test.for<[object, string]>([
  [{ ...query, weekday: 'Monday' }, 'query.weekday'],
  [{ ...query, filter: [] }, 'query.filter'],
  [{ ...query, timezone: 'Europe/Berlin' }, 'query.timezone'],
  [{ ...query, window: { start: '2026-11-01' } }, 'query.window.start'],
  [{ ...query, filters: [{ ...filter, value: '1' }] }, 'query.filters.0.value'],
  [{ ...query, filters: [{ ...filter, values: ['Monday'] }] }, 'query.filters.0.values.0'],
  [
    { ...query, filters: [{ any: [filter, { ...filter, weekday: 'Monday' }] }] },
    'query.filters.0.any.1.weekday',
  ],
  [{ ...query, dimensions: ['colour'] }, 'query.dimensions.0'],
  [{ ...query, order_by: [{ by: 'revenue' }] }, 'query.order_by.0.by'],
  [{ ...query, time_zone: 'Europe/Bonn' }, 'query.time_zone'],
  [{ ...query, compare: 'last' }, 'query.compare'],
  [{ ...query, address: 7 }, 'query.address'],
])('a view of %j is refused, and the field is named', async ([wrong, path], { shop }) => {
  const { status, body } = await shop.post('/saved-views', { name: 'A', query: wrong });
  expect([status, body.error.details?.map((detail) => detail.path)]).toEqual([400, [path]]);
});

test('a field __proto__ of a query is refused by its name', async ({ shop }) => {
  const text = JSON.stringify({ name: 'A', query: { ...query, filters: [filter] } });
  for (const [place, path] of [
    ['"query":{', 'query.__proto__'],
    ['"filters":[{', 'query.filters.0.__proto__'],
  ] as const) {
    const body = text.replace(place, `${place}"__proto__":{"country":"DE"},`);
    const refused = await shop.call('POST', '/saved-views', {
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([400, path]);
  }
});

test('a view of nulls, of an empty query, and of an address is saved as it was sent', async ({ shop }) => {
  for (const given of [
    {},
    { ...query, compare: null, time_zone: null },
    { ...query, address: 'country=DE' },
  ]) {
    const made = await shop.post<SavedViewRecord>('/saved-views', { name: 'A', query: given });
    expect([made.status, made.body.query]).toEqual([201, given]);
  }
});
