import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { storeClicks, storeShares } from '../../test/support/stored-events.ts';
import type { Breakdown, Stats } from './schemas.ts';

let api: TestApi;
let shop: TestWorkspace;
let one: string;

beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace();
  const made = await shop.post<{ links: { id: string }[] }>('/links', {
    destination_url: 'https://shop.example/',
    name: 'Sale',
    channels: ['facebook', 'youtube'],
  });
  one = made.body.links[0]?.id ?? '';
  const two = made.body.links[1]?.id ?? '';
  const own = { workspaceId: shop.workspace.id };
  await storeClicks(api.stores, [
    { ...own, linkId: one, channel: 'facebook', country: 'NO' },
    { ...own, linkId: one, channel: 'facebook', country: 'NO' },
    { ...own, linkId: one, channel: 'reddit', country: 'DE' },
    { ...own, linkId: two, channel: 'youtube', country: 'FR' },
  ]);
  await storeShares(api.stores, [
    { ...own, parts: [{ linkId: one, channel: 'facebook', share: 1, amountMinor: 1_250 }] },
    { ...own, parts: [{ linkId: two, channel: 'youtube', share: 1, amountMinor: 900 }] },
  ]);
});
afterAll(() => api.close());

async function get<T>(path: string): Promise<T> {
  const answer = await shop.get<T>(path);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body;
}

const sum = (numbers: number[]) => numbers.reduce((all, number) => all + number, 0);

test('the statistics of one link count its clicks and orders only, over time too', async () => {
  const { totals, series } = await get<Stats>(`/stats?link_id=${one}`);
  expect(totals).toEqual({ clicks: 3, visitors: 3, conversions: 1, revenue: 12.5 });
  expect(sum(series.map(({ clicks }) => clicks))).toBe(3);
  expect(sum(series.map(({ revenue }) => revenue))).toBe(12.5);
  expect((await get<Stats>('/stats')).totals).toMatchObject({ clicks: 4, revenue: 21.5 });
});

test('so do its breakdowns', async () => {
  const rows = async (by: string) =>
    (await get<Breakdown>(`/stats/breakdown?by=${by}&link_id=${one.toUpperCase()}`)).rows;
  expect(await rows('country')).toEqual([
    { value: 'NO', clicks: 2, visitors: 2 },
    { value: 'DE', clicks: 1, visitors: 1 },
  ]);
  expect(await rows('channel')).toEqual([
    { value: 'facebook', clicks: 2, visitors: 2, conversions: 1, revenue: 12.5 },
    { value: 'reddit', clicks: 1, visitors: 1, conversions: 0, revenue: 0 },
  ]);
  expect(await rows('link')).toMatchObject([{ value: one, clicks: 3, revenue: 12.5 }]);
});

test("another workspace's link has nothing, and what is no id is refused", async () => {
  const other = await api.addWorkspace();
  const theirs = await other.get<Stats>(`/stats?link_id=${one}`);
  expect(theirs.body.totals).toEqual({ clicks: 0, visitors: 0, conversions: 0, revenue: 0 });
  for (const path of ['/stats?link_id=x', '/stats/breakdown?by=os&link_id=x']) {
    const answer = await shop.get(path);
    expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, 'link_id']);
  }
});
