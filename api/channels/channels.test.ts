import { describe, expect } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { formatInstant, NANOS_PER_DAY } from '../../core/time/timestamps.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import {
  deleteWithHistory,
  NO_UUID,
  nextNanos,
  storeClicks,
  storeShares,
} from '../../test/support/stored-events.ts';

type Row = {
  channel: string;
  clicks: number;
  visitors: number;
  conversions: number;
  revenue: number;
  ltv?: number;
};
type Report = { window: { from: string; to: string }; channels: Row[] };

const own = (shop: TestWorkspace) => ({ workspaceId: shop.workspace.id });

async function report(shop: TestWorkspace, query = ''): Promise<Report> {
  const answer = await shop.get<Report>(`/channels?${query}`);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body;
}

describe('a channel report', () => {
  test('counts clicks and visitors without bots, conversions and revenue, by revenue', async ({
    api,
    shop,
  }) => {
    const visitorId = uuidv7();
    const linkId = uuidv7();
    await storeClicks(api.stores, [
      { ...own(shop), visitorId },
      { ...own(shop), visitorId },
      own(shop),
      { ...own(shop), isBot: true },
      { ...own(shop), channel: 'youtube' },
      { ...own(shop), channel: 'tiktok', isBot: true },
      { ...own(shop), channel: 'linkedin' },
      { ...own(shop), channel: 'linkedin' },
    ]);
    await storeShares(api.stores, [
      { ...own(shop), parts: [{ linkId, channel: 'youtube', share: 1, amountMinor: 1_999 }] },
      { ...own(shop), parts: [{ linkId, channel: 'youtube', share: 1, amountMinor: 1 }] },
      { ...own(shop), parts: [{ linkId, channel: 'newsletter', share: 1, amountMinor: 500 }] },
      { ...own(shop), parts: [{ linkId: NO_UUID, channel: '', share: 1, amountMinor: 77_700 }] },
    ]);
    const { channels } = await report(shop);
    expect(channels).toEqual([
      { channel: 'youtube', clicks: 1, visitors: 1, leads: 0, conversions: 2, revenue: 20 },
      { channel: 'newsletter', clicks: 0, visitors: 0, leads: 0, conversions: 1, revenue: 5 },
      { channel: 'facebook', clicks: 3, visitors: 2, leads: 0, conversions: 0, revenue: 0 },
      { channel: 'linkedin', clicks: 2, visitors: 2, leads: 0, conversions: 0, revenue: 0 },
    ]);
  });

  test('counts an order once, by its highest version, in the window of its own time', async ({
    api,
    shop,
  }) => {
    const linkId = uuidv7();
    const orderId = 'order-1';
    const now = nextNanos();
    const part = { linkId, channel: 'facebook', share: 0.5, amountMinor: 500 };
    const order = { ...own(shop), orderId, tsNanos: now };
    const first = { ...order, version: 1n, parts: [part, part] };
    await storeShares(api.stores, [first]);
    // The later report counts: it has fewer parts, and another amount.
    const better = {
      ...{ ...order, version: 2n, replaces: [first] },
      parts: [{ ...part, share: 1, amountMinor: 3_000 }],
    };
    await storeShares(api.stores, [better]);
    await storeShares(api.stores, [better]); // a repeated insert
    expect((await report(shop)).channels).toMatchObject([{ conversions: 1, revenue: 30 }]);
    // A version that moves the order out of the window removes it from the report.
    const moved = { ...better, version: 3n, tsNanos: now - 40n * NANOS_PER_DAY, replaces: [first, better] };
    await storeShares(api.stores, [moved]);
    expect((await report(shop)).channels).toEqual([]);
    expect((await report(shop, 'days=60')).channels).toMatchObject([{ conversions: 1, revenue: 30 }]);
  });

  test('shows fractions of a linear order, which add up', async ({ api, shop }) => {
    const third = (channel: string, amountMinor: number) => ({
      linkId: uuidv7(),
      channel,
      share: 1 / 3,
      amountMinor,
    });
    await storeShares(api.stores, [
      { ...own(shop), parts: [third('facebook', 334), third('youtube', 333), third('facebook', 333)] },
      { ...own(shop), parts: [third('facebook', 34), third('facebook', 33), third('facebook', 33)] },
    ]);
    const { channels } = await report(shop);
    expect(channels).toMatchObject([
      { channel: 'facebook', revenue: 7.67 },
      { channel: 'youtube', revenue: 3.33 },
    ]);
    expect(channels[0]?.conversions).toBeCloseTo(5 / 3, 8);
    expect(channels.reduce((sum, row) => sum + row.conversions, 0)).toBeCloseTo(2, 8);
  });

  test("is in the workspace's currency, whatever its exponent", async ({ api }) => {
    const shop = await api.addWorkspace({ currency: 'jpy' });
    await storeShares(api.stores, [
      { ...own(shop), parts: [{ linkId: uuidv7(), channel: 'facebook', share: 1, amountMinor: 1_999 }] },
    ]);
    expect((await report(shop)).channels).toMatchObject([{ revenue: 1_999 }]);
  });

  test('adds ltv when asked: all-time revenue of the people who first came through the channel', async ({
    api,
    shop,
  }) => {
    const long = nextNanos() - 300n * NANOS_PER_DAY;
    const part = { linkId: uuidv7(), channel: 'youtube', share: 1, amountMinor: 1_000 };
    await storeClicks(api.stores, [
      { ...own(shop), channel: 'facebook' },
      { ...own(shop), channel: 'youtube' },
    ]);
    await storeShares(api.stores, [
      { ...own(shop), tsNanos: long, firstChannel: 'facebook', parts: [part] },
      {
        ...own(shop),
        firstChannel: 'facebook',
        parts: [
          { ...part, share: 0.5 },
          { ...part, share: 0.5 },
        ],
      },
      { ...own(shop), firstChannel: 'tiktok', parts: [part] },
      // The clicks are older than the attribution window: no click gets the order, but the person is known.
      { ...own(shop), firstChannel: 'facebook', parts: [{ ...part, linkId: NO_UUID, channel: '' }] },
    ]);
    expect((await report(shop, 'ltv=1')).channels).toMatchObject([
      { channel: 'youtube', conversions: 2, revenue: 30, ltv: 0 },
      { channel: 'facebook', revenue: 0, ltv: 40 },
    ]);
    expect((await report(shop)).channels[0]).not.toHaveProperty('ltv');
  });

  test("keeps a deleted bio button's first clicks out of ltv, and orders credited to it where they began", async ({
    api,
    shop,
  }) => {
    const [gone, left] = [uuidv7(), uuidv7()];
    const part = { linkId: left, channel: 'facebook', share: 1, amountMinor: 5_500 };
    const credited = { linkId: gone, channel: 'bio', share: 1, amountMinor: 10_000 };
    await storeClicks(api.stores, [
      { ...own(shop), channel: 'twitter' },
      { ...own(shop), channel: 'bio' },
      { ...own(shop), channel: 'facebook', linkId: left },
    ]);
    await storeShares(api.stores, [
      { ...own(shop), firstChannel: 'twitter', firstBioLinks: [], parts: [credited] },
      {
        ...own(shop),
        firstChannel: 'bio',
        firstBioLinks: [gone],
        firstOtherChannel: 'facebook',
        parts: [part],
      },
      { ...own(shop), firstChannel: 'bio', firstBioLinks: [gone], parts: [credited] },
    ]);
    const values = async () =>
      (await report(shop, 'ltv=1')).channels
        .map(({ channel, ltv }) => [channel, ltv])
        .sort(([a], [b]) => String(a).localeCompare(String(b)));
    expect(await values()).toEqual([
      ['bio', 155],
      ['facebook', 0],
      ['twitter', 100],
    ]);
    await deleteWithHistory(api.stores, shop.workspace.id, gone);
    expect(await values()).toEqual([
      ['bio', 0],
      ['facebook', 55],
      ['twitter', 100],
    ]);
  });

  test("has nothing of another workspace and nothing of a deleted bio button's history", async ({
    api,
    shop,
  }) => {
    const other = await api.addWorkspace();
    const gone = uuidv7();
    const credit = { channel: 'bio', share: 1, amountMinor: 100 };
    await storeClicks(api.stores, [
      { workspaceId: other.workspace.id },
      { ...own(shop), channel: 'bio', linkId: gone },
    ]);
    await storeShares(api.stores, [
      { workspaceId: other.workspace.id, firstChannel: 'bio', parts: [{ ...credit, linkId: gone }] },
      { ...own(shop), firstChannel: 'bio', parts: [{ ...credit, linkId: gone }] },
    ]);
    expect((await report(shop, 'ltv=1')).channels).toMatchObject([{ channel: 'bio', clicks: 1, ltv: 1 }]);
    await deleteWithHistory(api.stores, shop.workspace.id, gone);
    expect((await report(shop, 'ltv=1')).channels).toEqual([]);
  });
});

describe('the window', () => {
  test('is half-open and shown as it was used', async ({ api, shop }) => {
    const at = 1_795_168_800_000_000_000n; // 2026-11-20T10:00:00Z
    await storeClicks(
      api.stores,
      [-1n, 0n, 1n, 999_999_999n, 1_000_000_000n].map((more) => ({ ...own(shop), tsNanos: at + more })),
    );
    const got = await report(shop, 'from=2026-11-20T10:00:00Z&to=2026-11-20T12:00:01%2B02:00');
    expect(got.window).toEqual({ from: '2026-11-20T10:00:00.000Z', to: '2026-11-20T10:00:01.000Z' });
    expect(got.channels).toMatchObject([{ clicks: 3 }]);
    expect((await report(shop, 'from=0001-01-01&to=9999-12-31')).channels).toMatchObject([{ clicks: 5 }]);
  });

  test('is the last 30 days by default, and days back from to', async ({ shop }) => {
    const before = Date.now();
    const { window } = await report(shop);
    expect(Date.parse(window.to) - Date.parse(window.from)).toBe(30 * 86_400_000);
    expect(Date.parse(window.to)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(window.to)).toBeLessThanOrEqual(Date.now());
    expect((await report(shop, 'to=2026-11-20&days=2')).window.from).toBe('2026-11-18T00:00:00.000Z');
    expect((await report(shop, 'to=2026-11-20&days=2&from=2026-01-01')).window.from).toBe(
      '2026-01-01T00:00:00.000Z',
    );
    expect((await report(shop, 'days=365')).channels).toEqual([]);
  });

  test.for([
    ['days=0', 'days'],
    ['days=366', 'days'],
    ['days=1.5', 'days'],
    ['days=x', 'days'],
    ['days=0&from=2026-01-01', 'days'],
    ['from=2026-11-20&to=2026-11-20', 'from'],
    ['from=2026-11-21&to=2026-11-20', 'from'],
    ['from=tomorrow', 'from'],
    ['to=2026-13-01', 'to'],
    ['from=2999-01-01', 'from'],
    ['ltv=yes', 'ltv'],
  ])('%s is refused', async ([query, path], { shop }) => {
    const answer = await shop.get(`/channels?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 'bad_request', details: [{ path }] });
  });

  test('a free plan gets 402, a publishable key 403', async ({ api, shop }) => {
    const free = await api.addWorkspace({ plan: 'free' });
    expect((await free.get('/channels?days=0')).status).toBe(402);
    expect((await shop.get('/channels?days=0', { key: shop.publishableKey })).status).toBe(403);
  });
});

test('visitors are exact up to a million clicks in the window, within 1 % above, never more than clicks', async ({
  api,
  shop,
}) => {
  const from = 1_795_168_800_000_000_000n;
  const fill = async (channel: string, start: number, rows: number, visitorOf: string) =>
    api.stores.clickhouse.command({
      query: `INSERT INTO clicks (workspace_id, ts, link_id, visitor_id, channel)
        SELECT {workspace:UUID}, fromUnixTimestamp64Nano(toInt64({from:UInt64} + ({start:UInt64} + number) * 1000), 'UTC'),
          toUUID('${uuidv7()}'), reinterpret(sipHash128(${visitorOf}), 'UUID'), '${channel}' FROM numbers({rows:UInt64})`,
      query_params: { workspace: shop.workspace.id, from, start, rows },
    });
  await fill('facebook', 0, 700_000, 'number % 300007');
  await fill('youtube', 700_000, 300_000, 'number');
  const window = `from=${formatInstant(from, 9)}&to=${formatInstant(from + 60_000_000_000n, 9)}`;
  expect((await report(shop, window)).channels).toMatchObject([
    { channel: 'facebook', clicks: 700_000, visitors: 300_007 },
    { channel: 'youtube', clicks: 300_000, visitors: 300_000 },
  ]);
  await fill('tiktok', 1_000_000, 1, 'number');
  const above = (await report(shop, window)).channels;
  for (const [index, truth] of [300_007, 300_000, 1].entries()) {
    const row = above[index];
    expect(Math.abs((row?.visitors ?? 0) - truth)).toBeLessThanOrEqual(truth / 100);
    expect(row?.visitors).toBeLessThanOrEqual(row?.clicks ?? 0);
  }
});
