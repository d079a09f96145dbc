import { expect } from 'vitest';
import type { TestWorkspace } from '../../test/support/api.ts';
import { addClicks, changeBioPage, makeBioPage, trackedLinks } from '../../test/support/bio.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import type { BioPageRecord, Stats } from './schemas.ts';

let page: BioPageRecord;
const DAY = 86_400_000;

test.beforeAll(async ({ api, shop }) => {
  page = await makeBioPage(shop, 'stats');
  const { shop: first, blog } = trackedLinks(page);
  const [ada, bob] = [crypto.randomUUID(), crypto.randomUUID()];
  await addClicks(api, shop.workspace.id, first ?? '', [
    { visitor: ada },
    { visitor: ada },
    { visitor: bob },
    { is_bot: true },
    { ts: Date.now() - 10 * DAY },
  ]);
  await addClicks(api, shop.workspace.id, blog ?? '', [{ visitor: ada }]);
  await api.stores.clickhouse.insert({
    table: 'attributed_shares',
    format: 'JSONEachRow',
    values: [creditOf(shop, first ?? '')],
  });
});

/** A credit for the link in the form that the table has. */
function creditOf(shop: TestWorkspace, linkId: string): Record<string, unknown> {
  return {
    workspace_id: shop.workspace.id,
    order_id: 'o-1',
    version: 1,
    ts: new Date(Date.now() - 60_000).toISOString().replace('T', ' ').replace('Z', '000000'),
    link_id: linkId,
    channel: 'bio',
    share: 1,
    amount_minor: 1_999,
  };
}

const stats = (shop: TestWorkspace, query = '') => shop.get<Stats>(`/bio-pages/stats/stats${query}`);

test('each button has its figures, bots left out, and the totals are their sums', async ({ shop }) => {
  const { status, body } = await stats(shop);
  expect(status).toBe(200);
  const link = trackedLinks(page);
  const nothing = { clicks: 0, visitors: 0, leads: 0, conversions: 0, revenue: 0 };
  expect(body.links).toEqual([
    {
      id: 'shop',
      label: 'Shop',
      url: 'https://shop.example/?a=1',
      tracked_link_id: link.shop,
      clicks: 4,
      visitors: 3,
      leads: 0,
      conversions: 1,
      revenue: 19.99,
    },
    {
      id: 'blog',
      label: 'Blog',
      url: 'http://blog.example',
      tracked_link_id: link.blog,
      clicks: 1,
      visitors: 1,
      leads: 0,
      conversions: 0,
      revenue: 0,
    },
    {
      id: 'talk',
      label: 'Talk',
      url: 'https://videos.example/watch',
      tracked_link_id: link.talk,
      ...nothing,
    },
  ]);
  // Ada clicked two buttons and counts twice.
  expect(body.totals).toEqual({ clicks: 5, visitors: 4, leads: 0, conversions: 1, revenue: 19.99 });
});

test('the window is that of days, or of from and to', async ({ shop }) => {
  const week = await stats(shop, '?days=7');
  expect(week.body.totals).toMatchObject({ clicks: 4, visitors: 3 });
  const from = new Date(Date.now() - 11 * DAY).toISOString();
  const to = new Date(Date.now() - 9 * DAY).toISOString();
  const old = await stats(shop, `?from=${from}&to=${to}&days=3`);
  expect(old.body.window).toEqual({ from, to });
  expect(old.body.totals).toEqual({ clicks: 1, visitors: 1, leads: 0, conversions: 0, revenue: 0 });
});

test.for(['?days=0', '?days=366', '?days=x', '?from=2026-02-01&to=2026-01-01', '?from=soon'])(
  '%s: 400',
  async (query, { shop }) => {
    expect((await stats(shop, query)).status).toBe(400);
  },
);

test('by id as by slug', async ({ shop }) => {
  const byId = await shop.get<Stats>(`/bio-pages/${page.id}/stats`);
  expect(byId.body.totals).toEqual((await stats(shop)).body.totals);
});

test('a button without a short link has zeros, a renamed one keeps its figures, a removed one is not listed', async ({
  shop,
}) => {
  const after = await changeBioPage(shop, 'stats', {
    links: [
      { id: 'shop', label: 'Store', url: 'https://store.example' },
      { id: 'own', label: 'Own', url: 'https://hop.example/somewhere' },
    ],
  });
  expect(trackedLinks(after).own).toBeNull();
  const { body } = await stats(shop);
  expect(body.links).toMatchObject([
    { id: 'shop', label: 'Store', url: 'https://store.example', clicks: 4 },
    { id: 'own', tracked_link_id: null, clicks: 0, visitors: 0, leads: 0, conversions: 0, revenue: 0 },
  ]);
  expect(body.totals.clicks).toBe(4);
});

test('a page without buttons has no figures', async ({ shop }) => {
  await makeBioPage(shop, 'empty', { links: [] });
  const { body } = await shop.get<Stats>('/bio-pages/empty/stats');
  expect(body).toMatchObject({
    totals: { clicks: 0, visitors: 0, leads: 0, conversions: 0, revenue: 0 },
    links: [],
  });
});
