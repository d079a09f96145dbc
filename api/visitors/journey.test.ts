import { beforeEach, describe, expect } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import {
  deleteWithHistory,
  NO_UUID,
  storeClicks,
  storeIdentifies,
  storeOrders,
} from '../../test/support/stored-events.ts';
import type { LinkRecord } from '../links/schemas.ts';

type Journey = {
  visitor: { id: string; email: string | null; first_seen: string; last_seen: string };
  journey: Record<string, unknown>[];
};

const AT = 1_795_168_800_000_000_000n; // 2026-11-20T10:00:00Z
const second = (n: number) => AT + BigInt(n) * 1_000_000_000n;

let visitorId: string;

beforeEach(async () => {
  visitorId = uuidv7();
});

const own = (shop: TestWorkspace) => ({ workspaceId: shop.workspace.id, visitorId });

async function journey(shop: TestWorkspace, id = visitorId): Promise<Journey> {
  const answer = await shop.get<Journey>(`/visitors/${id}/journey`);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body;
}

describe('a journey', () => {
  test('has what a browser reported that had the visitor’s id before', async ({ api, shop }) => {
    const reported = {
      workspaceId: shop.workspace.id,
      visitorId: uuidv7(),
      otherVisitorIds: [uuidv7(), visitorId],
    };
    await storeClicks(api.stores, [{ ...own(shop), tsNanos: second(1) }]);
    await storeIdentifies(api.stores, [{ ...reported, tsNanos: second(2), email: 'ann@example.com' }]);
    await storeOrders(api.stores, [{ ...reported, tsNanos: second(3) }]);
    const { journey: steps, visitor } = await journey(shop);
    expect([steps.map(({ type }) => type), visitor.email]).toEqual([
      ['click', 'identify', 'order'],
      'ann@example.com',
    ]);
  });

  test('has clicks, identifies and orders, oldest first, and the visitor', async ({ api, shop }) => {
    const made = await shop.post<{ links: LinkRecord[] }>('/links', {
      destination_url: 'https://shop.example/',
      name: 'Sale',
      channel: 'youtube',
      slug: 'my-sale',
    });
    const linkId = made.body.links[0]?.id ?? '';
    await storeOrders(api.stores, [
      { ...own(shop), tsNanos: second(3), amountMinor: 1_999, currency: 'eur', email: 'order@example.com' },
      { ...own(shop), tsNanos: second(4), amountMinor: 500, currency: 'jpy' },
    ]);
    await storeIdentifies(api.stores, [
      { ...own(shop), tsNanos: second(2), email: 'ann@example.com' },
      { ...own(shop), tsNanos: second(6), externalUserId: 'u-1' },
    ]);
    await storeClicks(api.stores, [
      { ...own(shop), tsNanos: second(1) + 123_456_007n, linkId, channel: 'youtube' },
      { ...own(shop), tsNanos: second(5), linkId, channel: 'youtube' },
    ]);
    await shop.delete(`/links/${linkId}`); // its clicks stay in journeys, with its slug
    const click = { type: 'click', channel: 'youtube', slug: 'my-sale' };
    expect(await journey(shop)).toEqual({
      visitor: {
        id: visitorId,
        email: 'ann@example.com',
        first_seen: '2026-11-20T10:00:01.123456Z',
        last_seen: '2026-11-20T10:00:06.000000Z',
      },
      journey: [
        { ...click, ts: '2026-11-20T10:00:01.123456Z' },
        { type: 'identify', ts: '2026-11-20T10:00:02.000000Z', email: 'ann@example.com' },
        { type: 'order', ts: '2026-11-20T10:00:03.000000Z', amount: 19.99, currency: 'eur' },
        { type: 'order', ts: '2026-11-20T10:00:04.000000Z', amount: 500, currency: 'jpy' },
        { ...click, ts: '2026-11-20T10:00:05.000000Z' },
        { type: 'identify', ts: '2026-11-20T10:00:06.000000Z', email: null },
      ],
    });
    expect((await journey(shop, visitorId.toUpperCase())).visitor.id).toBe(visitorId);
  });

  test('shows an order once, with the data and visitor of its highest version', async ({ api, shop }) => {
    const rightful = uuidv7();
    const order = { ...own(shop), orderId: 'o-1', tsNanos: second(1) };
    await storeClicks(api.stores, [own(shop), { ...own(shop), visitorId: rightful }]);
    await storeOrders(api.stores, [{ ...order, version: 1n, amountMinor: 100 }]);
    await storeOrders(api.stores, [{ ...order, version: 2n, amountMinor: 200 }]);
    expect((await journey(shop)).journey[0]).toMatchObject({ type: 'order', amount: 2 });
    await storeOrders(api.stores, [{ ...order, visitorId: rightful, version: 3n, amountMinor: 300 }]);
    expect((await journey(shop)).journey).toHaveLength(1);
    expect((await journey(shop, rightful)).journey[0]).toMatchObject({ type: 'order', amount: 3 });
  });

  test('has the orders that came with an email of the visitor and without a visitor', async ({
    api,
    shop,
  }) => {
    const email = 'bob@example.com';
    await storeIdentifies(api.stores, [{ ...own(shop), email, tsNanos: second(1) }]);
    await storeOrders(api.stores, [
      { workspaceId: shop.workspace.id, email, tsNanos: second(2) },
      { workspaceId: shop.workspace.id, visitorId: uuidv7(), email, tsNanos: second(3) },
      { workspaceId: shop.workspace.id, email: 'else@example.com', tsNanos: second(4) },
      { workspaceId: (await api.addWorkspace()).workspace.id, email, tsNanos: second(5) },
    ]);
    expect((await journey(shop)).journey.map((entry) => entry.ts)).toEqual([
      '2026-11-20T10:00:01.000000Z',
      '2026-11-20T10:00:02.000000Z',
    ]);
  });

  test('has the orders of a user whom the visitor identified as, without a visitor', async ({
    api,
    shop,
  }) => {
    const workspaceId = shop.workspace.id;
    await storeIdentifies(api.stores, [{ ...own(shop), externalUserId: 'u-7', tsNanos: second(1) }]);
    await storeOrders(api.stores, [
      { workspaceId, externalUserId: 'u-7', tsNanos: second(2) },
      { workspaceId, visitorId: uuidv7(), externalUserId: 'u-7', tsNanos: second(3) },
      { workspaceId, externalUserId: 'u-8', tsNanos: second(4) },
      { workspaceId, tsNanos: second(5) },
    ]);
    expect((await journey(shop)).journey.map((entry) => entry.ts)).toEqual([
      '2026-11-20T10:00:01.000000Z',
      '2026-11-20T10:00:02.000000Z',
    ]);
  });

  test('takes the email of the newest identify, else that of the newest order', async ({ api, shop }) => {
    await storeOrders(api.stores, [
      { ...own(shop), email: 'first@example.com', tsNanos: second(8) },
      { ...own(shop), email: 'second@example.com', tsNanos: second(9) },
    ]);
    expect((await journey(shop)).visitor.email).toBe('second@example.com');
    await storeIdentifies(api.stores, [
      { ...own(shop), email: 'new@example.com', tsNanos: second(3) },
      { ...own(shop), email: 'old@example.com', tsNanos: second(2) },
    ]);
    expect((await journey(shop)).visitor.email).toBe('new@example.com');
  });

  test('is capped at the newest 10,000 entries; first_seen is not', async ({ api, shop }) => {
    const click = (n: number) => ({ ...own(shop), tsNanos: second(n) });
    await storeClicks(
      api.stores,
      Array.from({ length: 10_005 }, (_, n) => click(n)),
    );
    await storeIdentifies(api.stores, [{ ...own(shop), tsNanos: second(20_000), email: 'a@example.com' }]);
    const got = await journey(shop);
    expect(got.journey).toHaveLength(10_000);
    expect(got.journey[0]?.ts).toBe('2026-11-20T10:00:06.000000Z');
    expect(got.journey.at(-1)).toMatchObject({ type: 'identify' });
    expect(got.visitor.first_seen).toBe('2026-11-20T10:00:00.000000Z');
  });

  test("loses a deleted bio button's clicks, and a visitor with no other events", async ({ api, shop }) => {
    const [made] = await storeClicks(api.stores, [own(shop)]);
    await deleteWithHistory(api.stores, shop.workspace.id, made?.linkId);
    expect((await shop.get(`/visitors/${visitorId}/journey`)).status).toBe(404);
  });
});

describe('a visitor', () => {
  test('exists by one click, one identify or one order, also a bot', async ({ api, shop }) => {
    const visitors = [uuidv7(), uuidv7(), uuidv7(), uuidv7()] as const;
    const of = (n: 0 | 1 | 2 | 3) => ({ ...own(shop), visitorId: visitors[n] });
    await storeClicks(api.stores, [of(0), { ...of(3), isBot: true }]);
    await storeIdentifies(api.stores, [of(1)]);
    await storeOrders(api.stores, [of(2)]);
    for (const id of visitors) expect((await journey(shop, id)).journey).toHaveLength(1);
  });

  test('of another workspace is not found', async ({ api, shop }) => {
    const other = await api.addWorkspace();
    await storeClicks(api.stores, [own(shop)]);
    await storeIdentifies(api.stores, [own(shop)]);
    await storeOrders(api.stores, [own(shop)]);
    const answer = await other.get(`/visitors/${visitorId}/journey`);
    expect([answer.status, answer.body.error.code]).toEqual([404, 'not_found']);
  });

  test('with the zero id is not found: events without a visitor are in no journey', async ({ api, shop }) => {
    await storeIdentifies(api.stores, [{ ...own(shop), visitorId: NO_UUID }]);
    expect((await shop.get(`/visitors/${NO_UUID}/journey`)).status).toBe(404);
  });

  test.for(['7', 'not-a-uuid', `${'0'.repeat(8)}-0000`])('with the id %s is a 400', async (id, { shop }) => {
    const answer = await shop.get(`/visitors/${id}/journey`);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 'bad_request', details: [{ path: 'id' }] });
  });

  test('needs a paid plan and a secret key', async ({ api, shop }) => {
    const free = await api.addWorkspace({ plan: 'free' });
    expect((await free.get('/visitors/7/journey')).status).toBe(402);
    expect((await shop.get('/visitors/7/journey', { key: shop.publishableKey })).status).toBe(403);
  });
});
