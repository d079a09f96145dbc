import { expect } from 'vitest';
import { SAMPLE_LINKS, SAMPLE_REFERRERS } from '../../core/sample-shop/catalog.ts';
import { SAMPLE_DAYS } from '../../core/sample-shop/history.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { type ConsoleBrowser, signedInAs } from '../../test/support/members.ts';
import type { SessionBody } from '../session/schemas.ts';

const DAY = 86_400_000;
const REFERRAL = { dimension: 'channel', operator: 'is', values: ['referral'] };
const sessionOf = async (browser: ConsoleBrowser) =>
  (await browser.call<SessionBody>('GET', '/session')).body;
const opened = (browser: ConsoleBrowser) => browser.call<SessionBody>('POST', '/sample-shop');

test('a press shows 60 days of a shop, in a workspace of its own, and another press leaves nothing of it', async ({
  api,
  shop,
}) => {
  const owner = await signedInAs(api, shop, 'owner');
  const before = await sessionOf(owner);
  const { status, body, text } = await opened(owner);
  expect([status, text]).toEqual([200, text]);
  expect(body.workspace).toMatchObject({
    name: 'Sample shop',
    sample_of: shop.workspace.id,
    plan: 'unlimited',
  });
  expect(body.first_steps).toBe(false);

  const window = {
    from: new Date(Date.now() - SAMPLE_DAYS * DAY).toISOString(),
    to: new Date().toISOString(),
  };
  type Row = { metrics: { clicks: number } };
  const query = { metrics: ['clicks'], dimensions: ['time:day'], window };
  const { body: figures } = await owner.call<{ rows: Row[] }>('POST', '/analytics/query', { body: query });
  const days = figures.rows.map(({ metrics }) => metrics.clicks);
  expect(days.slice(1, -1).every((clicks) => clicks > 40)).toBe(true);
  expect(days.length).toBeGreaterThanOrEqual(SAMPLE_DAYS);
  const { body: found } = await owner.call<{
    links: { slug: string; rules: object[] | null; split: object[] | null }[];
  }>('GET', '/links?view=records&limit=50');
  const own = found.links.filter(({ slug }) => SAMPLE_LINKS.some((link) => link.slug === slug));
  expect(own).toHaveLength(12);
  expect(own.filter(({ rules }) => rules !== null)).toHaveLength(1);
  expect(own.filter(({ split }) => split !== null)).toHaveLength(1);
  const referrers = await owner.call<{ enrollments: object[] }>('GET', '/enrollments');
  expect(referrers.body.enrollments).toHaveLength(SAMPLE_REFERRERS.length);
  const ofReferrals = { metrics: ['clicks'], filters: [REFERRAL], window };
  const visited = await owner.call<{ totals: { clicks: number } }>('POST', '/analytics/query', {
    body: ofReferrals,
  });
  expect(visited.body.totals.clicks).toBeGreaterThan(100);
  const { body: paid } = await owner.call<{ payouts: { paid: number; lines: number }[] }>('GET', '/payouts');
  expect(paid.payouts).toEqual([expect.objectContaining({ status: 'paid' })]);
  const commissions = await owner.call<{ commissions: { status: string }[] }>(
    'GET',
    '/commissions?limit=500',
  );
  const statuses = new Set(commissions.body.commissions.map((one) => one.status));
  expect(statuses).toEqual(new Set(['pending', 'eligible', 'paid', 'reversed']));
  const pages = await owner.call<{ bio_pages: { slug: string }[] }>('GET', '/bio-pages');
  expect(pages.body.bio_pages.map(({ slug }) => slug)).toEqual(['sample-shop']);
  // Each button of the page has clicks, by the import of history.
  const { body: bio } = await owner.call<{ links: { clicks: number }[] }>(
    'GET',
    '/bio-pages/sample-shop/stats?days=60',
  );
  expect(bio.links.map(({ clicks }) => clicks >= 50)).toEqual([true, true, true]);
  const { body: sites } = await owner.call<{ domains: { domain: string; status: string }[] }>(
    'GET',
    '/domains',
  );
  expect(sites.domains).toEqual([
    expect.objectContaining({ domain: 'go.sample-shop.example', status: 'pending' }),
  ]);

  // What only operators read is shown too.
  for (const path of ['/reports', '/alerts']) {
    expect((await owner.call('GET', path)).status, path).toBe(200);
  }

  // The member's own workspace has none of the sample data.
  expect((await shop.get<{ clicks: object[] }>('/clicks')).body.clicks).toEqual([]);
  expect((await shop.get<{ links: object[] }>('/links?view=records')).body.links).toEqual([]);

  // No member can change it, and a colleague sees the same one.
  const link = { destination_url: 'https://shop.example/', name: 'Real', channel: 'other' };
  const refused = 'the sample shop cannot be changed: go back to your own workspace';
  for (const [method, path, change] of [
    ['POST', '/links', link],
    ['GET', '/payouts/export', undefined],
    ['GET', '/referrals/stats?external_user_id=new', undefined],
    ['POST', '/sample-shop', undefined],
    ['POST', '/keys', { kind: 'secret', label: 'x' }],
  ] as const) {
    const answer = await owner.call(method, path, { body: change });
    expect([answer.status, answer.body.error.message]).toEqual([403, refused]);
  }
  const [colleague, analyst] = [
    await signedInAs(api, shop, 'operator'),
    await signedInAs(api, shop, 'analyst'),
  ];
  expect((await analyst.call('POST', '/sample-shop')).status).toBe(403);
  expect((await analyst.call('DELETE', '/sample-shop')).status).toBe(403);
  expect((await opened(colleague)).body.workspace.id).toBe(body.workspace.id);

  const gone = await owner.call<{ session: SessionBody }>('DELETE', '/sample-shop');
  expect([gone.status, gone.body.session?.workspace]).toEqual([200, before.workspace]);
  expect((await colleague.call('GET', '/session')).status).toBe(401);
  expect((await sessionOf(owner)).other_workspaces).toEqual([]);
  // The log of the workspace that it belonged to says who opened and removed it.
  const { body: log } = await owner.call<{
    entries: { action: string; actor: { type: string; id: string }; target: object }[];
  }>('GET', '/audit-log');
  const target = { type: 'workspace', id: body.workspace.id };
  const entry = (action: string, id: string) => ({
    action,
    actor: expect.objectContaining({ type: 'member', id }),
    target,
  });
  expect(log.entries.filter(({ action }) => action.startsWith('sample_shop.'))).toMatchObject([
    entry('sample_shop.remove', before.member.id),
    entry('sample_shop.open', colleague.id),
    entry('sample_shop.open', before.member.id),
  ]);
  const counted = await api.stores.clickhouse.query({
    query: 'SELECT count() AS clicks FROM clicks WHERE workspace_id = {id: UUID}',
    query_params: { id: body.workspace.id },
    format: 'JSONEachRow',
  });
  expect(await counted.json<{ clicks: string }>()).toEqual([{ clicks: '0' }]);
  const { rows: left } = await api.stores.pool.query<{ links: number; keys: number; members: number }>(
    `SELECT (SELECT count(*) FROM links WHERE workspace_id = $1 AND deleted_at IS NULL AND channel <> 'referral')::int AS links,
       (SELECT count(*) FROM api_keys WHERE workspace_id = $1 AND revoked_at IS NULL)::int AS keys,
       (SELECT count(*) FROM members WHERE workspace_id = $1 AND removed_at IS NULL)::int AS members`,
    [body.workspace.id],
  );
  expect(left).toEqual([{ links: 0, keys: 0, members: 0 }]);
});
