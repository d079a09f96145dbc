import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { NANOS_PER_DAY } from '../../core/time/timestamps.ts';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { nextNanos, storeClicks, storeShares } from '../../test/support/stored-events.ts';
import type { Breakdown } from './schemas.ts';

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

async function breakdown(query: string): Promise<Breakdown> {
  const answer = await shop.get<Breakdown>(`/stats/breakdown?${query}`);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body;
}

describe('a breakdown', () => {
  test('by channel and by link has what their own reports have, with what the link is called', async () => {
    const made = await shop.post<{ links: { id: string; slug: string }[] }>('/links', {
      destination_url: 'https://shop.example/a',
      name: 'Summer',
      channels: ['facebook', 'youtube'],
    });
    const [one, two] = made.body.links;
    const gone = uuidv7();
    await storeClicks(api.stores, [
      { ...own(), linkId: one?.id ?? '', channel: 'facebook' },
      { ...own(), linkId: two?.id ?? '', channel: 'youtube' },
      { ...own(), linkId: two?.id ?? '', channel: 'youtube' },
      { ...own(), linkId: gone, channel: 'tiktok' },
    ]);
    await storeShares(api.stores, [
      { ...own(), parts: [{ linkId: one?.id ?? '', channel: 'facebook', share: 1, amountMinor: 1_250 }] },
    ]);
    expect((await breakdown('by=channel')).rows).toEqual([
      { value: 'facebook', clicks: 1, visitors: 1, conversions: 1, revenue: 12.5 },
      { value: 'youtube', clicks: 2, visitors: 2, conversions: 0, revenue: 0 },
      { value: 'tiktok', clicks: 1, visitors: 1, conversions: 0, revenue: 0 },
    ]);
    const { rows } = await breakdown('by=link');
    expect(rows).toMatchObject([
      {
        value: one?.id,
        clicks: 1,
        revenue: 12.5,
        link: { id: one?.id, slug: one?.slug, name: 'Summer', channel: 'facebook' },
      },
      { value: two?.id, clicks: 2, visitors: 2, link: { name: 'Summer', channel: 'youtube' } },
    ]);
    expect((await breakdown('by=channel&limit=1')).rows).toHaveLength(1);
    expect((await breakdown('by=link&limit=1')).rows).toHaveLength(1);
  });

  test('by country has the most clicked first, unknown ones too, and no bots', async () => {
    const visitorId = uuidv7();
    await storeClicks(api.stores, [
      { ...own(), country: 'FR', visitorId },
      { ...own(), country: 'FR', visitorId },
      { ...own(), country: '' },
      { ...own(), country: 'DE' },
      { ...own(), country: 'US', isBot: true },
      { ...own(), country: 'JP', tsNanos: nextNanos() - 40n * NANOS_PER_DAY },
    ]);
    expect(await breakdown('by=country&days=7')).toMatchObject({
      by: 'country',
      rows: [
        { value: 'FR', clicks: 2, visitors: 1 },
        { value: '', clicks: 1, visitors: 1 },
        { value: 'DE', clicks: 1, visitors: 1 },
      ],
    });
    expect((await breakdown('by=country&limit=1')).rows).toHaveLength(1);
  });

  test.each([
    ['device', 'mobile'],
    ['browser', 'Safari'],
    ['os', 'iOS'],
  ])('by %s counts its values', async (by, value) => {
    await storeClicks(api.stores, [own(), own()]);
    expect((await breakdown(`by=${by}`)).rows).toEqual([{ value, clicks: 2, visitors: 2 }]);
  });
});
