import { describe, expect } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { storeClicks, storeShares } from '../../test/support/stored-events.ts';
import type { LinkRecord, PerformanceRow } from './schemas.ts';

type Report = { window: { from: string; to: string }; links: PerformanceRow[] };

const own = (shop: TestWorkspace) => ({ workspaceId: shop.workspace.id });

async function report(shop: TestWorkspace, query = ''): Promise<PerformanceRow[]> {
  const answer = await shop.get<Report>(`/links?${query}`);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body.links;
}

async function makeLinks(
  shop: TestWorkspace,
  channels: string[],
  more: object = {},
  owner = shop,
): Promise<LinkRecord[]> {
  const answer = await owner.post<{ links: LinkRecord[] }>('/links', {
    destination_url: 'https://shop.example/',
    name: 'Sale',
    ...(channels.length === 1 ? { channel: channels[0] } : { channels }),
    ...more,
  });
  expect([answer.status, answer.text]).toEqual([201, answer.text]);
  return answer.body.links;
}

const clicksOf = (shop: TestWorkspace, link: LinkRecord | undefined, count: number) =>
  Array.from({ length: count }, () => ({
    ...own(shop),
    linkId: link?.id ?? '',
    channel: link?.channel ?? 'other',
  }));

const orderOf = (shop: TestWorkspace, link: LinkRecord | undefined, amountMinor: number, share = 1) => ({
  ...own(shop),
  parts: [{ linkId: link?.id ?? '', channel: link?.channel ?? 'other', share, amountMinor }],
});

describe('the best links', () => {
  test('come by revenue, then clicks, then the newest; those without activity are left out', async ({
    api,
    shop,
  }) => {
    const [a, b, c, d, e] = await makeLinks(shop, [
      'facebook',
      'youtube',
      'tiktok',
      'reddit',
      'discord',
      'slack',
    ]);
    await storeClicks(api.stores, [
      ...clicksOf(shop, a, 1),
      ...clicksOf(shop, b, 3),
      ...clicksOf(shop, c, 1),
      ...clicksOf(shop, d, 2),
    ]);
    await storeShares(api.stores, [orderOf(shop, e, 1_250), orderOf(shop, d, 1_250)]);
    const rows = await report(shop);
    expect(rows.map((row) => row.channel)).toEqual(['reddit', 'discord', 'youtube', 'tiktok', 'facebook']);
    expect(rows[0]).toEqual({
      link_id: d?.id,
      domain: null,
      slug: d?.slug,
      channel: 'reddit',
      destination: 'https://shop.example/',
      clicks: 2,
      visitors: 2,
      leads: 0,
      conversions: 1,
      revenue: 12.5,
    });
    expect((await report(shop, 'limit=2')).map((row) => row.link_id)).toEqual([d?.id, e?.id]);
  });

  test('are a full page also when many of the busiest were deleted', async ({ api, shop }) => {
    const made: LinkRecord[] = [];
    for (let n = 0; n < 13; n++) {
      made.push(
        ...(await makeLinks(shop, [
          'facebook',
          'youtube',
          'tiktok',
          'reddit',
          'discord',
          'slack',
          'threads',
          'nostr',
          'lemmy',
          'tumblr',
        ])),
      );
    }
    // Every link has a click, and the first ones have more. 120 of them are deleted, 10 stay.
    await storeClicks(
      api.stores,
      made.flatMap((link, n) => clicksOf(shop, link, n < 120 ? 2 : 1)),
    );
    await api.stores.pool.query('UPDATE links SET deleted_at = now() WHERE id = ANY ($1)', [
      made.slice(0, 120).map((link) => link.id),
    ]);
    const rows = await report(shop, 'limit=5');
    expect(rows.map((row) => row.link_id)).toEqual(
      made
        .slice(125)
        .map((link) => link.id)
        .reverse(),
    );
    expect(await report(shop, 'limit=500')).toHaveLength(10);
  });

  test("a Smart Link's channel is null", async ({ api, shop }) => {
    const answer = await shop.post<{ links: LinkRecord[] }>('/links', {
      destination_url: 'https://shop.example/',
      name: 'Smart',
      smart: true,
    });
    await storeClicks(api.stores, clicksOf(shop, answer.body.links[0], 1));
    expect(await report(shop)).toMatchObject([{ channel: null, clicks: 1 }]);
  });
});

describe('given ids', () => {
  test('answer exactly those links of the workspace, with zeros, whatever the limit', async ({
    api,
    shop,
  }) => {
    const [a, b, c] = await makeLinks(shop, ['facebook', 'youtube', 'tiktok']);
    const [named] = await makeLinks(shop, ['facebook'], { external_id: 'post-7' });
    await storeClicks(api.stores, [...clicksOf(shop, b, 2), ...clicksOf(shop, c, 1)]);
    expect(await report(shop, `limit=many&ids=${a?.id}`)).toHaveLength(1);
    const rows = await report(
      shop,
      `limit=1&ids=${[a, b, named].map((link) => link?.id.toUpperCase()).join(',')},${uuidv7()}`,
    );
    expect(rows.map((row) => [row.link_id, row.clicks, row.external_id])).toEqual([
      [b?.id, 2, null],
      [named?.id, 0, 'post-7'],
      [a?.id, 0, null],
    ]);
    expect(rows[1]).toEqual({
      link_id: named?.id,
      domain: null,
      slug: named?.slug,
      channel: 'facebook',
      destination: 'https://shop.example/',
      clicks: 0,
      visitors: 0,
      leads: 0,
      conversions: 0,
      revenue: 0,
      external_id: 'post-7',
    });
    expect((await report(shop))[0]).not.toHaveProperty('external_id');
  });

  test("leave out other workspaces' links and deleted ones, and repeat none", async ({ api, shop }) => {
    const other = await api.addWorkspace();
    const [theirs] = await makeLinks(shop, ['facebook'], {}, other);
    const [kept, gone] = await makeLinks(shop, ['facebook', 'youtube']);
    await storeClicks(api.stores, [
      ...clicksOf(shop, kept, 1),
      ...clicksOf(shop, gone, 1),
      { workspaceId: other.workspace.id, linkId: theirs?.id ?? '' },
      { workspaceId: other.workspace.id, linkId: kept?.id ?? '' },
    ]);
    await shop.delete(`/links/${gone?.id}`);
    const rows = await report(shop, `ids=${kept?.id},${kept?.id},${gone?.id},${theirs?.id}`);
    expect(rows).toMatchObject([{ link_id: kept?.id, clicks: 1 }]);
    expect(await report(shop)).toMatchObject([{ link_id: kept?.id, clicks: 1 }]);
    expect((await report(shop, `ids=${theirs?.id}`)).length).toBe(0);
  });

  test('carry the full record with include=settings', async ({ api, shop }) => {
    const [link] = await makeLinks(shop, ['facebook'], { metadata: { post: 1 } });
    const record = (await shop.get<LinkRecord>(`/links/${link?.id}`)).body;
    expect((await report(shop, `ids=${link?.id}&include=settings`))[0]?.settings).toEqual(record);
    await storeClicks(api.stores, clicksOf(shop, link, 1));
    expect((await report(shop, 'include=settings'))[0]?.settings).toEqual(record);
  });

  test('may be 500 over a real socket', async ({ api, shop }) => {
    const [link] = await makeLinks(shop, ['facebook']);
    const ids = [...Array.from({ length: 499 }, () => uuidv7()), link?.id];
    const address = await api.app.listen({ host: '127.0.0.1', port: 0 });
    const response = await fetch(`${address}/api/v1/links?ids=${encodeURIComponent(ids.join(','))}`, {
      headers: { authorization: `Bearer ${shop.secretKey}` },
    });
    const body = (await response.json()) as Report;
    expect([response.status, body.links.map((row) => row.link_id)]).toEqual([200, [link?.id]]);
  });
});

describe('limits', () => {
  const many = Array.from({ length: 501 }, () => uuidv7()).join(',');
  test.for([
    ['limit=0', 'limit'],
    ['limit=501', 'limit'],
    ['limit=1.5', 'limit'],
    ['days=0', 'days'],
    ['days=366', 'days'],
    ['from=2026-11-20&to=2026-11-20', 'from'],
    ['ids=x', 'ids'],
    ['ids=', 'ids'],
    [`ids=${many}`, 'ids'],
    ['include=everything', 'include'],
    ['view=tree', 'view'],
    ['cursor=2026-11-20', 'cursor'],
    ['channel=x', 'channel'],
    ['domain=none', 'domain'],
    [`destination_id=${uuidv7()}`, 'destination_id'],
    ['slug=sale', 'slug'],
    ['external_id=post-1', 'external_id'],
  ])('%s is refused', async ([query, path], { shop }) => {
    const answer = await shop.get(`/links?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 'bad_request', details: [{ path }] });
  });

  test('performance needs a paid plan and a secret key', async ({ api, shop }) => {
    const free = await api.addWorkspace({ plan: 'free' });
    expect((await free.get('/links?limit=0')).body.error.code).toBe('payment_required');
    expect((await free.get('/links?view=records')).status).toBe(200);
    expect((await shop.get('/links', { key: shop.publishableKey })).body.error.code).toBe('forbidden');
  });
});
