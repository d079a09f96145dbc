import { expect } from 'vitest';
import { usagePeriod } from '../../core/access/plans.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import { apiTest } from '../../test/support/fixtures.ts';
import type { Me } from './schemas.ts';

apiTest(
  'it shows the workspace, the plan and the key of the call, with every documented field',
  async ({ api }) => {
    const shop = await api.addWorkspace({ name: 'Corner Shop', plan: 'pro', primary_domain: 'shop.example' });
    const { status, body } = await shop.get<Me>('/me');
    const { created_at } = shop.workspace;
    const { reset } = usagePeriod(created_at, created_at);
    expect(status).toBe(200);
    expect(body).toEqual({
      workspace: {
        id: shop.workspace.id,
        name: 'Corner Shop',
        slug: 'corner-shop',
        primary_domain: 'shop.example',
        attribution_model: 'last_click',
        attribution_window: 30,
        created_at: created_at.toISOString(),
        partner_managed: false,
      },
      plan: {
        tier: 'pro',
        name: 'Pro',
        status: 'active',
        covered_by: null,
        revenue_visible: true,
        limits: {
          links: { used: 0, limit: 1_000 },
          events: { used: 0, limit: 250_000 },
          commission: { used: 0, limit: 25_000 },
        },
        events_reset_at: reset.toISOString(),
        commission_reset_at: reset.toISOString(),
      },
      key: {
        id: expect.any(String),
        label: 'secret',
        scopes: ['secret'],
        manage: true,
        created_at: expect.any(String),
        expires_at: null,
        last_used_at: expect.any(String),
      },
      features: [
        'idempotency',
        'external_id',
        'destination_id',
        'social_channels',
        'link_ids_filter',
        'partner_workspaces',
        'webhook_retries',
        'folders',
        'bulk_links',
        'track',
        'exports',
        'watermark',
        'programs',
        'webhooks',
        'analytics',
        'domains',
        'connections',
        'listen',
      ],
    });
  },
);

apiTest('a publishable key may call it, and sees itself', async ({ api }) => {
  const shop = await api.addWorkspace();
  const { status, body } = await shop.get<Me>('/me', { key: shop.publishableKey });
  expect([status, body.key.scopes]).toEqual([200, ['publishable']]);
});

apiTest.for([
  ['free', { links: 25, events: 1_000, commission: 0 }, false],
  ['starter', { links: 250, events: 25_000, commission: 0 }, true],
  ['business', { links: 50_000, events: 5_000_000, commission: 250_000 }, true],
  ['unlimited', { links: null, events: null, commission: null }, true],
] as const)('the limits of %s', async ([plan, limits, revenueVisible], { api }) => {
  const shop = await api.addWorkspace({ plan });
  const { body } = await shop.get<Me>('/me');
  expect(body.plan).toMatchObject({
    tier: plan,
    revenue_visible: revenueVisible,
    limits: {
      links: { limit: limits.links },
      events: { limit: limits.events },
      commission: { limit: limits.commission },
    },
  });
  expect(body.workspace.primary_domain).toBe('');
});

apiTest('existing links count as used, deleted ones do not', async ({ api }) => {
  const shop = await api.addWorkspace();
  const { body } = await shop.post<{ links: { id: string }[] }>('/links', {
    destination_url: 'https://shop.example',
    name: 'N',
    channels: ['x', 'slack', 'reddit'],
  });
  await shop.delete(`/links/${body.links[0]?.id}`);
  expect((await shop.get<Me>('/me')).body.plan.limits.links.used).toBe(2);
});

apiTest("events are the period's non-bot clicks, identifies and orders, each order once", async ({ api }) => {
  const shop = await api.addWorkspace();
  const other = await api.addWorkspace();
  const at = (millis: number) => `${new Date(millis).toISOString().replace('T', ' ').replace('Z', '')}`;
  const now = Date.now();
  const { start } = usagePeriod(shop.workspace.created_at, new Date());
  const uuid = shop.workspace.id;
  const click = (ts: number, more: object = {}) => ({
    workspace_id: shop.workspace.id,
    ts: at(ts),
    link_id: uuid,
    visitor_id: uuid,
    ...more,
  });
  await api.stores.clickhouse.insert({
    table: 'clicks',
    format: 'JSONEachRow',
    values: [
      click(now),
      click(now + 1),
      click(now + 2, { is_bot: true }),
      click(start.getTime() - 1),
      click(start.getTime()),
      click(now, { workspace_id: other.workspace.id }),
    ],
  });
  const identify = { workspace_id: uuid, visitor_id: uuid, ts: at(now), email: 'a@shop.example' };
  await api.stores.clickhouse.insert({ table: 'identifies', format: 'JSONEachRow', values: [identify] });
  for (const version of [1, 2]) {
    await api.stores.clickhouse.insert({
      table: 'orders',
      format: 'JSONEachRow',
      values: [{ workspace_id: uuid, order_id: 'o1', version, ts: at(now), visitor_id: uuid }],
    });
  }
  expect((await shop.get<Me>('/me')).body.plan.limits.events.used).toBe(5);
  expect((await other.get<Me>('/me')).body.plan.limits.events.used).toBe(1);
});

apiTest('a workspace of a partner says so', async ({ api }) => {
  const { pool } = api.stores;
  const partnerId = '01a1fda0-08a1-7000-b1c0-3017c3a6f7c2';
  await pool.query('INSERT INTO partners (id, name) VALUES ($1, $2)', [partnerId, 'P']);
  const made = await createWorkspace(pool, {
    name: 'Managed',
    plan: 'unlimited',
    partnerId,
    partnerExternalId: 'x',
  });
  const shop = await api.addWorkspace();
  await pool.query('UPDATE api_keys SET workspace_id = $1 WHERE workspace_id = $2', [
    made.id,
    shop.workspace.id,
  ]);
  expect((await shop.get<Me>('/me')).body.workspace).toMatchObject({ id: made.id, partner_managed: true });
});

apiTest('a plan that lapsed keeps its name and has the limits of the free one', async ({ api }) => {
  const shop = await api.addWorkspace({ plan: 'business', plan_status: 'past_due' });
  const { body } = await shop.get<Me>('/me');
  expect(body.plan).toMatchObject({
    tier: 'business',
    status: 'past_due',
    revenue_visible: true,
    limits: { links: { limit: 25 } },
  });
});
