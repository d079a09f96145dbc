import { describe, expect } from 'vitest';
import type { TestWorkspace } from '../../test/support/api.ts';
import { makeBioPage } from '../../test/support/bio.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { nextNanos, storeClicks, storeShares } from '../../test/support/stored-events.ts';
import type { LinkRecord } from './schemas.ts';
import type { FoundLinks } from './search-schemas.ts';

async function search(shop: TestWorkspace, query = ''): Promise<FoundLinks> {
  const answer = await shop.get<FoundLinks>(`/links/search?${query}`);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body;
}

/** Names of the links found, in their order. */
const names = async (shop: TestWorkspace, query = '') =>
  (await search(shop, query)).links.map(({ link }) => link.name);

async function make(shop: TestWorkspace, name: string, more: object = {}): Promise<LinkRecord> {
  const answer = await shop.post<{ links: LinkRecord[] }>('/links', {
    destination_url: 'https://shop.example/',
    name,
    channel: 'facebook',
    ...more,
  });
  expect([answer.status, answer.text]).toEqual([201, answer.text]);
  const [link] = answer.body.links;
  if (!link) throw new Error('no link was made');
  return link;
}

const clicksOf = (shop: TestWorkspace, link: LinkRecord, count: number, more: object = {}) =>
  Array.from({ length: count }, () => ({
    workspaceId: shop.workspace.id,
    linkId: link.id,
    channel: link.channel ?? 'other',
    ...more,
  }));

const orderOf = (shop: TestWorkspace, link: LinkRecord, amountMinor: number, share = 1) => ({
  workspaceId: shop.workspace.id,
  parts: [{ linkId: link.id, channel: link.channel ?? 'other', share, amountMinor }],
});

describe('a search', () => {
  test('finds a text in slug, name and destination in any case, without wildcards', async ({ shop }) => {
    await make(shop, 'Spring', { slug: 'Frost-24' });
    await make(shop, 'FROSTY days');
    await make(shop, 'Autumn', { destination_url: 'https://shop.example/Defrost?x=1' });
    await make(shop, '100% off_season');
    expect(await names(shop, 'q=frost')).toEqual(['Autumn', 'FROSTY days', 'Spring']);
    expect(await names(shop, 'q=FROST-24')).toEqual(['Spring']);
    expect(await names(shop, 'q=100%25')).toEqual(['100% off_season']);
    expect(await names(shop, 'q=%25')).toEqual(['100% off_season']);
    expect(await names(shop, 'q=nothing')).toEqual([]);
  });

  test('finds links by their ids, and no others', async ({ api, shop }) => {
    const a = await make(shop, 'A', { slug: 'go' });
    await make(shop, 'Let us go');
    const c = await make(shop, 'C', { expires_at: '2020-01-01T00:00:00Z' });
    const stranger = await (await api.addWorkspace()).post<{ links: LinkRecord[] }>('/links', {
      destination_url: 'https://other.example/',
      name: 'Stranger',
      channel: 'facebook',
    });
    const ids = [a.id.toUpperCase(), c.id, stranger.body.links[0]?.id, crypto.randomUUID()].join(',');
    expect(await search(shop, `ids=${ids}`)).toMatchObject({
      total: 2,
      links: [
        { link: { name: 'C' }, status: 'expired' },
        { link: { name: 'A' }, status: 'active' },
      ],
    });
    expect(await names(shop, `ids=${ids}&status=expired`)).toEqual(['C']);
  });

  test('keeps to a channel, a folder and a tag, together', async ({ shop }) => {
    const folder = (await shop.post<{ id: string }>('/folders', { name: 'Ads' })).body.id;
    await make(shop, 'A', { folder_id: folder, tags: ['hot', 'new'] });
    await make(shop, 'B', { folder_id: folder, tags: ['hotter'], channel: 'x' });
    await make(shop, 'C', { tags: ['hot'], channel: undefined, smart: true });
    expect(await names(shop, `folder_id=${folder}`)).toEqual(['B', 'A']);
    expect(await names(shop, `folder_id=${folder.toUpperCase()}`)).toEqual(['B', 'A']);
    expect(await names(shop, 'folder_id=none')).toEqual(['C']);
    expect(await names(shop, 'tag=hot')).toEqual(['C', 'A']);
    expect(await names(shop, 'channel=x')).toEqual(['B']);
    expect(await names(shop, 'channel=twitter')).toEqual(['B']);
    expect(await names(shop, 'channel=smart')).toEqual(['C']);
    expect(await names(shop, `tag=hot&folder_id=${folder}&channel=facebook`)).toEqual(['A']);
  });

  test('distinguishes expired and used-up links from active ones', async ({ api, shop }) => {
    const used = await make(shop, 'Used', { max_clicks: 2 });
    await make(shop, 'Half used', { max_clicks: 3 });
    await make(shop, 'Over', { expires_at: '2020-01-01T00:00:00Z' });
    await make(shop, 'To come', { expires_at: '2090-01-01T00:00:00Z' });
    const { pool } = api.stores;
    const { rows } = await pool.query<{ stream_id: string }>(
      `INSERT INTO ingest_streams (stream_id, ordinal, name) VALUES (gen_random_uuid(), 7, 'search-7') RETURNING stream_id`,
    );
    await pool.query(
      'INSERT INTO link_leases (link_id, stream_id, granted, used) SELECT id, $1, 2, 2 FROM links WHERE max_clicks IS NOT NULL',
      [rows[0]?.stream_id],
    );
    expect((await search(shop)).links.map(({ link, status }) => [link.name, status])).toEqual([
      ['To come', 'active'],
      ['Over', 'expired'],
      ['Half used', 'active'],
      ['Used', 'used_up'],
    ]);
    expect(await names(shop, 'status=active')).toEqual(['To come', 'Half used']);
    expect(await names(shop, 'status=expired')).toEqual(['Over']);
    expect(await search(shop, 'status=used_up')).toMatchObject({
      total: 1,
      links: [{ link: { id: used.id } }],
    });
  });

  test("gives nothing of deleted links and of other workspaces'", async ({ api, shop }) => {
    const gone = await make(shop, 'Gone');
    await make(shop, 'Here');
    const other = await api.addWorkspace();
    await other.post('/links', {
      destination_url: 'https://else.example',
      name: 'Theirs',
      channel: 'facebook',
    });
    await storeClicks(api.stores, clicksOf(shop, gone, 3));
    await shop.delete(`/links/${gone.id}`);
    expect(await names(shop, 'sort=clicks')).toEqual(['Here']);
    expect(await search(shop)).toMatchObject({ total: 1 });
  });
});

describe('the order', () => {
  test.for([
    ['created', 'desc', ['C', 'b', 'A']],
    ['created', 'asc', ['A', 'b', 'C']],
    ['name', 'asc', ['A', 'b', 'C']],
    ['name', 'desc', ['C', 'b', 'A']],
    ['clicks', 'desc', ['A', 'b', 'C']],
    ['clicks', 'asc', ['C', 'b', 'A']],
    ['visitors', 'desc', ['b', 'A', 'C']],
    ['conversions', 'desc', ['C', 'b', 'A']],
    ['revenue', 'desc', ['b', 'C', 'A']],
    ['revenue', 'asc', ['A', 'C', 'b']],
  ])('by %s %s', async ([sort, order, expected], { api, shop }) => {
    const a = await make(shop, 'A');
    const b = await make(shop, 'b');
    const c = await make(shop, 'C');
    const visitorId = '018f0000-0000-7000-8000-000000000001';
    await storeClicks(api.stores, [...clicksOf(shop, a, 3, { visitorId }), ...clicksOf(shop, b, 2)]);
    await storeShares(api.stores, [orderOf(shop, b, 900), orderOf(shop, c, 500), orderOf(shop, c, 0, 0.5)]);
    expect(await names(shop, `sort=${sort}&order=${order}`)).toEqual(expected);
  });

  test('of equal figures is the newest first, also among links without any', async ({ api, shop }) => {
    const made: LinkRecord[] = [];
    for (const name of ['A', 'B', 'C', 'D']) made.push(await make(shop, name));
    const [a, , c] = made;
    if (!a || !c) throw new Error('no links');
    await storeClicks(api.stores, [...clicksOf(shop, a, 1), ...clicksOf(shop, c, 1)]);
    expect(await names(shop, 'sort=clicks')).toEqual(['C', 'A', 'D', 'B']);
    expect(await names(shop, 'sort=clicks&order=asc')).toEqual(['D', 'B', 'C', 'A']);
  });

  test('counts the window only', async ({ api, shop }) => {
    const a = await make(shop, 'A');
    const b = await make(shop, 'B');
    const longAgo = () => nextNanos() - 40n * 86_400_000_000_000n;
    await storeClicks(api.stores, [
      ...clicksOf(shop, a, 3).map((click) => ({ ...click, tsNanos: longAgo() })),
      ...clicksOf(shop, b, 1),
    ]);
    expect(await names(shop, 'sort=clicks&days=7')).toEqual(['B', 'A']);
    expect(await names(shop, 'sort=clicks&days=90')).toEqual(['A', 'B']);
  });
});

describe('a page', () => {
  test('skips the offset, has the total, and carries record and figures', async ({ api, shop }) => {
    const first = await make(shop, 'A', { tags: ['x'] });
    for (const name of ['B', 'C', 'D', 'E']) await make(shop, name);
    await storeClicks(api.stores, clicksOf(shop, first, 2));
    await storeShares(api.stores, [orderOf(shop, first, 1_250)]);
    expect(await names(shop, 'limit=2')).toEqual(['E', 'D']);
    expect(await names(shop, 'limit=2&offset=2')).toEqual(['C', 'B']);
    const last = await search(shop, 'limit=2&offset=4');
    expect(last.total).toBe(5);
    expect(last.window?.from).toMatch(/^\d{4}-/);
    expect(last.links).toEqual([
      {
        link: (await shop.get<LinkRecord>(`/links/${first.id}`)).body,
        status: 'active',
        figures: { clicks: 2, visitors: 2, conversions: 1, revenue: 12.5 },
      },
    ]);
    expect(await search(shop, 'limit=2&offset=6')).toMatchObject({ total: 5, links: [] });
    expect(await search(shop, 'limit=1&q=nothing')).toMatchObject({ total: 0, links: [] });
  });

  test('without figures is there on any plan', async ({ api }) => {
    const shop = await api.addWorkspace({ plan: 'free' });
    await make(shop, 'A');
    expect((await shop.get('/links/search')).status).toBe(402);
    expect(await search(shop, 'figures=exclude&sort=name')).toMatchObject({
      window: null,
      total: 1,
      links: [{ link: { name: 'A' }, figures: null }],
    });
  });

  test.for([
    ['q=', 'q'],
    ['ids=', 'ids'],
    ['ids=x', 'ids'],
    ['channel=myspace', 'channel'],
    ['folder_id=x', 'folder_id'],
    ['status=sleeping', 'status'],
    ['sort=luck', 'sort'],
    ['sort=clicks&figures=exclude', 'sort'],
    ['order=up', 'order'],
    ['limit=501', 'limit'],
    ['offset=-1', 'offset'],
    ['offset=1.5', 'offset'],
    ['days=0', 'days'],
    ['from=2026-11-20&to=2026-11-20', 'from'],
  ])('of %s is refused and names %s', async ([query, path], { shop }) => {
    const answer = await shop.get(`/links/search?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body.error.details?.[0]?.path).toBe(path);
  });
});

test('links are found by who made them, and archived ones alone', async ({ shop }) => {
  await make(shop, 'Ours');
  await make(shop, 'Smart', { channel: undefined, smart: true });
  await make(shop, 'Old', { archived: true });
  const program = { name: 'Friends', destination_url: 'https://shop.example/join' };
  expect((await shop.post('/programs', program)).status).toBe(201);
  const referrer = { email: 'ada@shop.example', external_user_id: 'ada', tier: 'free' };
  expect((await shop.post('/referrals/enroll', referrer)).status).toBe(200);
  await makeBioPage(shop, `found-${Date.now()}`, {
    links: [{ label: 'Button', url: 'https://shop.example/b' }],
  });
  expect(await names(shop, 'kind=own')).toEqual(['Smart', 'Ours']);
  expect((await search(shop, 'kind=referral')).links.map(({ link }) => link.channel)).toEqual(['referral']);
  expect((await search(shop, 'kind=bio')).links.map(({ link }) => link.channel)).toEqual(['bio']);
  expect(await names(shop, 'kind=program')).toEqual(['Friends']);
  expect((await search(shop, '')).total).toBe(5);
  expect(await names(shop, 'archived=only')).toEqual(['Old']);
  expect((await search(shop, 'kind=own&archived=include')).total).toBe(3);
});

test('the tags of all links come with the most used first', async ({ shop }) => {
  await make(shop, 'A', { tags: ['red', 'blue'], channel: undefined, channels: ['facebook', 'youtube'] });
  await make(shop, 'B', { tags: ['green'] });
  const gone = await make(shop, 'C', { tags: ['gone'] });
  await shop.delete(`/links/${gone.id}`);
  expect((await shop.get('/links/tags')).body).toEqual({
    tags: [
      { tag: 'blue', links: 2 },
      { tag: 'red', links: 2 },
      { tag: 'green', links: 1 },
    ],
  });
});

test('a taken slug and a taken external_id are errors of their fields', async ({ shop }) => {
  const link = await make(shop, 'A', { slug: 'mine', external_id: 'one' });
  const other = await make(shop, 'B');
  const again = await shop.post('/links', {
    destination_url: 'https://shop.example/',
    name: 'C',
    channel: 'facebook',
    slug: 'Mine',
  });
  expect([again.status, again.body.error.details]).toEqual([
    409,
    [{ path: 'slug', message: '"Mine" is taken' }],
  ]);
  const changed = await shop.patch(`/links/${other.id}`, { slug: link.slug });
  expect(changed.body.error.details?.[0]?.path).toBe('slug');
  const named = await shop.patch(`/links/${other.id}`, { external_id: 'one' });
  expect(named.body.error.details?.[0]?.path).toBe('external_id');
});
