import { expect } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { parseInstant } from '../../core/time/timestamps.ts';
import type { TestApi, TestWorkspace } from '../../test/support/api.ts';
import { apiTest } from '../../test/support/fixtures.ts';
import { storeClicks, storeShares } from '../../test/support/stored-events.ts';
import type { AnalyticsResult } from './schemas.ts';

type ClicksPage = { clicks: object[] };

const own = (shop: TestWorkspace) => ({ workspaceId: shop.workspace.id });
const at = (text: string) => parseInstant(text) ?? 0n;
const storeAt = (api: TestApi, shop: TestWorkspace, times: readonly string[]) =>
  storeClicks(
    api.stores,
    times.map((time) => ({ ...own(shop), tsNanos: at(time) })),
  );

/** Clicks by the value of a dimension. */
async function clicksBy(shop: TestWorkspace, dimension: string, body: object) {
  const answer = await shop.post<AnalyticsResult>('/analytics/query', {
    metrics: ['clicks'],
    dimensions: [dimension],
    ...body,
  });
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return Object.fromEntries(
    answer.body.rows.map(({ dimensions, metrics }) => [dimensions[dimension], metrics.clicks]),
  );
}

const AUTUMN = { from: '2026-10-23T22:00:00Z', to: '2026-10-26T23:00:00Z' };
const AUTUMN_CLICKS = [
  '2026-10-24T21:59:59.999Z', // still the 24th in Berlin
  '2026-10-24T22:00:00Z', // the 25th begins
  '2026-10-25T22:59:59Z', // and has 25 hours
  '2026-10-25T23:00:00Z', // the 26th
];

apiTest('a day on which clocks go back has 25 hours', async ({ api, shop }) => {
  await storeAt(api, shop, AUTUMN_CLICKS);
  expect(await clicksBy(shop, 'time:day', { window: AUTUMN, time_zone: 'Europe/Berlin' })).toEqual({
    '2026-10-24': 1,
    '2026-10-25': 2,
    '2026-10-26': 1,
  });
  expect(await clicksBy(shop, 'time:day', { window: AUTUMN })).toEqual({
    '2026-10-23': 0,
    '2026-10-24': 2,
    '2026-10-25': 2,
    '2026-10-26': 0,
  });
});

apiTest(
  'a day on which clocks go forward has 23 hours, and a week across it is one row',
  async ({ api, shop }) => {
    await storeAt(api, shop, [
      '2026-03-28T22:59:59Z', // the 28th in Berlin
      '2026-03-28T23:00:00Z', // the 29th begins
      '2026-03-29T21:59:59Z', // and has 23 hours
      '2026-03-29T22:00:00Z', // Monday, the 30th
    ]);
    const query = {
      window: { from: '2026-03-27T23:00:00Z', to: '2026-03-30T22:00:00Z' },
      time_zone: 'Europe/Berlin',
    };
    expect(await clicksBy(shop, 'time:day', query)).toEqual({
      '2026-03-28': 1,
      '2026-03-29': 2,
      '2026-03-30': 1,
    });
    expect(await clicksBy(shop, 'time:week', query)).toEqual({ '2026-03-23': 3, '2026-03-30': 1 });
  },
);

apiTest('weekdays, hours and months go by the clock of the time zone', async ({ api, shop }) => {
  await storeAt(api, shop, [
    '2026-10-25T00:30:00Z', // Sunday, 02:30 before clocks go back
    '2026-10-25T01:30:00Z', // Sunday, 02:30 after it
    '2026-10-31T23:30:00Z', // Sunday, 00:30, November
  ]);
  const query = { window: { from: '2026-10-01', to: '2026-11-30' }, time_zone: 'Europe/Berlin' };
  expect(await clicksBy(shop, 'weekday', query)).toEqual({ 7: 3 });
  expect(await clicksBy(shop, 'hour_of_day', query)).toEqual({ 0: 1, 2: 2 });
  expect(await clicksBy(shop, 'time:month', query)).toEqual({ '2026-10': 2, '2026-11': 1 });
  const saturday = { filters: [{ dimension: 'weekday', operator: 'is', values: [6] }] };
  expect(await clicksBy(shop, 'weekday', { ...query, ...saturday, time_zone: 'America/New_York' })).toEqual({
    6: 3,
  });
});

apiTest(
  "orders are on the days of the time zone, and the workspace's own one is the default",
  async ({ api, shop }) => {
    await storeShares(api.stores, [
      {
        ...own(shop),
        tsNanos: at('2026-10-25T22:30:00Z'),
        parts: [{ linkId: uuidv7(), channel: 'facebook', share: 1, amountMinor: 250 }],
      },
    ]);
    const revenueBy = async () => {
      const { body } = await shop.post<AnalyticsResult>('/analytics/query', {
        metrics: ['revenue'],
        dimensions: ['time:day'],
        window: AUTUMN,
      });
      return body.rows.find(({ metrics }) => metrics.revenue === 2.5)?.dimensions;
    };
    expect(await revenueBy()).toEqual({ 'time:day': '2026-10-25' });
    await shop.patch('/workspace', { time_zone: 'Asia/Tokyo' });
    expect(await revenueBy()).toEqual({ 'time:day': '2026-10-26' });
  },
);

/** Returns the numbers of clicks that `GET /clicks` and the export return for a filter. */
async function rowsOf(shop: TestWorkspace, query: string): Promise<[number, number]> {
  const window = 'from=2026-10-01&to=2026-12-01&format=ndjson';
  const [page, file] = [
    await shop.get<ClicksPage>(`/clicks?${query}`),
    await shop.get(`/clicks/export?${window}&${query}`),
  ];
  expect([page.status, file.status, page.text]).toEqual([200, 200, page.text]);
  return [page.body.clicks.length, file.text.split('\n').filter((line) => line !== '').length];
}

apiTest(
  'clicks and their export by weekday and hour are the rows that the figure counts',
  async ({ api, shop }) => {
    await storeAt(api, shop, AUTUMN_CLICKS);
    const window = { from: '2026-10-01', to: '2026-12-01' };
    const patched = await shop.patch('/workspace', { time_zone: 'america/new_york' });
    expect([patched.status, patched.text]).toEqual([200, patched.text]);
    expect(JSON.parse(patched.text)).toMatchObject({ time_zone: 'America/New_York' });
    for (const zone of [undefined, 'Europe/Berlin', 'Asia/Kolkata', 'UTC']) {
      for (const dimension of ['weekday', 'hour_of_day']) {
        const figures = await clicksBy(shop, dimension, { window, ...(zone && { time_zone: zone }) });
        expect(Object.keys(figures).length).toBeGreaterThan(1);
        for (const [value, clicks] of Object.entries(figures)) {
          const query = `${dimension}=${value}${zone ? `&time_zone=${zone}` : ''}`;
          expect([query, await rowsOf(shop, query)]).toEqual([query, [clicks, clicks]]);
        }
      }
    }
    const refused = await shop.get('/clicks?weekday=1&time_zone=Berlin');
    expect([refused.status, refused.body.error?.details?.[0]?.path]).toEqual([400, 'time_zone']);
  },
);
