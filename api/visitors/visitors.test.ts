import { expect } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import { upsertIdentities } from '../../sql/orders/identities.ts';
import type { TestApi, TestWorkspace } from '../../test/support/api.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { nextNanos, storeClicks } from '../../test/support/stored-events.ts';
import type { LinkRecord } from '../links/schemas.ts';

type Listed = {
  visitors: {
    id: string;
    email: string | null;
    last_seen: string;
    last_click: { link_id: string; slug: string; channel: string; city: string } | null;
  }[];
};

const DAY = 86_400_000_000_000n;

let linkId: string;

test.beforeEach(async ({ shop }) => {
  const made = await shop.post<{ links: LinkRecord[] }>('/links', {
    destination_url: 'https://shop.example/',
    name: 'Sale',
    channel: 'youtube',
  });
  linkId = made.body.links[0]?.id ?? '';
});

const click = (shop: TestWorkspace, visitorId: string, more: object = {}) => ({
  workspaceId: shop.workspace.id,
  linkId,
  visitorId,
  channel: 'youtube',
  ...more,
});

const identify = (
  api: TestApi,
  shop: TestWorkspace,
  visitorId: string,
  email: string | null,
  ts: bigint,
  externalUserId: string | null = null,
) =>
  upsertIdentities(api.stores.pool, [
    {
      workspaceId: shop.workspace.id,
      visitorId,
      email,
      externalUserId,
      byServer: false,
      ts: Number(ts / 1_000n),
    },
  ]);

async function listed(shop: TestWorkspace, query = ''): Promise<Listed['visitors']> {
  const answer = await shop.get<Listed>(`/visitors?${query}`);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body.visitors;
}

test('the visitors who clicked last come once each, newest first, with their newest click and email', async ({
  api,
  shop,
}) => {
  const [ann, bob, bot, old] = [uuidv7(), uuidv7(), uuidv7(), uuidv7()];
  const now = nextNanos();
  await storeClicks(api.stores, [
    click(shop, old, { tsNanos: now - 400n * DAY, city: 'Riga' }),
    click(shop, ann, { tsNanos: now - 5n * DAY, city: 'Bonn' }),
    click(shop, bob, { tsNanos: now - 4n * DAY }),
    click(shop, ann, { tsNanos: now - 3n * DAY, city: 'Oslo' }),
    click(shop, bot, { tsNanos: now - 2n * DAY, isBot: true }),
  ]);
  await identify(api, shop, ann, 'first@shop.example', now - 9n * DAY);
  await identify(api, shop, ann, 'ann@shop.example', now - 8n * DAY);
  const { slug } = (await shop.get<LinkRecord>(`/links/${linkId}`)).body;
  expect(await listed(shop)).toMatchObject([
    {
      id: ann,
      email: 'ann@shop.example',
      last_click: { city: 'Oslo', link_id: linkId, slug, channel: 'youtube' },
    },
    { id: bob, email: null },
    { id: old, email: null, last_click: { city: 'Riga' } },
  ]);
  expect((await listed(shop, 'limit=2')).map(({ id }) => id)).toEqual([ann, bob]);
});

test('an email finds its visitors, in any case, also without a click', async ({ api, shop }) => {
  const [ann, phone, bob] = [uuidv7(), uuidv7(), uuidv7()];
  const now = nextNanos();
  await storeClicks(api.stores, [
    click(shop, ann, { tsNanos: now - 2n * DAY, city: 'Oslo' }),
    click(shop, bob),
  ]);
  await identify(api, shop, ann, 'ann@shop.example', now - 3n * DAY);
  await identify(api, shop, phone, 'ann@shop.example', now - 1n * DAY);
  await identify(api, shop, bob, 'bob@shop.example', now);
  expect(await listed(shop, 'email=Ann@Shop.Example')).toMatchObject([
    { id: phone, email: 'ann@shop.example', last_click: null },
    { id: ann, email: 'ann@shop.example', last_click: { city: 'Oslo' } },
  ]);
  expect(await listed(shop, 'email=nobody@shop.example')).toEqual([]);
  const found = await listed(shop, 'email=ann@shop.example');
  expect((found[0]?.last_seen ?? '') > (found[1]?.last_seen ?? '')).toBe(true);
});

test('a search finds visitors by a part of an email or user id, and by the end of the id, in any case', async ({
  api,
  shop,
}) => {
  const [ann, bob, eve, robot] = [uuidv7(), uuidv7(), uuidv7(), uuidv7()];
  const now = nextNanos();
  await storeClicks(api.stores, [
    click(shop, ann, { tsNanos: now - 40n * DAY, city: 'Oslo' }),
    click(shop, bob, { tsNanos: now - 2n * DAY }),
    click(shop, robot, { isBot: true }),
  ]);
  await identify(api, shop, ann, 'ann_100%@shop.example', now - 3n * DAY);
  await identify(api, shop, bob, 'bob@shop.example', now - 2n * DAY, 'Customer-77');
  await identify(api, shop, eve, null, now - 1n * DAY, 'customer-99');
  const found = async (text: string) =>
    (await listed(shop, `search=${encodeURIComponent(text)}`)).map(({ id }) => id);
  expect(await found('SHOP.ex')).toEqual([bob, ann]);
  expect(await found('_100%')).toEqual([ann]);
  expect(await found('customer')).toEqual([eve, bob]);
  expect(await found('n_1_')).toEqual([]);
  expect(await found(ann.slice(-8).toUpperCase())).toEqual([ann]);
  expect(await found(bob)).toEqual([bob]);
  expect(await found(robot.slice(-8))).toEqual([]);
  expect(await listed(shop, 'search=customer-99')).toMatchObject([
    { id: eve, email: null, last_click: null },
  ]);
  expect(await listed(shop, `search=${ann.slice(-12)}`)).toMatchObject([
    { email: 'ann_100%@shop.example', last_click: { city: 'Oslo' } },
  ]);
  expect((await listed(shop, 'search=shop&limit=1')).map(({ id }) => id)).toEqual([bob]);
});

test('a malformed email and a limit over 100 are refused by name', async ({ shop }) => {
  for (const [query, path] of [
    ['email=ann', 'email'],
    ['email=', 'email'],
    ['search=', 'search'],
    ['search=ann&email=ann@shop.example', 'search'],
    ['limit=101', 'limit'],
    ['limit=0', 'limit'],
  ]) {
    const answer = await shop.get(`/visitors?${query}`);
    expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, path]);
  }
});

test('a journey has the details of its clicks on request', async ({ api, shop }) => {
  const ann = uuidv7();
  await storeClicks(api.stores, [
    click(shop, ann, { city: 'Oslo', country: 'NO', referer: 'https://news.example/' }),
  ]);
  type Journey = { journey: Record<string, unknown>[] };
  const plain = await shop.get<Journey>(`/visitors/${ann}/journey`);
  expect(Object.keys(plain.body.journey[0] ?? {}).toSorted()).toEqual(['channel', 'slug', 'ts', 'type']);
  const detailed = await shop.get<Journey>(`/visitors/${ann}/journey?include=details`);
  expect(detailed.body.journey[0]).toMatchObject({
    type: 'click',
    link_id: linkId,
    country: 'NO',
    city: 'Oslo',
    device: 'mobile',
    browser: 'Safari',
    os: 'iOS',
    referer: 'https://news.example/',
  });
  expect((await shop.get(`/visitors/${ann}/journey?include=all`)).status).toBe(400);
});
