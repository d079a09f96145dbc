import { expect } from 'vitest';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { signedInAs } from '../../test/support/members.ts';

type Annotation = { id: string; at: string; text: string; created_at: string };
type Page = { annotations: Annotation[]; next_cursor: string | null };
type Dashboard = { id: string; token: string; show_annotations: boolean };

const released = { at: '2026-11-20T09:30:00+01:00', text: 'Version 2 released' };

test('an annotation is made, listed, and deleted', async ({ shop }) => {
  const made = await shop.post<Annotation>('/annotations', released);
  expect([made.status, made.body]).toEqual([
    201,
    {
      id: expect.any(String),
      at: '2026-11-20T08:30:00.000000Z',
      text: released.text,
      created_at: expect.any(String),
    },
  ]);
  const day = await shop.post<Annotation>('/annotations', { at: '2026-11-24', text: 'Autumn sale began' });
  expect(day.body.at).toBe('2026-11-24T00:00:00.000000Z');
  const first = (await shop.get<Page>('/annotations?limit=1')).body;
  expect(first.annotations).toEqual([day.body]);
  const second = (await shop.get<Page>(`/annotations?limit=1&cursor=${first.next_cursor}`)).body;
  expect(second).toEqual({ annotations: [made.body], next_cursor: null });
  expect((await shop.delete(`/annotations/${made.body.id}`)).body).toEqual({ ok: true });
  expect((await shop.delete(`/annotations/${made.body.id}`)).status).toBe(404);
});

test('what is wrong with an annotation is named', async ({ shop }) => {
  for (const [body, path] of [
    [{ text: 'Released' }, 'at'],
    [{ at: 'yesterday', text: 'Released' }, 'at'],
    [{ at: '2026-11-20' }, 'text'],
    [{ at: '2026-11-20', text: ' \u200b ' }, 'text'],
    [{ at: '2026-11-20', text: 'x'.repeat(201) }, 'text'],
  ] as const) {
    const refused = await shop.post('/annotations', body);
    expect([refused.status, refused.body.error.details?.map((detail) => detail.path)]).toEqual([400, [path]]);
  }
});

test('a workspace has at most 500 annotations, and making one is safe to retry', async ({ api, shop }) => {
  const options = { headers: { 'idempotency-key': 'note' } };
  const first = await shop.post('/annotations', released, options);
  expect((await shop.post('/annotations', released, options)).body).toEqual(first.body);
  await api.stores.pool.query(
    `INSERT INTO annotations (id, workspace_id, at, text, created_at)
     SELECT gen_random_uuid(), $1, now(), 'Note', now() - n * interval '1 second' FROM generate_series(1, 499) n`,
    [shop.workspace.id],
  );
  const { status, body } = await shop.post('/annotations', released);
  expect([status, body.error.code]).toEqual([409, 'conflict']);
  expect((await shop.get<Page>('/annotations?limit=500')).body.annotations).toHaveLength(500);
});

test('an analyst reads annotations and makes none; a free plan has none', async ({ api, shop }) => {
  const analyst = await signedInAs(api, shop, 'analyst');
  expect((await analyst.call('GET', '/annotations')).status).toBe(200);
  expect((await analyst.call('POST', '/annotations', { body: released })).status).toBe(403);
  const free = await api.addWorkspace({ plan: 'free' });
  expect((await free.get('/annotations')).status).toBe(402);
});

test('a shared dashboard shows annotations only where its owner allows it', async ({ shop }) => {
  await shop.post('/annotations', released);
  const { body: board } = await shop.post<Dashboard>('/shared-dashboards', { name: 'Autumn' });
  const shown = async () =>
    (await shop.get<{ annotations: object[] }>(`/shared/${board.token}`, { key: null })).body.annotations;
  expect([board.show_annotations, await shown()]).toEqual([false, []]);
  const changed = await shop.patch<Dashboard>(`/shared-dashboards/${board.id}`, { show_annotations: true });
  expect([changed.body.show_annotations, await shown()]).toEqual([
    true,
    [{ at: '2026-11-20T08:30:00.000000Z', text: released.text }],
  ]);
});
