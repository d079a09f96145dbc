import { describe, expect } from 'vitest';
import type { TestWorkspace } from '../../test/support/api.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import type { LinkRecord } from './schemas.ts';

type Created = { destination_id: string; links: LinkRecord[] };

let link: LinkRecord;

test.beforeEach(async ({ shop }) => {
  link = await create(shop);
});

async function create(shop: TestWorkspace, more: object = {}): Promise<LinkRecord> {
  const { body } = await shop.post<Created>('/links', {
    destination_url: 'https://shop.example/sale',
    name: 'Sale',
    channel: 'facebook',
    ...more,
  });
  const [first] = body.links;
  if (!first) throw new Error('no link was created');
  return first;
}

const UNKNOWN = '01a1fda0-08a1-7000-b1c0-3017c3a6f7c2';

describe('GET /links/:id', () => {
  test('gives the bare record', async ({ shop }) => {
    const answer = await shop.get(`/links/${link.id}`);
    expect([answer.status, answer.body]).toEqual([200, link]);
    expect((await shop.get(`/links/${link.id.toUpperCase()}`)).status).toBe(200);
  });

  test('is 404 outside the workspace and 400 for a malformed UUID', async ({ api, shop }) => {
    const other = await api.addWorkspace();
    expect((await other.get(`/links/${link.id}`)).status).toBe(404);
    expect((await shop.get(`/links/${UNKNOWN}`)).body.error.code).toBe('not_found');
    const malformed = await shop.get('/links/abc');
    expect([malformed.status, malformed.body.error.details?.[0]?.path]).toEqual([400, 'id']);
  });

  test('needs a paid plan, as PATCH does, while DELETE works on any', async ({ api }) => {
    const free = await api.addWorkspace({ plan: 'free' });
    const made = await free.post<Created>('/links', {
      destination_url: 'https://free.example',
      name: 'F',
      smart: true,
    });
    const path = `/links/${made.body.links[0]?.id}`;
    expect((await free.get(path)).body.error.code).toBe('payment_required');
    expect((await free.patch(path, { name: 'G' })).status).toBe(402);
    expect((await free.delete(path)).status).toBe(200);
  });
});

describe('PATCH /links/:id', () => {
  test('changes any subset of the link and leaves the rest', async ({ shop }) => {
    const change = {
      slug: 'changed',
      external_id: 'ext',
      metadata: { a: 1 },
      utm_campaign: 'utm',
      targeting: { desktop: 'https://d.example/' },
      expires_at: '2031-05-05T00:00:00.000Z',
      max_clicks: 7,
      expired_redirect_url: 'https://over.example/',
      retargeting: { x: 'o1abc' },
    };
    const { status, body } = await shop.patch<LinkRecord>(`/links/${link.id}`, { ...change, password: 'pw' });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...link,
      ...change,
      short_url: 'https://hop.example/changed',
      password_protected: true,
      updated_at: body.updated_at,
    });
    expect(body.updated_at > link.updated_at).toBe(true);
    expect((await shop.get(`/links/${link.id}`)).body).toEqual(body);
  });

  test('null clears what can be cleared', async ({ shop }) => {
    const full = await create(shop, {
      external_id: 'full',
      metadata: { a: 1 },
      targeting: { mobile: 'https://m.example' },
      expires_at: '2031-01-01',
      max_clicks: 3,
      expired_redirect_url: 'https://over.example',
      password: 'pw',
      retargeting: { linkedin: '12345' },
      tags: ['a'],
    });
    const { body } = await shop.patch<LinkRecord>(`/links/${full.id}`, {
      external_id: null,
      metadata: null,
      utm_campaign: null,
      targeting: null,
      expires_at: null,
      max_clicks: null,
      expired_redirect_url: null,
      password: null,
      retargeting: null,
      tags: null,
      folder_id: null,
    });
    expect(body).toMatchObject({
      external_id: null,
      metadata: null,
      utm_campaign: null,
      targeting: null,
      expires_at: null,
      max_clicks: null,
      expired_redirect_url: null,
      password_protected: false,
      retargeting: null,
      tags: [],
      folder_id: null,
    });
  });

  test('required fields can not be cleared', async ({ shop }) => {
    for (const field of ['slug', 'destination_url', 'name']) {
      const answer = await shop.patch(`/links/${link.id}`, { [field]: null });
      expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, field]);
    }
  });

  test('changes of the campaign hold for all its links', async ({ shop }) => {
    const folder = await shop.post<{ id: string }>('/folders', { name: 'F' });
    const sibling = await create(shop, { destination_id: link.destination_id, channel: 'reddit' });
    await shop.patch(`/links/${link.id}`, {
      destination_url: 'https://www.shop.example/new',
      name: 'New',
      tags: ['t'],
      folder_id: folder.body.id,
    });
    const { body } = await shop.get<LinkRecord>(`/links/${sibling.id}`);
    expect(body).toMatchObject({
      destination: 'https://www.shop.example/new',
      name: 'New',
      tags: ['t'],
      folder_id: folder.body.id,
      utm_campaign: 'Sale',
    });
    expect(body.updated_at > sibling.updated_at).toBe(true);
  });

  test('an empty change changes nothing', async ({ shop }) => {
    const answer = await shop.patch(`/links/${link.id}`, {});
    expect([answer.status, answer.body]).toEqual([200, link]);
    expect((await shop.patch(`/links/${link.id}`, { channel: 'reddit', id: UNKNOWN })).body).toEqual(link);
  });

  test('a taken slug is 409, the own one in another case is not', async ({ shop }) => {
    const other = await create(shop, { name: 'Other', slug: 'Occupied' });
    const answer = await shop.patch(`/links/${link.id}`, { slug: 'oCCupied' });
    expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict']);
    const recased = await shop.patch<LinkRecord>(`/links/${other.id}`, { slug: 'occuPIED' });
    expect([recased.status, recased.body.slug]).toEqual([200, 'occuPIED']);
  });

  test('a released slug stays reserved for its link', async ({ shop }) => {
    const other = await create(shop, { name: 'Other' });
    await shop.patch(`/links/${link.id}`, { slug: 'before' });
    await shop.patch(`/links/${link.id}`, { slug: 'after' });
    expect((await shop.patch(`/links/${other.id}`, { slug: 'before' })).status).toBe(409);
    expect((await shop.patch(`/links/${link.id}`, { slug: 'before' })).status).toBe(200);
  });

  test('a taken external_id is 409, the own one is not', async ({ shop }) => {
    await create(shop, { name: 'Other', external_id: 'theirs' });
    expect((await shop.patch(`/links/${link.id}`, { external_id: 'theirs' })).status).toBe(409);
    expect((await shop.patch(`/links/${link.id}`, { external_id: 'mine' })).status).toBe(200);
    expect((await shop.patch(`/links/${link.id}`, { external_id: 'mine' })).status).toBe(200);
  });

  test('a second link on a channel keeps an external_id, the first one need not', async ({ shop }) => {
    const again = { destination_id: link.destination_id };
    const second = await create(shop, { ...again, external_id: 'second' });
    const refused = await shop.patch(`/links/${second.id}`, { external_id: null });
    expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([409, 'external_id']);
    expect(refused.body.error.message).toMatch(/^the campaign has a link on facebook; /);
    const smart = await create(shop, { ...again, channel: undefined, smart: true });
    const secondSmart = await create(shop, {
      ...again,
      channel: undefined,
      smart: true,
      external_id: 'smart',
    });
    expect((await shop.patch(`/links/${secondSmart.id}`, { external_id: null })).status).toBe(409);
    const clear = async (id: string) => {
      expect((await shop.patch(`/links/${id}`, { external_id: 'other' })).status).toBe(200);
      return (await shop.patch(`/links/${id}`, { external_id: null })).status;
    };
    expect([await clear(link.id), await clear(smart.id)]).toEqual([200, 200]);
    await shop.delete(`/links/${link.id}`);
    expect(await clear(second.id)).toBe(200);
  });

  test('a destination meets the domain rule again', async ({ shop }) => {
    const refused = await shop.patch(`/links/${link.id}`, { destination_url: 'https://else.example' });
    expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([400, 'destination_url']);
    const external = await create(shop, { destination_url: 'https://a.example', external: true });
    const moved = await shop.patch(`/links/${external.id}`, { destination_url: 'https://b.example' });
    expect(moved.status).toBe(200);
  });

  test("another workspace's link and folder are 404", async ({ api, shop }) => {
    const other = await api.addWorkspace();
    const folder = await other.post<{ id: string }>('/folders', { name: 'Theirs' });
    expect((await shop.patch(`/links/${link.id}`, { folder_id: folder.body.id })).status).toBe(404);
    expect((await other.patch(`/links/${link.id}`, { name: 'Stolen' })).status).toBe(404);
    expect((await shop.get(`/links/${link.id}`)).body).toEqual(link);
  });

  test.for<[field: string, value: unknown]>([
    ['max_clicks', 0],
    ['max_clicks', '3'],
    ['slug', 'docs'],
    ['slug', 'a/b'],
    ['expires_at', 5],
    ['metadata', { text: 'x'.repeat(4_096) }],
    ['retargeting', { google: 'nope' }],
    ['targeting', { mobile: 'javascript:1' }],
    ['destination_url', 'http://shop.example'],
  ])('%s: %j is 400', async ([field, value], { shop }) => {
    const answer = await shop.patch(`/links/${link.id}`, { [field]: value });
    expect(answer.status).toBe(400);
    expect(answer.body.error.details?.[0]?.path).toContain(field);
  });
});

describe('DELETE /links/:id', () => {
  test('responds ok once; the link is gone from every links endpoint', async ({ shop }) => {
    const answer = await shop.delete(`/links/${link.id}`);
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect((await shop.delete(`/links/${link.id}`)).status).toBe(404);
    expect((await shop.get(`/links/${link.id}`)).status).toBe(404);
    expect((await shop.patch(`/links/${link.id}`, { name: 'x' })).status).toBe(404);
    expect((await shop.get<{ links: unknown[] }>('/links?view=records')).body.links).toEqual([]);
  });

  test('keeps the slug reserved and frees the external_id', async ({ api, shop }) => {
    const gone = await create(shop, { slug: 'gone', external_id: 'again' });
    await shop.delete(`/links/${gone.id}`);
    const other = await api.addWorkspace();
    const body = { destination_url: 'https://shop.example', name: 'N', channel: 'slack' };
    expect((await other.post('/links', { ...body, slug: 'GONE' })).status).toBe(409);
    expect((await shop.post('/links', { ...body, slug: 'gone' })).status).toBe(409);
    expect((await shop.post('/links', { ...body, external_id: 'again' })).status).toBe(201);
  });

  test("another workspace's link is 404 and stays", async ({ api, shop }) => {
    const other = await api.addWorkspace();
    expect((await other.delete(`/links/${link.id}`)).status).toBe(404);
    expect((await shop.get(`/links/${link.id}`)).status).toBe(200);
  });

  test('needs no body, also with a JSON content type', async ({ shop }) => {
    const answer = await shop.delete(`/links/${link.id}`, {
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(200);
  });
});

test('a change is recorded for the redirect tier', async ({ api, shop }) => {
  const changes = async () => {
    const { rows } = await api.stores.pool.query<{ kind: string; target_id: string }>(
      'SELECT kind, target_id FROM link_changes ORDER BY id',
    );
    return rows.map((row) => `${row.kind} ${row.target_id}`);
  };
  const before = (await changes()).length;
  await shop.patch(`/links/${link.id}`, { name: 'N', max_clicks: 2 });
  await shop.delete(`/links/${link.id}`);
  expect((await changes()).slice(before)).toEqual([
    `destination ${link.destination_id}`,
    `link ${link.id}`,
    `link ${link.id}`,
  ]);
});
