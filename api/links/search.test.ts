import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { makeBioPage } from '../../test/support/bio.ts';
import { nextNanos, storeClicks, storeShares } from '../../test/support/stored-events.ts';
import type { LinkRecord } from './schemas.ts';
import type { FoundLinks } from './search-schemas.ts';

let api: TestApi;
let shop: TestWorkspace;

beforeAll(async () => {
  api = await testApi();
});
beforeEach(async () => {
  shop = await api.addWorkspace();
});
afterAll(() => api.close());

async function search(query = ''): Promise<FoundLinks> {
  const answer = await shop.get<FoundLinks>(`/links/search?${query}`);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body;
}

/** Names of the links found, in their order. */
const names = async (query = '') => (await search(query)).links.map(({ link }) => link.name);

async function make(name: string, more: object = {}): Promise<LinkRecord> {
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

const clicksOf = (link: LinkRecord, count: number, more: object = {}) =>
  Array.from({ length: count }, () => ({
    workspaceId: shop.workspace.id,
    linkId: link.id,
    channel: link.channel ?? 'other',
    ...more,
  }));

const orderOf = (link: LinkRecord, amountMinor: number, share = 1) => ({
  workspaceId: shop.workspace.id,
  parts: [{ linkId: link.id, channel: link.channel ?? 'other', share, amountMinor }],
});

describe('a search', () => {
  test('finds a text in slug, name and destination in any case, without wildcards', async () => {
    await make('Spring', { slug: 'Frost-24' });
    await make('FROSTY days');
    await make('Autumn', { destination_url: 'https://shop.example/Defrost?x=1' });
    await make('100% off_season');
    expect(await names('q=frost')).toEqual(['Autumn', 'FROSTY days', 'Spring']);
    expect(await names('q=FROST-24')).toEqual(['Spring']);
    expect(await names('q=100%25')).toEqual(['100% off_season']);
    expect(await names('q=%25')).toEqual(['100% off_season']);
    expect(await names('q=nothing')).toEqual([]);
  });

  test('finds links by their ids, and no others', async () => {
    const a = await make('A', { slug: 'go' });
    await make('Let us go');
    const c = await make('C', { expires_at: '2020-01-01T00:00:00Z' });
    const stranger = await (await api.addWorkspace()).post<{ links: LinkRecord[] }>('/links', {
      destination_url: 'https://other.example/',
      name: 'Stranger',
      channel: 'facebook',
    });
    const ids = [a.id.toUpperCase(), c.id, stranger.body.links[0]?.id, crypto.randomUUID()].join(',');
    expect(await search(`ids=${ids}`)).toMatchObject({
      total: 2,
      links: [
        { link: { name: 'C' }, status: 'expired' },
        { link: { name: 'A' }, status: 'active' },
      ],
    });
    expect(await names(`ids=${ids}&status=expired`)).toEqual(['C']);
  });

  test('keeps to a channel, a folder and a tag, together', async () => {
    const folder = (await shop.post<{ id: string }>('/folders', { name: 'Ads' })).body.id;
    await make('A', { folder_id: folder, tags: ['hot', 'new'] });
    await make('B', { folder_id: folder, tags: ['hotter'], channel: 'x' });
    await make('C', { tags: ['hot'], channel: undefined, smart: true });
    expect(await names(`folder_id=${folder}`)).toEqual(['B', 'A']);
    expect(await names(`folder_id=${folder.toUpperCase()}`)).toEqual(['B', 'A']);
    expect(await names('folder_id=none')).toEqual(['C']);
    expect(await names('tag=hot')).toEqual(['C', 'A']);
    expect(await names('channel=x')).toEqual(['B']);
    expect(await names('channel=twitter')).toEqual(['B']);
    expect(await names('channel=smart')).toEqual(['C']);
    expect(await names(`tag=hot&folder_id=${folder}&channel=facebook`)).toEqual(['A']);
  });

  test('distinguishes expired and used-up links from active ones', async () => {
    const used = await make('Used', { max_clicks: 2 });
    await make('Half used', { max_clicks: 3 });
    await make('Over', { expires_at: '2020-01-01T00:00:00Z' });
    await make('To come', { expires_at: '2090-01-01T00:00:00Z' });
    const { pool } = api.stores;
    const { rows } = await pool.query<{ stream_id: string }>(
      `INSERT INTO ingest_streams (stream_id, ordinal, name) VALUES (gen_random_uuid(), 7, 'search-7') RETURNING stream_id`,
    );
    await pool.query(
      'INSERT INTO link_leases (link_id, stream_id, granted, used) SELECT id, $1, 2, 2 FROM links WHERE max_clicks IS NOT NULL',
      [rows[0]?.stream_id],
    );
    expect((await search()).links.map(({ link, status }) => [link.name, status])).toEqual([
      ['To come', 'active'],
      ['Over', 'expired'],
      ['Half used', 'active'],
      ['Used', 'used_up'],
    ]);
    expect(await names('status=active')).toEqual(['To come', 'Half used']);
    expect(await names('status=expired')).toEqual(['Over']);
    expect(await search('status=used_up')).toMatchObject({ total: 1, links: [{ link: { id: used.id } }] });
  });

  test("gives nothing of deleted links and of other workspaces'", async () => {
    const gone = await make('Gone');
    await make('Here');
    const other = await api.addWorkspace();
    await other.post('/links', {
      destination_url: 'https://else.example',
      name: 'Theirs',
      channel: 'facebook',
    });
    await storeClicks(api.stores, clicksOf(gone, 3));
    await shop.delete(`/links/${gone.id}`);
    expect(await names('sort=clicks')).toEqual(['Here']);
    expect(await search()).toMatchObject({ total: 1 });
  });
});

describe('the order', () => {
  test.each([
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
  ])('by %s %s', async (sort, order, expected) => {
    const a = await make('A');
    const b = await make('b');
    const c = await make('C');
    const visitorId = '018f0000-0000-7000-8000-000000000001';
    await storeClicks(api.stores, [...clicksOf(a, 3, { visitorId }), ...clicksOf(b, 2)]);
    await storeShares(api.stores, [orderOf(b, 900), orderOf(c, 500), orderOf(c, 0, 0.5)]);
    expect(await names(`sort=${sort}&order=${order}`)).toEqual(expected);
  });

  test('of equal figures is the newest first, also among links without any', async () => {
    const made: LinkRecord[] = [];
    for (const name of ['A', 'B', 'C', 'D']) made.push(await make(name));
    const [a, , c] = made;
    if (!a || !c) throw new Error('no links');
    await storeClicks(api.stores, [...clicksOf(a, 1), ...clicksOf(c, 1)]);
    expect(await names('sort=clicks')).toEqual(['C', 'A', 'D', 'B']);
    expect(await names('sort=clicks&order=asc')).toEqual(['D', 'B', 'C', 'A']);
  });

  test('counts the window only', async () => {
    const a = await make('A');
    const b = await make('B');
    const longAgo = () => nextNanos() - 40n * 86_400_000_000_000n;
    await storeClicks(api.stores, [
      ...clicksOf(a, 3).map((click) => ({ ...click, tsNanos: longAgo() })),
      ...clicksOf(b, 1),
    ]);
    expect(await names('sort=clicks&days=7')).toEqual(['B', 'A']);
    expect(await names('sort=clicks&days=90')).toEqual(['A', 'B']);
  });
});

describe('a page', () => {
  test('skips the offset, has the total, and carries record and figures', async () => {
    const first = await make('A', { tags: ['x'] });
    for (const name of ['B', 'C', 'D', 'E']) await make(name);
    await storeClicks(api.stores, clicksOf(first, 2));
    await storeShares(api.stores, [orderOf(first, 1_250)]);
    expect(await names('limit=2')).toEqual(['E', 'D']);
    expect(await names('limit=2&offset=2')).toEqual(['C', 'B']);
    const last = await search('limit=2&offset=4');
    expect(last.total).toBe(5);
    expect(last.window?.from).toMatch(/^\d{4}-/);
    expect(last.links).toEqual([
      {
        link: (await shop.get<LinkRecord>(`/links/${first.id}`)).body,
        status: 'active',
        figures: { clicks: 2, visitors: 2, conversions: 1, revenue: 12.5 },
      },
    ]);
    expect(await search('limit=2&offset=6')).toMatchObject({ total: 5, links: [] });
    expect(await search('limit=1&q=nothing')).toMatchObject({ total: 0, links: [] });
  });

  test('without figures is there on any plan', async () => {
    shop = await api.addWorkspace({ plan: 'free' });
    await make('A');
    expect((await shop.get('/links/search')).status).toBe(402);
    expect(await search('figures=exclude&sort=name')).toMatchObject({
      window: null,
      total: 1,
      links: [{ link: { name: 'A' }, figures: null }],
    });
  });

  test.each([
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
  ])('of %s is refused and names %s', async (query, path) => {
    const answer = await shop.get(`/links/search?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body.error.details?.[0]?.path).toBe(path);
  });
});

test('links are found by who made them, and archived ones alone', async () => {
  await make('Ours');
  await make('Smart', { channel: undefined, smart: true });
  await make('Old', { archived: true });
  const program = { name: 'Friends', destination_url: 'https://shop.example/join' };
  expect((await shop.post('/programs', program)).status).toBe(201);
  const referrer = { email: 'ada@shop.example', external_user_id: 'ada', tier: 'free' };
  expect((await shop.post('/referrals/enroll', referrer)).status).toBe(200);
  await makeBioPage(shop, `found-${Date.now()}`, {
    links: [{ label: 'Button', url: 'https://shop.example/b' }],
  });
  expect(await names('kind=own')).toEqual(['Smart', 'Ours']);
  expect((await search('kind=referral')).links.map(({ link }) => link.channel)).toEqual(['referral']);
  expect((await search('kind=bio')).links.map(({ link }) => link.channel)).toEqual(['bio']);
  expect(await names('kind=program')).toEqual(['Friends']);
  expect((await search('')).total).toBe(5);
  expect(await names('archived=only')).toEqual(['Old']);
  expect((await search('kind=own&archived=include')).total).toBe(3);
});

test('the tags of all links come with the most used first', async () => {
  await make('A', { tags: ['red', 'blue'], channel: undefined, channels: ['facebook', 'youtube'] });
  await make('B', { tags: ['green'] });
  const gone = await make('C', { tags: ['gone'] });
  await shop.delete(`/links/${gone.id}`);
  expect((await shop.get('/links/tags')).body).toEqual({
    tags: [
      { tag: 'blue', links: 2 },
      { tag: 'red', links: 2 },
      { tag: 'green', links: 1 },
    ],
  });
});

test('a taken slug and a taken external_id are errors of their fields', async () => {
  const link = await make('A', { slug: 'mine', external_id: 'one' });
  const other = await make('B');
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
