import { expect } from 'vitest';
import { updateWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { TestWorkspace } from '../../test/support/api.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { signedInAs } from '../../test/support/members.ts';
import { storeClicks } from '../../test/support/stored-events.ts';
import type { LinkRecord } from '../links/schemas.ts';
import type { DashboardView, SharedDashboardRecord } from './schemas.ts';

type Page = { shared_dashboards: SharedDashboardRecord[]; next_cursor: string | null };

const LATER = '2099-01-01T00:00:00.000000Z';

const share = async (shop: TestWorkspace, body: object = {}) => {
  const made = await shop.post<SharedDashboardRecord>('/shared-dashboards', { name: 'Autumn', ...body });
  expect([made.status, made.text]).toEqual([201, made.text]);
  return made.body;
};
const visit = (shop: TestWorkspace, token: string, cookie?: string) =>
  shop.get<DashboardView>(`/shared/${token}`, { key: null, headers: cookie ? { cookie } : {} });

/** Enters a password. @returns the status and the cookie for the next calls */
async function unlock(shop: TestWorkspace, token: string, password: string) {
  const { status, headers } = await shop.post(`/shared/${token}/unlock`, { password }, { key: null });
  const set = String(headers['set-cookie'] ?? '');
  return { status, set, cookie: set.split(';', 1)[0] ?? '' };
}

async function addLink(shop: TestWorkspace): Promise<LinkRecord> {
  const { body } = await shop.post<{ links: [LinkRecord] }>('/links', {
    destination_url: 'https://shop.example',
    name: 'N',
    smart: true,
  });
  return body.links[0];
}

test('a dashboard is shared, listed, changed and deleted, and its URL ends with it', async ({
  api,
  shop,
}) => {
  const made = await share(shop);
  expect(made).toEqual({
    id: expect.any(String),
    name: 'Autumn',
    token: expect.stringMatching(/^[\w-]{43}$/),
    url: `${api.deps.config.appUrl}/shared/${made.token}`,
    scope: { type: 'workspace' },
    show_annotations: false,
    show_revenue: false,
    has_password: false,
    embed: false,
    missing_values: [],
    expires_at: null,
    created_at: expect.any(String),
  });
  expect((await shop.get<Page>('/shared-dashboards')).body).toEqual({
    shared_dashboards: [made],
    next_cursor: null,
  });
  const change = { name: 'Winter', show_revenue: true, expires_at: LATER };
  const changed = await shop.patch(`/shared-dashboards/${made.id}`, change);
  expect([changed.status, changed.body]).toEqual([200, { ...made, ...change }]);
  expect((await shop.patch(`/shared-dashboards/${made.id}`, {})).body).toEqual(changed.body);
  expect((await visit(shop, made.token)).body).toEqual({
    name: 'Winter',
    show_revenue: true,
    currency: 'usd',
    time_zone: null,
    is_scope_gone: false,
    annotations: [],
    expires_at: LATER,
  });
  expect((await shop.delete(`/shared-dashboards/${made.id}`)).body).toEqual({ ok: true });
  expect((await shop.delete(`/shared-dashboards/${made.id}`)).status).toBe(404);
  expect((await shop.patch(`/shared-dashboards/${made.id}`, {})).status).toBe(404);
  expect((await visit(shop, made.token)).status).toBe(404);
});

test('a scope names tags, or folders and links of the workspace', async ({ api, shop }) => {
  const link = await addLink(shop);
  const folder = (await shop.post<{ id: string }>('/folders', { name: 'F' })).body.id;
  for (const scope of [
    { type: 'tag', values: ['autumn', 'winter'] },
    { type: 'folder', values: [folder] },
    { type: 'links', values: [link.id] },
  ]) {
    expect((await share(shop, { scope })).scope).toEqual(scope);
  }
  const other = await api.addWorkspace();
  for (const [scope, status] of [
    [{ type: 'workspace', values: ['x'] }, 400],
    [{ type: 'tag' }, 400],
    [{ type: 'tag', values: [] }, 400],
    [{ type: 'links', values: ['autumn'] }, 400],
    [{ type: 'links', values: [link.id, folder] }, 404],
    [{ type: 'folder', values: [link.id] }, 404],
    [{ type: 'campaign', values: [link.id] }, 400],
  ] as const) {
    expect([scope, (await shop.post('/shared-dashboards', { name: 'A', scope })).status]).toEqual([
      scope,
      status,
    ]);
  }
  expect(
    (await other.post('/shared-dashboards', { name: 'A', scope: { type: 'links', values: [link.id] } }))
      .status,
  ).toBe(404);
});

test('what is gone of a scope is named, and a board of nothing says so', async ({ shop }) => {
  const folders: string[] = [];
  for (const name of ['F', 'G']) {
    folders.push((await shop.post<{ id: string }>('/folders', { name })).body.id);
  }
  const link = await addLink(shop);
  await shop.patch(`/links/${link.id}`, { tags: ['autumn'], folder_id: folders[0] });
  const scopes = [
    { type: 'folder', values: folders },
    { type: 'links', values: [link.id] },
    { type: 'tag', values: ['autumn', 'winter'] },
    { type: 'workspace' },
  ];
  const boards: SharedDashboardRecord[] = [];
  for (const scope of scopes) boards.push(await share(shop, { scope }));
  const missing = async () => {
    const { body } = await shop.get<Page>('/shared-dashboards');
    const shown = await Promise.all(boards.map(({ token }) => visit(shop, token)));
    const listed = body.shared_dashboards.map(({ missing_values }) => missing_values).reverse();
    return listed.map((values, index) => [values, shown[index]?.body.is_scope_gone]);
  };
  expect(await missing()).toEqual([
    [[], false],
    [[], false],
    [['winter'], false],
    [[], false],
  ]);
  await shop.delete(`/folders/${folders[0]}`);
  await shop.patch(`/links/${link.id}`, { tags: [] });
  await shop.delete(`/links/${link.id}`);
  expect(await missing()).toEqual([
    [[folders[0]], false],
    [[link.id], true],
    [['autumn', 'winter'], true],
    [[], false],
  ]);
  await shop.delete(`/folders/${folders[1]}`);
  expect((await missing())[0]).toEqual([folders, true]);
});

test('other sites may frame a dashboard that says so, and none with a password', async ({ shop }) => {
  const refused = await shop.post('/shared-dashboards', { name: 'A', embed: true, password: 'autumn-2026' });
  expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([400, 'embed']);
  const { id, embed } = await share(shop, { embed: true });
  expect(embed).toBe(true);
  const change = async (body: object) => {
    const { status, body: after } = await shop.patch<SharedDashboardRecord>(`/shared-dashboards/${id}`, body);
    return [status, after.embed, after.has_password];
  };
  expect((await change({ password: 'autumn-2026' }))[0]).toBe(400);
  expect(await change({ embed: false, password: 'autumn-2026' })).toEqual([200, false, true]);
  expect((await change({ embed: true }))[0]).toBe(400);
  expect(await change({ embed: true, password: null })).toEqual([200, true, false]);
});

test('an end must be in the future, and then the dashboard is gone', async ({ api, shop }) => {
  const past = await shop.post('/shared-dashboards', { name: 'A', expires_at: '2020-01-01' });
  expect([past.status, past.body.error.details?.[0]?.path]).toEqual([400, 'expires_at']);
  const { id, token } = await share(shop, { expires_at: LATER });
  expect((await visit(shop, token)).status).toBe(200);
  await api.stores.pool.query(
    `UPDATE shared_dashboards SET expires_at = now() - interval '1 second' WHERE id = $1`,
    [id],
  );
  expect((await visit(shop, token)).status).toBe(404);
  expect((await shop.post(`/shared/${token}/unlock`, { password: 'x' }, { key: null })).status).toBe(404);
  await shop.patch(`/shared-dashboards/${id}`, { expires_at: null });
  expect((await visit(shop, token)).status).toBe(200);
});

test('a password is hashed with scrypt, opens the dashboard, and a new one ends the access', async ({
  api,
  shop,
}) => {
  const { id, token, has_password } = await share(shop, { password: 'autumn-2026' });
  expect(has_password).toBe(true);
  const { rows } = await api.stores.pool.query('SELECT * FROM shared_dashboards WHERE id = $1', [id]);
  expect(rows[0].password_hash).toMatch(/^scrypt\$/);
  expect(JSON.stringify(rows[0])).not.toContain('autumn-2026');

  const locked = await visit(shop, token);
  expect([locked.status, locked.text]).toEqual([401, expect.not.stringContaining('Autumn')]);
  expect((await unlock(shop, token, 'wrong')).status).toBe(401);
  const { status, cookie, set } = await unlock(shop, token, 'autumn-2026');
  expect([status, set]).toEqual([
    200,
    expect.stringMatching(
      new RegExp(`Max-Age=604800; Path=/api/v1/shared/${token}; HttpOnly; SameSite=Strict`),
    ),
  ]);
  expect((await visit(shop, token, cookie)).status).toBe(200);
  const [name, value = ''] = cookie.split('=');
  const later = `${name}=9${value}`;
  expect((await visit(shop, token, later)).status).toBe(401);
  const other = await share(shop, { password: 'autumn-2026' });
  expect((await visit(shop, other.token, cookie)).status).toBe(401);

  await shop.patch(`/shared-dashboards/${id}`, { password: 'winter-2026' });
  expect((await visit(shop, token, cookie)).status).toBe(401);
  expect((await unlock(shop, token, 'autumn-2026')).status).toBe(401);
  await shop.patch(`/shared-dashboards/${id}`, { password: null });
  expect((await visit(shop, token)).status).toBe(200);
});

test('after five wrong passwords in a minute even the right one waits', async ({ shop }) => {
  const { token } = await share(shop, { password: 'autumn-2026' });
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 5; attempt++) statuses.push((await unlock(shop, token, 'wrong')).status);
  expect(statuses).toEqual([401, 401, 401, 401, 401]);
  const { status, headers } = await shop.post(
    `/shared/${token}/unlock`,
    { password: 'autumn-2026' },
    { key: null },
  );
  expect([status, Number(headers['retry-after']) > 0]).toEqual([429, true]);
});

test('a dashboard is not there for unknown tokens, in a suspended workspace, and without a paid plan', async ({
  api,
  shop,
}) => {
  const { token } = await share(shop);
  expect((await visit(shop, 'A'.repeat(43))).status).toBe(404);
  const { pool } = api.stores;
  const { id } = shop.workspace;
  await updateWorkspace(pool, id, { plan: 'free' });
  expect((await visit(shop, token)).status).toBe(404);
  await updateWorkspace(pool, id, { plan: 'pro' });
  expect((await visit(shop, token)).status).toBe(200);
  await pool.query('UPDATE workspaces SET suspended_at = now() WHERE id = $1', [id]);
  expect((await visit(shop, token)).status).toBe(404);
});

test.for([[{}], [{ name: '' }], [{ name: 'A', password: 'abc' }], [{ name: 'A', show_revenue: 'yes' }]])(
  '%j is 400',
  async ([body], { shop }) => {
    expect((await shop.post('/shared-dashboards', body)).status).toBe(400);
  },
);

test('an operator shares a dashboard, an analyst does not', async ({ api, shop }) => {
  const [operator, analyst] = [
    await signedInAs(api, shop, 'operator'),
    await signedInAs(api, shop, 'analyst'),
  ];
  const body = { name: 'A' };
  expect((await operator.call('POST', '/shared-dashboards', { body })).status).toBe(201);
  expect((await analyst.call('POST', '/shared-dashboards', { body })).status).toBe(403);
  expect((await analyst.call('GET', '/shared-dashboards')).status).toBe(200);
});

test('sharing is safe to retry, and leaves an entry in the audit log without the password', async ({
  shop,
}) => {
  const options = { headers: { 'idempotency-key': 'share' } };
  const body = { name: 'Once', password: 'autumn-2026', show_revenue: true };
  const first = await shop.post('/shared-dashboards', body, options);
  const second = await shop.post('/shared-dashboards', body, options);
  expect([second.status, second.body]).toEqual([201, first.body]);
  const log = await shop.get<{ entries: { action: string; details: object }[] }>('/audit-log');
  expect(log.body.entries.map(({ action, details }) => [action, details])).toEqual([
    ['shared_dashboard.create', { show_revenue: true }],
  ]);
});

type Result = {
  rows: { dimensions: Record<string, string | null>; metrics: Record<string, number> }[];
  totals: Record<string, number>;
  names?: Record<string, Record<string, { name: string; note?: string }>>;
};

test('visitors query the scope alone, without money, and with the names of its links', async ({
  api,
  shop,
}) => {
  const made: LinkRecord[] = [];
  for (const tags of [['autumn', 'secret'], ['autumn'], ['secret']]) {
    const body = { destination_url: 'https://shop.example', name: tags.join(' and '), smart: true, tags };
    made.push(...(await shop.post<{ links: LinkRecord[] }>('/links', body)).body.links);
  }
  await storeClicks(
    api.stores,
    made.map(({ id }) => ({ workspaceId: shop.workspace.id, linkId: id })),
  );
  const { token } = await share(shop, {
    scope: { type: 'tag', values: ['autumn'] },
    password: 'autumn-2026',
  });
  const query = { metrics: ['clicks'], dimensions: ['link'] };
  const ask = (body: object, headers: Record<string, string> = {}) =>
    shop.post<Result>(`/shared/${token}/query`, { ...query, ...body }, { key: null, headers });
  expect((await ask({})).status).toBe(401);
  const { cookie } = await unlock(shop, token, 'autumn-2026');
  const shown = await ask({}, { cookie });
  expect([shown.status, shown.headers['cache-control']]).toEqual([200, 'no-store']);
  const [both, own] = made;
  expect(shown.body.totals).toEqual({ clicks: 2 });
  expect(new Set(shown.body.rows.map(({ dimensions }) => dimensions.link))).toEqual(
    new Set([both?.id, own?.id]),
  );
  expect(shown.body.names?.link?.[own?.id ?? '']).toEqual({ name: own?.slug, note: 'autumn' });
  const tags = await ask({ dimensions: ['tag'] }, { cookie });
  expect(tags.body.rows).toEqual([{ dimensions: { tag: 'autumn' }, metrics: { clicks: 2 } }]);
  const filters = [{ dimension: 'tag', operator: 'contains', values: ['secret'] }];
  const probed = await ask({ dimensions: ['tag'], filters }, { cookie });
  expect([probed.body.rows, probed.body.totals]).toEqual([[], { clicks: 0 }]);
  const widened = [{ dimension: 'link', operator: 'is', values: [made[2]?.id] }];
  expect((await ask({ filters: widened }, { cookie })).body.totals).toEqual({ clicks: 0 });
  for (const metrics of [['revenue'], ['clicks', 'revenue_per_click']]) {
    expect((await ask({ metrics }, { cookie })).status).toBe(400);
  }
  // A dashboard of links shows no tags: all clicks have none.
  const ofLinks = await share(shop, { scope: { type: 'links', values: made.map(({ id }) => id) } });
  const grouped = async (dimensions: string[]) =>
    (await shop.post<Result>(`/shared/${ofLinks.token}/query`, { ...query, dimensions }, { key: null })).body;
  expect(await grouped(['tag'])).toMatchObject({
    rows: [{ dimensions: { tag: null }, metrics: { clicks: 3 } }],
    totals: { clicks: 3 },
    total_rows: 1,
  });
  expect((await grouped(['tag', 'link'])).rows.map(({ dimensions }) => dimensions.tag)).toEqual([
    null,
    null,
    null,
  ]);
  const open = await share(shop, { show_revenue: true });
  const revenue = { metrics: ['clicks', 'revenue'] };
  const all = await shop.post<Result>(`/shared/${open.token}/query`, revenue, { key: null });
  expect([all.status, all.body.totals]).toEqual([200, { clicks: 3, revenue: 0 }]);
});
