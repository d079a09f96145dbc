import { describe, expect, vi } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { parseInstant } from '../../core/time/timestamps.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { deleteWithHistory, NO_UUID, storeClicks, storeShares } from '../../test/support/stored-events.ts';
import type { AnalyticsResult } from './schemas.ts';

const own = (shop: TestWorkspace) => ({ workspaceId: shop.workspace.id });
const at = (text: string) => parseInstant(text) ?? 0n;

async function query(shop: TestWorkspace, body: object): Promise<AnalyticsResult> {
  const response = await shop.post<AnalyticsResult>('/analytics/query', body);
  expect([response.status, response.text]).toEqual([200, response.text]);
  return response.body;
}

/** The details of a request that must be refused. */
async function refused(shop: TestWorkspace, body: object) {
  const response = await shop.post('/analytics/query', { metrics: ['clicks'], ...body });
  expect([response.status, response.text]).toEqual([400, response.text]);
  return response.body.error.details?.[0];
}

describe('a query', () => {
  test('has totals alone without dimensions, over the last 30 days', async ({ api, shop }) => {
    await storeClicks(api.stores, [own(shop), { ...own(shop), isBot: true }]);
    const result = await query(shop, { metrics: ['clicks', 'conversion_rate'] });
    expect(result).toMatchObject({ rows: [], total_rows: 0, totals: { clicks: 1, conversion_rate: 0 } });
    const { from, to } = result.window;
    expect(Date.parse(to) - Date.parse(from)).toBe(30 * 86_400_000);
  });

  test('of nothing has null rates and no rows', async ({ shop }) => {
    const metrics = [
      'clicks',
      'visitors',
      'leads',
      'conversions',
      'revenue',
      'conversion_rate',
      'revenue_per_click',
    ];
    expect(await query(shop, { metrics, dimensions: ['country'] })).toMatchObject({
      rows: [],
      total_rows: 0,
      totals: {
        clicks: 0,
        visitors: 0,
        leads: 0,
        conversions: 0,
        revenue: 0,
        conversion_rate: null,
        revenue_per_click: null,
      },
    });
  });

  test('counts each hour of a day on which clocks change, and names its offset', async ({ api, shop }) => {
    await storeClicks(
      api.stores,
      ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-10-25T01:40:00Z'].map((time) => ({
        ...own(shop),
        tsNanos: at(time),
      })),
    );
    const { rows } = await query(shop, {
      metrics: ['clicks'],
      dimensions: ['time:hour'],
      window: { from: '2026-10-24T23:00:00Z', to: '2026-10-25T03:00:00Z' },
      time_zone: 'Europe/Berlin',
    });
    expect(rows.map(({ dimensions, metrics }) => [dimensions['time:hour'], metrics.clicks])).toEqual([
      ['2026-10-25T01:00:00+02:00', 0],
      ['2026-10-25T02:00:00+02:00', 1],
      ['2026-10-25T02:00:00+01:00', 2],
      ['2026-10-25T03:00:00+01:00', 0],
    ]);
  });

  test('compares buckets by position, and leaves rows of the compared window alone out', async ({
    api,
    shop,
  }) => {
    await storeClicks(api.stores, [
      { ...own(shop), tsNanos: at('2026-11-02T10:00:00Z'), country: 'DE' },
      { ...own(shop), tsNanos: at('2026-11-01T10:00:00Z'), country: 'DE' },
      { ...own(shop), tsNanos: at('2026-11-01T11:00:00Z'), country: 'AT' },
    ]);
    const window = { from: '2026-11-02', to: '2026-11-03' };
    const byDay = await query(shop, {
      metrics: ['clicks'],
      dimensions: ['time:day'],
      window,
      compare: 'previous',
    });
    expect(byDay.rows).toEqual([
      { dimensions: { 'time:day': '2026-11-02' }, metrics: { clicks: 1 }, compared: { clicks: 2 } },
    ]);
    expect(byDay.compared_window).toEqual({
      from: '2026-11-01T00:00:00.000Z',
      to: '2026-11-02T00:00:00.000Z',
    });
    const compare = { from: '2026-11-01', to: '2026-11-02' };
    const byCountry = await query(shop, { metrics: ['clicks'], dimensions: ['country'], window, compare });
    expect(byCountry.rows).toEqual([
      { dimensions: { country: 'DE' }, metrics: { clicks: 1 }, compared: { clicks: 1 } },
    ]);
    expect(byCountry.compared_totals).toEqual({ clicks: 2 });
  });

  test('compares days with days over a change of clocks, and reads dates in the time zone', async ({
    api,
    shop,
  }) => {
    // Noon of each local day from October 18 to 31: one click more each day.
    const days = Array.from({ length: 14 }, (_, n) => n);
    await storeClicks(
      api.stores,
      days.flatMap((n) =>
        Array.from({ length: n + 1 }, (_, one) => ({
          ...own(shop),
          tsNanos: at(new Date(Date.UTC(2026, 9, 18 + n, n < 7 ? 10 : 11, 0, 0, one)).toISOString()),
        })),
      ),
    );
    const asked = { metrics: ['clicks'], dimensions: ['time:day'], time_zone: 'Europe/Berlin' };
    const window = { from: '2026-10-25', to: '2026-11-01' };
    const result = await query(shop, { ...asked, window, compare: 'previous' });
    expect(result.window.from).toBe('2026-10-24T22:00:00.000Z');
    expect(result.rows.map(({ metrics, compared }) => [metrics.clicks, compared?.clicks])).toEqual(
      days.slice(7).map((n) => [n + 1, n - 6]),
    );
    const byHour = await query(shop, {
      ...asked,
      dimensions: ['time:hour'],
      limit: 200,
      window,
      compare: 'previous',
    });
    expect(
      byHour.rows
        .filter(({ metrics, compared }) => metrics.clicks || compared?.clicks)
        .map(({ dimensions, compared }) => [String(dimensions['time:hour']).slice(11, 13), compared?.clicks]),
    ).toEqual(days.slice(0, 7).map((n) => ['12', n + 1]));
    const october = { from: '2026-10-01', to: '2026-11-01' };
    const inNewYork = await query(shop, { ...asked, time_zone: 'America/New_York', window: october });
    expect(inNewYork.rows).toHaveLength(31);
    const compared = await query(shop, {
      ...asked,
      window,
      compare: { from: '2026-10-18', to: '2026-10-25' },
    });
    expect(compared.compared_totals).toEqual({ clicks: 28 });
  });

  test('compares with what is left of a window that begins before the data, by the same positions', async ({
    api,
    shop,
  }) => {
    await shop.patch('/workspace', { retention_months: 1 });
    const now = new Date();
    const begin = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1);
    const day = (n: number) => new Date(begin + n * 86_400_000).toISOString();
    await storeClicks(
      api.stores,
      [-1, 1, 11].map((n) => ({ ...own(shop), tsNanos: at(day(n)) })),
    );
    const result = await query(shop, {
      metrics: ['clicks'],
      dimensions: ['time:day'],
      window: { from: day(3), to: day(13) },
      compare: 'previous',
    });
    expect(result.window).not.toHaveProperty('data_from');
    expect(result.compared_window).toEqual({ from: day(-7), to: day(3), data_from: day(0) });
    expect(result.compared_totals).toEqual({ clicks: 1 });
    // The day after `begin` is the ninth of its window.
    expect(result.rows.map(({ metrics, compared }) => [metrics.clicks, compared?.clicks])).toEqual(
      Array.from({ length: 10 }, (_, n) => (n === 8 ? [1, 1] : [0, 0])),
    );
  });

  test.for([
    [[], 2],
    [['time:day'], 2],
    [['country'], 2],
    [['country', 'time:day'], 1],
  ])(
    'by %j with a compared window takes two queries of ClickHouse, %i at a time',
    async ([dimensions, atATime], { api, shop }) => {
      await storeClicks(api.stores, [own(shop)]);
      const body = { metrics: ['clicks', 'visitors', 'revenue'], dimensions, compare: 'previous' };
      await query(shop, body);
      const { queries } = api.stores.clickhouse;
      const rows = queries.rows.bind(queries);
      let [running, most] = [0, 0];
      const asked = vi.spyOn(queries, 'rows').mockImplementation(async (...request) => {
        running += 1;
        most = Math.max(most, running);
        try {
          return (await rows(...request)) as never;
        } finally {
          running -= 1;
        }
      });
      try {
        await query(shop, body);
        expect(asked).toHaveBeenCalledTimes(2);
        expect(most).toBe(atATime);
      } finally {
        asked.mockRestore();
      }
    },
  );

  test('a row beyond the first thousand of a compared window has its figures', async ({ api, shop }) => {
    const many = Array.from({ length: 1_001 }, (_, n) => `a${n}`);
    await storeClicks(api.stores, [
      ...['z', 'y'].map((city) => ({ ...own(shop), tsNanos: at('2026-11-02T10:00:00Z'), city })),
      ...[...many, 'z'].map((city) => ({ ...own(shop), tsNanos: at('2026-11-01T10:00:00Z'), city })),
    ]);
    const window = { from: '2026-11-02', to: '2026-11-03' };
    const result = await query(shop, {
      metrics: ['clicks'],
      dimensions: ['city'],
      window,
      compare: 'previous',
    });
    expect(result.rows).toEqual([
      { dimensions: { city: 'y' }, metrics: { clicks: 1 }, compared: { clicks: 0 } },
      { dimensions: { city: 'z' }, metrics: { clicks: 1 }, compared: { clicks: 1 } },
    ]);
    expect(result.compared_totals).toEqual({ clicks: 1_002 });
  });

  test("leaves out a deleted bio button's history, and another workspace's", async ({ api, shop }) => {
    const other = await api.addWorkspace();
    const gone = uuidv7();
    const share = { share: 1, amountMinor: 500, channel: 'bio' };
    await storeClicks(api.stores, [
      { workspaceId: other.workspace.id },
      { ...own(shop), linkId: gone },
      own(shop),
    ]);
    await storeShares(api.stores, [
      { ...own(shop), parts: [{ ...share, linkId: gone }] },
      { ...own(shop), parts: [{ ...share, linkId: uuidv7() }] },
    ]);
    await deleteWithHistory(api.stores, shop.workspace.id, gone);
    const { totals, total_rows } = await query(shop, {
      metrics: ['clicks', 'revenue'],
      dimensions: ['link'],
    });
    expect([totals, total_rows]).toEqual([{ clicks: 1, revenue: 5 }, 2]);
  });

  test('rounds rates before rows are ordered: equal ones are not apart by their last digits', async ({
    api,
    shop,
  }) => {
    const made = (country: string, shares: number[]) => ({
      clicks: { ...own(shop), country },
      shares: shares.map((share) => ({
        ...own(shop),
        parts: [
          { linkId: uuidv7(), channel: 'facebook', share, amountMinor: 100 * share, columns: { country } },
        ],
      })),
    });
    // 0.1 + 0.2 is 0.30000000000000004 in binary arithmetic.
    const all = [made('DE', [0.1, 0.2]), made('AT', [0.3])];
    await storeClicks(
      api.stores,
      all.map(({ clicks }) => clicks),
    );
    await storeShares(
      api.stores,
      all.flatMap(({ shares }) => shares),
    );
    for (const by of ['conversion_rate', 'revenue_per_click'] as const) {
      const { rows } = await query(shop, {
        metrics: ['clicks', by],
        dimensions: ['country'],
        order_by: [
          { by, direction: 'desc' },
          { by: 'country', direction: 'asc' },
        ],
      });
      expect(rows.map(({ dimensions, metrics }) => [dimensions.country, metrics[by]])).toEqual([
        ['AT', 0.3],
        ['DE', 0.3],
      ]);
    }
  });

  test('counts visits that led to no link only where it is told to', async ({ api, shop }) => {
    await storeClicks(api.stores, [own(shop), { ...own(shop), linkId: NO_UUID, columns: { slug: 'gone' } }]);
    const of = async (orphans?: string) => {
      const { rows } = await query(shop, {
        metrics: ['clicks'],
        dimensions: ['slug'],
        ...(orphans && { orphans }),
      });
      return rows.map(({ dimensions, metrics }) => [dimensions.slug, metrics.clicks]);
    };
    expect(await of()).toEqual([[null, 1]]);
    expect(await of('include')).toEqual([
      [null, 1],
      ['gone', 1],
    ]);
    expect(await of('only')).toEqual([['gone', 1]]);
  });

  test('agrees with the reports of channels and links', async ({ api, shop }) => {
    const [one, two] = [uuidv7(), uuidv7()];
    const visitorId = uuidv7();
    await storeClicks(api.stores, [
      { ...own(shop), linkId: one, visitorId },
      { ...own(shop), linkId: one, visitorId },
      { ...own(shop), linkId: two, visitorId, channel: 'youtube' },
    ]);
    await storeShares(api.stores, [
      {
        ...own(shop),
        parts: [
          { linkId: one, channel: 'facebook', share: 1 / 3, amountMinor: 334 },
          { linkId: two, channel: 'youtube', share: 2 / 3, amountMinor: 666 },
        ],
      },
    ]);
    const figures = ['clicks', 'visitors', 'conversions', 'revenue'] as const;
    const { rows } = await query(shop, {
      metrics: figures,
      dimensions: ['channel'],
      order_by: [{ by: 'revenue', direction: 'desc' }],
    });
    const { body } = await shop.get<{ channels: Record<string, unknown>[] }>('/channels');
    expect(rows.map(({ dimensions, metrics }) => ({ channel: dimensions.channel, ...metrics }))).toEqual(
      body.channels.map(({ channel, ...row }) => ({ channel, ...pick(row, figures) })),
    );
  });

  test('of one link has its clicks and orders only, and nothing for another workspace', async ({
    api,
    shop,
  }) => {
    const [one, two] = [uuidv7(), uuidv7()];
    const other = await api.addWorkspace();
    await storeClicks(api.stores, [
      { ...own(shop), linkId: one, channel: 'facebook' },
      { ...own(shop), linkId: one, channel: 'reddit' },
      { ...own(shop), linkId: two, channel: 'facebook' },
    ]);
    await storeShares(api.stores, [
      { ...own(shop), parts: [{ linkId: one, channel: 'facebook', share: 1, amountMinor: 1_250 }] },
      { ...own(shop), parts: [{ linkId: two, channel: 'facebook', share: 1, amountMinor: 900 }] },
    ]);
    const filters = [{ dimension: 'link', operator: 'is', values: [one.toUpperCase()] }];
    const body = { metrics: ['clicks', 'revenue'], dimensions: ['channel'], filters };
    expect(await query(shop, body)).toMatchObject({
      rows: [
        { dimensions: { channel: 'facebook' }, metrics: { clicks: 1, revenue: 12.5 } },
        { dimensions: { channel: 'reddit' }, metrics: { clicks: 1, revenue: 0 } },
      ],
      totals: { clicks: 2, revenue: 12.5 },
    });
    const theirs = await other.post<AnalyticsResult>('/analytics/query', body);
    expect(theirs.body).toMatchObject({ rows: [], totals: { clicks: 0, revenue: 0 } });
  });

  test('may be sent by an analyst and by a key that reads', async ({ shop }) => {
    const key = await shop.post<{ token: string }>('/keys', { kind: 'secret', scopes: ['read'] });
    const options = { key: key.body.token };
    expect((await shop.post('/analytics/query', { metrics: ['clicks'] }, options)).status).toBe(200);
    expect(
      (await shop.post('/analytics/query', { metrics: ['clicks'] }, { key: shop.publishableKey })).status,
    ).toBe(403);
  });
});

const pick = (row: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, row[name]]));

describe('a refusal names the field', () => {
  test.for<[path: string, body: object]>([
    ['metrics.0', { metrics: ['sales'] }],
    ['metrics.1', { metrics: ['clicks', 'clicks'] }],
    ['metrics', { metrics: [] }],
    ['dimensions.0', { dimensions: ['color'] }],
    ['dimensions', { dimensions: ['country', 'city', 'os', 'device'] }],
    ['filters.0.dimension', { filters: [{ operator: 'is', values: ['x'] }] }],
    ['filters.0.operator', { filters: [{ dimension: 'country', values: ['x'] }] }],
    ['filters.0.operator', { filters: [{ dimension: 'country', operator: 'like', values: ['x'] }] }],
    ['filters.0.values', { filters: [{ dimension: 'country', operator: 'is' }] }],
    ['filters.0.values', { filters: [{ dimension: 'country', operator: 'is_empty', values: ['x'] }] }],
    ['filters.0.values.1', { filters: [{ dimension: 'link', operator: 'is', values: [NO_UUID, 'x'] }] }],
    ['filters.0.values.0', { filters: [{ dimension: 'asn', operator: 'is', values: ['x'] }] }],
    ['filters.0.any.0.operator', { filters: [{ any: [{ dimension: 'os' }] }] }],
    [
      'filters.0.dimension',
      { filters: [{ dimension: 'os', any: [{ dimension: 'os', operator: 'is_empty' }] }] },
    ],
    ['window.from', { window: { from: '2026-11-02', to: '2026-11-01' } }],
    ['window.from', { window: { from: 'yesterday' } }],
    ['window.days', { window: { days: 0 } }],
    ['window', { dimensions: ['time:minute'], window: { days: 30 } }],
    ['compare', { compare: 'next' }],
    ['compare.to', { compare: { from: '2026-11-02' } }],
    ['compare.from', { compare: { from: '2026-11-02', to: '2026-11-01' } }],
    ['time_zone', { time_zone: 'Berlin' }],
    ['bots', { bots: 'some' }],
    ['order_by.0.by', { order_by: [{ by: 'visitors' }] }],
    ['limit', { limit: 1_001 }],
    ['offset', { offset: -1 }],
  ])('%s', async ([path, body], { shop }) => {
    expect((await refused(shop, body))?.path).toBe(path);
  });
});
