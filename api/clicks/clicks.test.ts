import { describe, expect } from 'vitest';
import { clickId, uuidv7 } from '../../core/ids.ts';
import { formatInstant } from '../../core/time/timestamps.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { NIGHTLY } from '../../test/support/nightly.ts';
import {
  deleteWithHistory,
  NOTHING_REMEMBERED,
  nextNanos,
  storeClicks,
} from '../../test/support/stored-events.ts';

type Click = { id: string; ts: string; link_id: string; visitor_id: string; is_bot: boolean };
type Page = { clicks: Click[]; next_cursor: string | null; watermark: string };

const MILLI = 1_795_168_800_123_000_000n; // 2026-11-20T10:00:00.123Z
const A_LINK = '019a0000-0000-7000-8000-000000000001';

const own = (shop: TestWorkspace) => ({ workspaceId: shop.workspace.id });

async function page(shop: TestWorkspace, query: string): Promise<Page> {
  const answer = await shop.get<Page>(`/clicks?${query}`);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body;
}

/** Follows `next_cursor` to the end of the stream. */
async function walk(shop: TestWorkspace, query: string): Promise<Click[]> {
  const clicks: Click[] = [];
  let cursor: string | null = null;
  do {
    const got: Page = await page(shop, `${query}${cursor ? `&before=${encodeURIComponent(cursor)}` : ''}`);
    clicks.push(...got.clicks);
    cursor = got.next_cursor;
  } while (cursor !== null);
  return clicks;
}

describe('a walk', () => {
  test.for(NIGHTLY ? [7, 100, 333, 500] : [100, 333])(
    'over 2,000 clicks of one millisecond sees each exactly once, %i a page',
    async (limit, { api, shop }) => {
      // Two streams: the same microseconds, told apart by the last three digits.
      const made = await storeClicks(
        api.stores,
        Array.from({ length: 2_000 }, (_, n) => ({
          ...own(shop),
          tsNanos: MILLI + BigInt(Math.floor(n / 2) % 1_000) * 1_000n + BigInt(n % 2),
        })),
      );
      const seen = await walk(shop, `limit=${limit}`);
      const newestFirst = made.map((click) => click.tsNanos).sort((a, b) => (a > b ? -1 : 1));
      expect(seen.map((click) => click.id)).toEqual(newestFirst.map(clickId));
      expect(new Set(seen.map((click) => click.ts.slice(0, 23)))).toEqual(
        new Set(['2026-11-20T10:00:00.123']),
      );
    },
  );

  test('with link_ids, since and before sees exactly the clicks between', async ({ api, shop }) => {
    const links = [uuidv7(), uuidv7(), uuidv7()];
    const made = await storeClicks(
      api.stores,
      Array.from({ length: 2_000 }, (_, n) => ({
        ...own(shop),
        tsNanos: MILLI + BigInt(n) * 500n,
        linkId: links[n % 3] ?? '',
      })),
    );
    const since = formatInstant(MILLI + 100_000n, 9);
    const wanted = made
      .filter((click) => click.tsNanos >= MILLI + 100_000n && click.linkId !== links[2])
      .map((click) => clickId(click.tsNanos))
      .reverse();
    const seen = await walk(shop, `limit=137&since=${since}&link_ids=${links[0]},${links[1]}`);
    expect(seen.map((click) => click.id)).toEqual(wanted);
  });

  test('finds clicks of any age behind newer ones', async ({ api, shop }) => {
    const ages = [0, 0.9, 1, 1.1, 31.9, 32, 33, 400, 20_000].map((days) => BigInt(Math.round(days * 86_400)));
    const now = nextNanos();
    const made = await storeClicks(
      api.stores,
      ages.map((seconds) => ({ ...own(shop), tsNanos: now - seconds * 1_000_000_000n })),
    );
    const wanted = made.map((click) => clickId(click.tsNanos));
    for (const limit of [1, 2, 3, 5, 100]) {
      expect((await walk(shop, `limit=${limit}`)).map((click) => click.id)).toEqual(wanted);
    }
    const since = await walk(shop, `limit=2&since=${formatInstant(now - 34n * 86_400n * 1_000_000_000n, 9)}`);
    expect(since.map((click) => click.id)).toEqual(wanted.slice(0, 7));
  });

  test('ends with a null cursor, also when the last page is full', async ({ api, shop }) => {
    await storeClicks(
      api.stores,
      Array.from({ length: 10 }, () => own(shop)),
    );
    const first = await page(shop, 'limit=5');
    expect(first.clicks).toHaveLength(5);
    const second = await page(shop, `limit=5&before=${first.next_cursor}`);
    expect(second.clicks).toHaveLength(5);
    expect(second.next_cursor).toBeNull();
    expect(await page(shop, `before=${second.clicks[4]?.ts}`)).toMatchObject({
      clicks: [],
      next_cursor: null,
    });
  });
});

describe('a page', () => {
  test('shows a click with every field, unknown ones empty, microseconds in its time', async ({
    api,
    shop,
  }) => {
    const [made] = await storeClicks(api.stores, [
      { ...own(shop), tsNanos: MILLI + 456_007n, channel: 'linkedin', country: '', city: '' },
    ]);
    expect((await page(shop, '')).clicks).toEqual([
      {
        ...NOTHING_REMEMBERED,
        id: clickId(MILLI + 456_007n),
        ts: '2026-11-20T10:00:00.123456Z',
        link_id: made?.linkId,
        visitor_id: made?.visitorId,
        channel: 'linkedin',
        country: '',
        city: '',
        device: 'mobile',
        browser: 'Safari',
        os: 'iOS',
        referer: '',
      },
    ]);
  });

  test('shows what a click remembers of its link, its visitor and their network', async ({ api, shop }) => {
    const remembered = {
      domain: 'go.example.com',
      slug: 'Sale',
      trigger: 'qr',
      utm_source: 'newsletter',
      utm_medium: 'email',
      utm_campaign: 'Autumn "sale"',
      utm_term: 'shoes',
      utm_content: 'head\\er',
      ad_network: 'google',
      ad_click_param: 'gclid',
      ad_click_id: 'Cj0KCQiA',
      referer_host: 'mail.example',
      continent: 'EU',
      region: 'DE-BE',
      language: 'de',
      rule_id: 'de-only',
      variant_id: 'b',
      asn: 2 ** 32 - 1,
    };
    await storeClicks(api.stores, [{ ...own(shop), columns: remembered }]);
    expect((await page(shop, '')).clicks).toEqual([expect.objectContaining(remembered)]);
  });

  test('takes since inclusively and before exclusively', async ({ api, shop }) => {
    await storeClicks(
      api.stores,
      [0n, 1_000n, 2_000n].map((more) => ({ ...own(shop), tsNanos: MILLI + more })),
    );
    const between = await page(shop, 'since=2026-11-20T10:00:00.123Z&before=2026-11-20T10:00:00.123002Z');
    expect(between.clicks.map((click) => click.ts)).toEqual([
      '2026-11-20T10:00:00.123001Z',
      '2026-11-20T10:00:00.123000Z',
    ]);
    const other = await page(shop, 'since=2026-11-20T12:00:00.123001%2B02:00');
    expect(other.clicks).toHaveLength(2);
    expect((await page(shop, 'since=2027-01-01&before=2026-01-01')).clicks).toEqual([]);
  });

  test('leaves bots out unless they are asked for', async ({ api, shop }) => {
    await storeClicks(api.stores, [own(shop), { ...own(shop), isBot: true }]);
    expect((await page(shop, '')).clicks.map((click) => click.is_bot)).toEqual([false]);
    expect((await page(shop, 'bots=include')).clicks.map((click) => click.is_bot)).toEqual([true, false]);
  });

  test('is of one link, or of several, with or without since', async ({ api, shop }) => {
    const [a, b, c] = [uuidv7(), uuidv7(), uuidv7()];
    await storeClicks(api.stores, [
      { ...own(shop), linkId: a },
      { ...own(shop), linkId: b },
      { ...own(shop), linkId: c },
    ]);
    const links = async (query: string) => (await page(shop, query)).clicks.map((click) => click.link_id);
    expect(await links(`link_id=${b}`)).toEqual([b]);
    expect(await links(`link_id=${b.toUpperCase()}`)).toEqual([b]);
    expect(await links(`link_ids=${a},${c}`)).toEqual([c, a]);
    expect(await links(`link_ids=${a},${c}&since=2020-01-01`)).toEqual([c, a]);
    expect(await links(`link_ids=${a},${c}&link_id=${c}`)).toEqual([c]);
    expect(await links(`link_ids=${a}&link_id=${c}`)).toEqual([]);
  });

  test("never shows another workspace's clicks, also not by its links' ids", async ({ api, shop }) => {
    const other = await api.addWorkspace();
    const [theirs] = await storeClicks(api.stores, [{ workspaceId: other.workspace.id }]);
    expect((await page(shop, '')).clicks).toEqual([]);
    expect((await page(shop, `link_id=${theirs?.linkId}`)).clicks).toEqual([]);
    expect((await page(shop, `link_ids=${theirs?.linkId}`)).clicks).toEqual([]);
  });

  test("loses a deleted bio button's clicks at once", async ({ api, shop }) => {
    const [gone, kept] = await storeClicks(api.stores, [own(shop), own(shop)]);
    await deleteWithHistory(api.stores, shop.workspace.id, gone?.linkId);
    expect((await page(shop, '')).clicks.map((click) => click.link_id)).toEqual([kept?.linkId]);
    expect((await page(shop, `link_id=${gone?.linkId}`)).clicks).toEqual([]);
  });
});

describe('limits', () => {
  const many = Array.from({ length: 501 }, () => uuidv7()).join(',');
  test.for([
    ['limit=0', 'limit'],
    ['limit=501', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1e2', 'limit'],
    ['before=yesterday', 'before'],
    ['before=2026-11-20T10:00:00', 'before'],
    ['before=', 'before'],
    ['since=1795168800', 'since'],
    ['since=2026-02-30', 'since'],
    ['link_id=7', 'link_id'],
    [`link_ids=${A_LINK},x`, 'link_ids'],
    ['link_ids=', 'link_ids'],
    [`link_ids=${A_LINK},`, 'link_ids'],
    [`link_ids=${many}`, 'link_ids'],
    ['bots=only', 'bots'],
  ])('%s is refused', async ([query, path], { shop }) => {
    const answer = await shop.get(`/clicks?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 'bad_request', details: [{ path }] });
  });

  test('a page holds 100 by default and 500 at most', async ({ api, shop }) => {
    await storeClicks(
      api.stores,
      Array.from({ length: 501 }, () => own(shop)),
    );
    expect((await page(shop, '')).clicks).toHaveLength(100);
    expect((await page(shop, 'limit=500')).clicks).toHaveLength(500);
    expect((await page(shop, 'limit=1')).clicks).toHaveLength(1);
  });

  test('a free plan gets 402, a publishable key 403, no key 401, in that order of checks', async ({
    api,
  }) => {
    const free = await api.addWorkspace({ plan: 'free' });
    const behind = await api.addWorkspace({ plan: 'pro', plan_status: 'past_due' });
    for (const path of ['/clicks?limit=0', '/clicks/export?format=x']) {
      expect((await free.get(path)).body.error.code).toBe('payment_required');
      expect((await behind.get(path)).status).toBe(402);
      expect((await free.get(path, { key: free.publishableKey })).status).toBe(403);
      expect((await free.get(path, { key: null })).status).toBe(401);
    }
  });

  test('500 ids in the query, about 20 KB, are answered over a real socket', async ({ api, shop }) => {
    const ids = Array.from({ length: 500 }, () => uuidv7());
    const [made] = await storeClicks(api.stores, [{ ...own(shop), linkId: ids[499] ?? '' }]);
    const address = await api.app.listen({ host: '127.0.0.1', port: 0 });
    const response = await fetch(
      `${address}/api/v1/clicks?since=${formatInstant(nextNanos() - 60_000_000_000n, 9)}&link_ids=${encodeURIComponent(ids.join(','))}`,
      { headers: { authorization: `Bearer ${shop.secretKey}` } },
    );
    const body = (await response.json()) as Page;
    expect([response.status, body.clicks.map((click) => click.link_id)]).toEqual([200, [made?.linkId]]);
  });
});
