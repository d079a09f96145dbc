import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyLedger } from '../../cli/verify-ledger.ts';
import { rollUp } from '../../clickhouse/rollups/roll-up.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { registerStream } from '../../sql/event-log/streams.ts';
import { rollUpImports } from '../../workers/rollups/keep-rolled-up.ts';
import { ROOT } from '../docs/markdown.ts';
import { merchant, PAID_AT_ONCE } from '../referrals/support.ts';
import { type TestApi, type TestWorkspace, testApi } from '../support/api.ts';
import { makeDomain } from '../support/domains.ts';
import { isCurrent, startTestIngest } from '../support/ingest.ts';
import { plainPng } from '../support/scanned-images.ts';
import { PREVIEW, visit, visitHost } from '../support/visitors.ts';
import { archives, clicksBefore, importFrom, PROOFS, plantWorkspace } from './support.ts';

let old: TestApi;
let other: TestApi;
let shop: TestWorkspace;
let path: string;
/** The old workspace as the other deployment has it, with the old key. */
let moved: TestWorkspace;
const files = archives();

beforeAll(async () => {
  [old, other] = await Promise.all([testApi(), testApi()]);
  shop = await old.addWorkspace({ name: 'Tea shop' });
  await plantWorkspace(old, shop);
  path = await files.write(old.stores, shop.workspace.id);

  // A deployment that is in use: the same slugs, the same name, and numbers of its own.
  const neighbor = await other.addWorkspace({ name: 'Tea shop' });
  await neighbor.post('/links', {
    destination_url: 'https://x.example/',
    name: 'x',
    channel: 'x',
    slug: 'victims-slug',
  });
  await neighbor.post('/bio-pages', { slug: 'victims-page', title: 'x' });
  moved = withKeyOf(shop, neighbor);
  const m = merchant(neighbor);
  await m.referral({ ...PAID_AT_ONCE, credit_enabled: true, purchase_credit: 5 });
  await m.purchase('n', 'victims-order', 50);
  const click = {
    workspace_id: neighbor.workspace.id,
    ts: '2026-11-20 09:00:00.000000000',
    link_id: neighbor.workspace.id,
  };
  await other.stores.clickhouse.insert({ table: 'clicks', values: [click], format: 'JSONEachRow' });
  await rollUp(other.stores.clickhouse, '2026-11-28');
});
afterAll(async () => {
  files.remove();
  await Promise.all([old.close(), other.close()]);
});

/** Returns the number of rows of each table, and what each sequence has given. */
async function stateOf({ stores }: TestApi): Promise<unknown> {
  const { rows: tables } = await stores.admin.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' ORDER BY 1`,
  );
  const counts = tables
    .map(({ name }) => `SELECT '${name}' AS name, count(*) FROM ${name}`)
    .join(' UNION ALL ');
  const { rows: sequences } = await stores.admin.query(
    "SELECT sequencename, last_value FROM pg_sequences WHERE sequencename <> 'link_changes_id_seq' ORDER BY 1",
  );
  const clicks = await stores.clickhouse.query({
    query: 'SELECT count() AS rows FROM clicks',
    format: 'JSONEachRow',
  });
  return [(await stores.admin.query(counts)).rows, sequences, await clicks.json()];
}

describe('into a deployment that is in use', () => {
  test('a dry run writes nothing, and says by table what the import then does', async () => {
    const before = await stateOf(other);
    const dry = await importFrom(path, other.stores, { proofs: PROOFS, dryRun: true });
    expect(await stateOf(other)).toEqual(before);
    const made = await importFrom(path, other.stores, { proofs: PROOFS });
    expect(dry).toEqual({ ...made, dry_run: true });
    expect(made.tables).toMatchObject({ workspaces: 1, programs: 2, orders: 4, clicks: 1, identifies: 1 });
    expect(Object.entries(made.tables).filter(([, rows]) => rows > 0).length).toBeGreaterThan(40);
  });

  test('the ledger verifies, and balances, commissions and credits are those of the old one', async () => {
    expect(await verifyLedger(other.stores.pool, [shop.workspace.id])).toEqual(
      await verifyLedger(old.stores.pool, [shop.workspace.id]),
    );
    for (const user of ['r', 'victims-referrer']) {
      const [here, there] = [await merchant(shop).stats(user), await merchant(moved).stats(user)];
      expect(there.rewards).toEqual(here.rewards);
      expect(there.affiliate).toEqual(here.affiliate);
    }
    const { programs } = (await shop.get<{ programs: { id: string }[] }>('/programs')).body;
    const terms = programs.map(({ id }) => `/programs/${id}/terms`);
    expect((await Promise.all(terms.map((route) => shop.get(route)))).map(({ text }) => text)).toContainEqual(
      expect.stringContaining('"accepted":1'),
    );
    for (const route of ['/commissions', '/payouts', '/coupons', '/signups', ...terms]) {
      const [here, there] = [await shop.get(route), await moved.get(route)];
      expect(withoutHeads(there.text), route).toEqual(withoutHeads(here.text));
    }
  });

  test('reports are those of the old one, once the days that were rolled up before are counted again', async () => {
    const { pool, clickhouse } = other.stores;
    await registerStream(pool, 'ingest');
    await pool.query('UPDATE ingest_streams SET visible_before = $1', [Date.parse('2026-11-28') * 1_000]);
    await rollUpImports({ pool, replicas: [{ name: 'main', clickhouse }], log: silentLogger() });
    expect((await pool.query('SELECT FROM workspace_imports WHERE roll_up_due IS NOT NULL')).rowCount).toBe(
      0,
    );
    const window = 'from=2026-11-01&to=2026-12-01';
    for (const route of [`/channels?${window}`, `/links?${window}`, `/clicks?limit=50`]) {
      const [here, there] = [await shop.get(route), await moved.get(route)];
      expect(there.status, there.text).toBe(200);
      expect(withoutHost(there.text), route).toEqual(withoutHost(here.text));
    }
    const query = {
      metrics: ['clicks', 'visitors', 'revenue'],
      dimensions: ['channel', 'city'],
      window: { from: '2026-11-01', to: '2026-12-01' },
    };
    const [here, there] = [
      await shop.post<{ rows: unknown[] }>('/analytics/query', query),
      await moved.post<{ rows: unknown[] }>('/analytics/query', query),
    ];
    expect(there.body.rows).toEqual(here.body.rows);
    expect(here.body.rows).toHaveLength(1);
  });

  test('taken names get an ending, and are named; a former code still finds its referrer', async () => {
    const again = await importFrom(path, other.stores, { proofs: PROOFS });
    expect(again).toMatchObject({ is_there: true, renamed: [] });
    const { rows } = await other.stores.pool.query<{ slug: string }>(
      'SELECT slug FROM workspaces WHERE id = $1',
      [shop.workspace.id],
    );
    expect(rows[0]?.slug).toMatch(/^tea-shop-[a-z0-9]{5}$/);
    const { bio_pages } = (await moved.get<{ bio_pages: { slug: string }[] }>('/bio-pages')).body;
    expect(bio_pages[0]?.slug).toMatch(/^victims-page-[a-z0-9]{5}$/);
    const link = await moved.get<{ links: { slug: string }[] }>(
      '/links?view=records&external_id=victims-external-id',
    );
    expect(link.body.links[0]?.slug).toMatch(/^victims-slug-[a-z0-9]{5}$/);
  });

  test('a second import adds nothing', async () => {
    const before = await stateOf(other);
    const again = await importFrom(path, other.stores);
    expect(Object.values(again.tables).every((rows) => rows === 0)).toBe(true);
    expect(await stateOf(other)).toEqual(before);
  });

  test('new rows get numbers after those of the archive', async () => {
    const bought = await merchant(moved).purchase('n', 'o-new', 100);
    expect(bought.body).toMatchObject({ matched: true, rewarded: true });
    expect((await verifyLedger(other.stores.pool, [shop.workspace.id])).ok).toBe(true);
  });

  test('clicks that the old deployment got meanwhile follow, as the guide says', async () => {
    const guide = await readFile(`${ROOT}/docs/moving-workspaces.md`, 'utf8');
    const [, route = ''] = /`GET (\/clicks\/export\?[^`]+)`/.exec(guide) ?? [];
    expect(route).toContain('<clicks_before>');
    const { rows } = await old.stores.pool.query<{ id: string }>(
      "SELECT id FROM links WHERE workspace_id = $1 AND slug = 'victims-slug'",
      [shop.workspace.id],
    );
    const clicks_before = await clicksBefore(path);
    const later = Date.parse(clicks_before) + 1;
    const kept = {
      rule_id: 'r1',
      variant_id: 'b',
      ad_network: 'google',
      ad_click_param: 'gclid',
      ad_click_id: 'Cj0KCQ',
      asn: 3320,
    };
    const values = [false, true].map((is_bot, nth) => ({
      workspace_id: shop.workspace.id,
      ts: `${new Date(later + nth).toISOString().slice(0, -1).replace('T', ' ')}000000`,
      link_id: rows[0]?.id,
      visitor_id: crypto.randomUUID(),
      channel: 'reddit',
      is_bot,
      ...kept,
    }));
    await old.stores.clickhouse.insert({ table: 'clicks', values, format: 'JSONEachRow' });
    await expect.poll(() => Date.now()).toBeGreaterThan(later + 1);

    const file = await shop.get(route.replace('<clicks_before>', clicks_before));
    expect([file.status, file.text.trim().split('\n').length], file.text).toEqual([200, 2]);
    const answer = await other.app.inject({
      method: 'POST',
      url: '/api/v1/clicks/import?from=csv',
      headers: { authorization: `Bearer ${shop.secretKey}`, 'content-type': 'application/x-ndjson' },
      payload: file.text,
    });
    const made = answer.json<{ created: number; errors: unknown[]; unknown_columns: string[] }>();
    expect(made, answer.body).toMatchObject({ created: 2, errors: [] });
    // Assigned again, or derived from the link and other columns.
    const derived = ['id', 'imported', 'referer_host', 'source', 'source_kind', 'continent', 'domain'];
    expect(made.unknown_columns.filter((name) => !derived.includes(name))).toEqual([]);
    const arrived = await other.app.inject({
      url: '/api/v1/clicks?limit=500&bots=include',
      headers: { authorization: `Bearer ${shop.secretKey}` },
    });
    const { clicks } = arrived.json<{ clicks: { visitor_id: string }[] }>();
    const ids: string[] = values.map(({ visitor_id }) => visitor_id);
    const followed = clicks.filter(({ visitor_id }) => ids.includes(visitor_id));
    expect(followed).toEqual([0, 1].map(() => expect.objectContaining({ ...kept, imported: true })));
  });

  test('another archive of the workspace, and one of a workspace that was made here, are refused', async () => {
    const newer = await files.write(old.stores, shop.workspace.id);
    await expect(importFrom(newer, other.stores)).rejects.toThrow(
      'was imported from another archive already',
    );
    await expect(importFrom(newer, old.stores)).rejects.toThrow('belongs to this deployment');
  });
});

test('a visitor gets the same from every kind of link and from a bio page, before and after the move', async () => {
  const movers = await old.addWorkspace();
  await makeDomain(old.stores.pool, movers.workspace.id, 'go.movers.example');
  const to = (path: string) => `https://shop.example/${path}`;
  const rule = (type: string, more: object, path: string) => ({
    conditions: [{ type, ...more }],
    destination_url: to(path),
  });
  const kinds: Record<string, object> = {
    plain: { utm_campaign: 'spring' },
    locked: { password: 'open sesame' },
    ruled: { rules: [rule('query', { name: 'a', operator: 'is', values: ['1'] }, 'rule')] },
    split: {
      split: [
        { destination_url: to('x'), weight: 50 },
        { destination_url: to('y'), weight: 50 },
      ],
    },
    devices: { targeting: { desktop: to('desktop') } },
    ended: { expires_at: '2020-01-01T00:00:00Z', expired_redirect_url: to('over') },
    once: { max_clicks: 1 },
    later: { starts_at: '2099-01-01T00:00:00Z' },
    carded: { preview: { title: 'A card' } },
    pixels: { retargeting: { facebook: '1234567890' } },
    bare: { forward_query: false, append_utm: false, append_visitor: false, redirect_status: 301 },
    elsewhere: { domain: 'go.movers.example' },
  };
  for (const [slug, settings] of Object.entries(kinds)) {
    const link = {
      destination_url: to(slug),
      name: slug,
      slug: `mv-${slug}`,
      channel: 'other',
      external: true,
    };
    const made = await movers.post('/links', { ...link, ...settings });
    expect([slug, made.status, made.text]).toEqual([slug, 201, made.text]);
  }
  const picture = await old.app.inject({
    method: 'POST',
    url: '/api/v1/bio-pages/pictures',
    headers: { authorization: `Bearer ${movers.secretKey}`, 'content-type': 'image/png' },
    payload: plainPng(40, 40, [200, 90, 20, 255]),
  });
  const avatar = picture.json<{ url: string }>().url;
  const page = {
    slug: 'mv-page',
    title: 'Movers',
    avatar_url: avatar,
    links: [{ id: 'b', label: 'Shop', url: to('bio') }],
  };
  expect((await movers.post('/bio-pages', page)).status).toBe(201);

  const seen = async ({ stores }: TestApi) => {
    const ingest = await startTestIngest(stores);
    const shown = async (slug: string, init?: RequestInit) => {
      const { status, location, body } = await visit(`${ingest.url}/mv-${slug}`, init);
      location?.searchParams.delete('_vid');
      const place = location?.href.replace(/shop.example\/[xy]/, 'shop.example/x or y');
      return [slug, status, place ?? body.replaceAll(/_vid=[\w-]{36}/g, '')];
    };
    try {
      await expect.poll(() => isCurrent(ingest)).toBe(true);
      const all: unknown[] = [];
      for (const slug of Object.keys(kinds)) all.push(await shown(slug));
      const body = new URLSearchParams({ password: 'open sesame' });
      all.push(
        await shown('ruled?a=1'),
        await shown('locked', { method: 'POST', body }),
        await shown('carded', { headers: { 'user-agent': PREVIEW } }),
        await shown('page'),
      );
      const pictureThere = await fetch(`${ingest.url}${new URL(avatar).pathname}`);
      const content = Buffer.from(await pictureThere.arrayBuffer()).toString('base64');
      all.push(['picture', pictureThere.status, content]);
      const { status, location } = await visitHost(ingest.url, 'go.movers.example', '/mv-elsewhere');
      return [...all, ['on its domain', status, location?.pathname]];
    } finally {
      await ingest.close();
      await ingest.remove();
    }
  };
  // Exported first: a visit uses up a permit.
  const archive = await files.write(old.stores, movers.workspace.id);
  const proofs = { '_hoplog.go.movers.example': ['hoplog-verification=test'] };
  const { renamed } = await importFrom(archive, other.stores, { proofs });
  expect(renamed).toEqual([]);
  const before = await seen(old);
  expect(await seen(other)).toEqual(before);
  expect(before).toEqual(
    expect.arrayContaining([
      ['plain', 302, expect.stringContaining('https://shop.example/plain')],
      ['ruled?a=1', 302, expect.stringContaining('https://shop.example/rule')],
      ['ended', 302, to('over')],
      ['on its domain', 302, '/elsewhere'],
      ['picture', 200, expect.stringMatching(/^UklGR/)],
    ]),
  );
});

/** Returns a workspace whose calls have another workspace's key. */
function withKeyOf(workspace: TestWorkspace, caller: TestWorkspace): TestWorkspace {
  const key = workspace.secretKey;
  return {
    ...workspace,
    call: (method, route, options) => caller.call(method, route, { key, ...options }),
    get: (route, options) => caller.get(route, { key, ...options }),
    post: (route, body, options) => caller.post(route, body, { key, ...options }),
    patch: (route, body, options) => caller.patch(route, body, { key, ...options }),
    delete: (route, options) => caller.delete(route, { key, ...options }),
  };
}

/** The numbers of entries were taken, so the hashes over them are others. */
function withoutHeads(text: string): unknown {
  return JSON.parse(text.replaceAll(/"ledger_head":"[0-9a-f]{64}"/g, '"ledger_head":""'));
}

/** Slugs that were taken, and instants of the response, differ. */
function withoutHost(text: string): unknown {
  return JSON.parse(
    text
      .replaceAll(/victims-(slug|page)-[a-z0-9]{5}/g, 'victims-$1')
      .replaceAll(/"watermark":"[^"]*"/g, '"watermark":""'),
  );
}
