import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { workspaceStats } from '../../clickhouse/reports/index.ts';
import { rollUp } from '../../clickhouse/rollups/roll-up.ts';
import { uuidv7 } from '../../core/ids.ts';
import { NANOS_PER_DAY, parseInstant } from '../../core/time/timestamps.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import {
  deleteWithHistory,
  NO_UUID,
  nextNanos,
  storeClicks,
  storeShares,
} from '../../test/support/stored-events.ts';
import type { Breakdown, Stats } from './schemas.ts';

let api: TestApi;
let shop: TestWorkspace;

beforeAll(async () => {
  api = await testApi();
});
beforeEach(async () => {
  shop = await api.addWorkspace();
});
afterAll(() => api.close());

const own = () => ({ workspaceId: shop.workspace.id });
const at = (text: string) => parseInstant(text) ?? 0n;

async function got<T>(path: string): Promise<T> {
  const answer = await shop.get<T>(path);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body;
}
const stats = (query = '') => got<Stats>(`/stats?${query}`);
const breakdown = (query: string) => got<Breakdown>(`/stats/breakdown?${query}`);

describe('totals', () => {
  test('are the sums of the channels, and count a visitor of two channels once', async () => {
    const visitorId = uuidv7();
    const linkId = uuidv7();
    await storeClicks(api.stores, [
      { ...own(), channel: 'facebook', visitorId },
      { ...own(), channel: 'youtube', visitorId },
      { ...own(), channel: 'youtube' },
      { ...own(), channel: 'youtube', isBot: true },
      { ...own(), channel: 'tiktok', tsNanos: nextNanos() - 31n * NANOS_PER_DAY },
    ]);
    const share = 1 / 3;
    await storeShares(api.stores, [
      {
        ...own(),
        parts: [
          { linkId, channel: 'facebook', share, amountMinor: 334 },
          { linkId, channel: 'youtube', share, amountMinor: 333 },
          { linkId, channel: 'reddit', share, amountMinor: 333 },
        ],
      },
      // Credited to nothing: in no report.
      { ...own(), parts: [{ linkId: NO_UUID, channel: '', share: 1, amountMinor: 5_000 }] },
    ]);
    const { totals } = await stats();
    expect(totals).toEqual({ clicks: 3, visitors: 2, conversions: 1, revenue: 10 });
    const { channels } = await got<{ channels: (typeof totals)[] }>('/channels');
    const sum = (key: 'clicks' | 'conversions' | 'revenue') =>
      channels.reduce((all, row) => all + row[key], 0);
    expect(sum('clicks')).toBe(totals.clicks);
    expect(sum('revenue')).toBeCloseTo(totals.revenue, 8);
    expect(sum('conversions')).toBeCloseTo(totals.conversions, 8);
  });

  test('come with those of the window of the same length before', async () => {
    const window = 'from=2026-11-20T10:00:00Z&to=2026-11-21T10:00:00Z';
    const times = [
      '2026-11-19T09:59:59Z',
      '2026-11-19T10:00:00Z',
      '2026-11-20T09:59:59Z',
      '2026-11-20T10:00:00Z',
    ];
    await storeClicks(
      api.stores,
      times.map((time) => ({ ...own(), tsNanos: at(time) })),
    );
    const { totals, previous, currency } = await stats(window);
    expect([totals.clicks, previous.totals.clicks, currency]).toEqual([1, 2, 'usd']);
    expect(previous.window).toEqual({ from: '2026-11-19T10:00:00.000Z', to: '2026-11-20T10:00:00.000Z' });
  });

  test('of an empty workspace are zero, in its own currency', async () => {
    shop = await api.addWorkspace({ currency: 'jpy' });
    const nothing = { clicks: 0, visitors: 0, conversions: 0, revenue: 0 };
    const empty = await stats('days=7');
    expect(empty).toMatchObject({
      totals: nothing,
      previous: { totals: nothing },
      currency: 'jpy',
      bucket: 'day',
    });
    expect(empty.series).toHaveLength(8);
    expect(empty.series[3]).toMatchObject(nothing);
    await storeShares(api.stores, [
      { ...own(), parts: [{ linkId: uuidv7(), channel: 'facebook', share: 1, amountMinor: 1_999 }] },
    ]);
    expect((await stats('days=7')).totals).toEqual({ ...nothing, conversions: 1, revenue: 1_999 });
  });

  test("have nothing of another workspace and nothing of a deleted bio button's history", async () => {
    const other = await api.addWorkspace();
    const gone = uuidv7();
    await storeClicks(api.stores, [
      { workspaceId: other.workspace.id },
      { ...own(), linkId: gone },
      { ...own() },
    ]);
    expect((await stats()).totals.clicks).toBe(2);
    await deleteWithHistory(api.stores, shop.workspace.id, gone);
    const { totals, series } = await stats();
    expect([totals.clicks, series.reduce((sum, { clicks }) => sum + clicks, 0)]).toEqual([1, 1]);
    expect((await breakdown('by=country')).rows).toEqual([{ value: 'DE', clicks: 1, visitors: 1 }]);
  });
});

describe('the series', () => {
  test('has every day of the time zone, with the long one of autumn and zeros where nothing was', async () => {
    const visitorId = uuidv7();
    const clicks = [
      '2026-10-24T21:59:59.999Z', // still the 24th in Berlin
      '2026-10-24T22:00:00Z', // the 25th begins
      '2026-10-25T22:59:59Z', // and has 25 hours
      '2026-10-25T23:00:00Z', // the 26th
    ];
    await storeClicks(
      api.stores,
      clicks.map((time) => ({ ...own(), tsNanos: at(time), visitorId })),
    );
    await storeShares(api.stores, [
      {
        ...own(),
        tsNanos: at('2026-10-25T22:30:00Z'),
        parts: [{ linkId: uuidv7(), channel: 'facebook', share: 1, amountMinor: 250 }],
      },
    ]);
    const window = 'from=2026-10-22T22:00:00Z&to=2026-10-27T23:00:00Z';
    const { series, bucket, timezone } = await stats(`${window}&timezone=Europe/Berlin`);
    expect([bucket, timezone]).toEqual(['day', 'Europe/Berlin']);
    const nothing = { clicks: 0, visitors: 0, conversions: 0, revenue: 0 };
    expect(series).toEqual([
      { start: '2026-10-22T22:00:00.000Z', ...nothing },
      { start: '2026-10-23T22:00:00.000Z', ...nothing, clicks: 1, visitors: 1 },
      { start: '2026-10-24T22:00:00.000Z', clicks: 2, visitors: 1, conversions: 1, revenue: 2.5 },
      { start: '2026-10-25T23:00:00.000Z', ...nothing, clicks: 1, visitors: 1 },
      { start: '2026-10-26T23:00:00.000Z', ...nothing },
    ]);
    const utc = await stats(window);
    expect(utc.series.map(({ clicks }) => clicks)).toEqual([0, 0, 2, 2, 0, 0]);
  });

  test('has hours up to three days, and what lies in the window of the first and the last', async () => {
    const times = [
      '2026-11-20T10:10:00Z',
      '2026-11-20T10:20:00Z',
      '2026-11-20T12:40:00Z',
      '2026-11-20T12:50:00Z',
    ];
    await storeClicks(
      api.stores,
      times.map((time) => ({ ...own(), tsNanos: at(time) })),
    );
    const { series, bucket } = await stats('from=2026-11-20T10:15:00Z&to=2026-11-20T12:45:00Z');
    expect(bucket).toBe('hour');
    expect(series.map(({ start, clicks }) => [start.slice(11, 16), clicks])).toEqual([
      ['10:00', 1],
      ['11:00', 0],
      ['12:00', 1],
    ]);
  });

  test('goes back before 1970 and to months', async () => {
    const { series, bucket } = await stats('from=1960-01-15&to=2027-01-01');
    expect([bucket, series.length, series[0]?.start]).toEqual(['month', 804, '1960-01-01T00:00:00.000Z']);
  });
});

test('beyond the exact ones, clicks of rolled-up days are the same and visitors within 1 %', async () => {
  const from = at('2026-11-01T12:00:00Z');
  const visitors = Array.from({ length: 40 }, () => uuidv7());
  await storeClicks(
    api.stores,
    Array.from({ length: 200 }, (_, n) => ({
      ...own(),
      tsNanos: from + BigInt(n) * (NANOS_PER_DAY / 40n),
      visitorId: visitors[n % 40] ?? '',
    })),
  );
  const span = { from, to: from + 5n * NANOS_PER_DAY };
  const starts = [from, from + NANOS_PER_DAY];
  const ask = (exactUpTo: number) =>
    workspaceStats(
      api.stores.clickhouse,
      { workspaceId: shop.workspace.id, span, hasDeleted: false, exactUpTo },
      starts,
    );
  const exact = await ask(200);
  expect(exact.totals).toMatchObject({ clicks: 200, visitors: 40 });
  expect(exact.series.map(({ clicks, visitors }) => [clicks, visitors])).toEqual([
    [40, 40],
    [160, 40],
  ]);
  expect(await ask(199)).toEqual(exact);
  await rollUp(api.stores.clickhouse, '2026-11-20');
  expect(await ask(199)).toEqual(exact);
});

describe('is refused:', () => {
  test.each([
    ['/stats?timezone=Mars/Olympus', 'timezone'],
    ['/stats?timezone=', 'timezone'],
    ['/stats?timezone=%2B01:00', 'timezone'],
    [`/stats?timezone=${'x'.repeat(101)}`, 'timezone'],
    ['/stats?days=0', 'days'],
    ['/stats?from=0001-01-01&to=9999-12-31', 'from'],
    ['/stats?from=2026-11-21&to=2026-11-20', 'from'],
    ['/stats?to=tomorrow', 'to'],
    ['/stats/breakdown', 'by'],
    ['/stats/breakdown?by=city', 'by'],
    ['/stats/breakdown?by=os&limit=0', 'limit'],
    ['/stats/breakdown?by=os&limit=101', 'limit'],
    ['/stats/breakdown?by=os&days=366', 'days'],
  ])('%s', async (path, field) => {
    const answer = await shop.get(path);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toMatchObject({ code: 'bad_request', details: [{ path: field }] });
  });

  test.each(['/stats', '/stats/breakdown?by=os'])(
    '%s on a free plan, and for a publishable key',
    async (path) => {
      const free = await api.addWorkspace({ plan: 'free' });
      expect((await free.get(path)).status).toBe(402);
      expect((await shop.get(path, { key: shop.publishableKey })).status).toBe(403);
    },
  );
});
