import { Registry } from 'prom-client';
import { describe, expect } from 'vitest';
import { createClickHouse } from '../../clickhouse/client.ts';
import { uuidv7 } from '../../core/ids.ts';
import { silentLogger } from '../../core/tier/log.ts';
import { inTransaction } from '../../sql/database/pool.ts';
import { requestErasure } from '../../sql/erasure/erasures.ts';
import { upsertOrders } from '../../sql/orders/orders.ts';
import { updateWorkspace } from '../../sql/workspaces/workspaces.ts';
import type { TestApi, TestWorkspace } from '../../test/support/api.ts';
import { apiTest as it } from '../../test/support/fixtures.ts';
import { attribute } from '../../workers/attribution/attribute.ts';
import { eraseRequested } from '../../workers/jobs/erase.ts';
import { publishOrders } from '../../workers/jobs/publish-orders.ts';
import { removeExpired } from '../../workers/jobs/retain.ts';
import { removeUndoneImports } from '../../workers/jobs/undo-imports.ts';
import { createWorkerMetrics } from '../../workers/metrics.ts';
import { rollUpImports } from '../../workers/rollups/keep-rolled-up.ts';
import { undoImport } from './undo-import.ts';

type Link = { id: string; slug: string };
type Imported = {
  import_id: string;
  read: number;
  created: number;
  clicks: number;
  orders: number;
  skipped: number;
  failed: number;
  unknown_columns: string[];
  errors: { line: number; link: string | null; field: string | null; message: string }[];
};

async function addLink(workspace: TestWorkspace, slug: string, channel = 'newsletter'): Promise<Link> {
  const { body } = await workspace.post<{ links: Link[] }>('/links', {
    destination_url: 'https://shop.example/',
    name: slug,
    slug,
    channel,
  });
  return body.links[0] as Link;
}

/** Sends a body as it is. */
async function send<T = Imported>(
  api: TestApi,
  { secretKey }: TestWorkspace,
  text: string | Buffer,
  query = '',
  type = 'text/csv',
): Promise<{ status: number; body: T }> {
  const response = await api.app.inject({
    method: 'POST',
    url: `/api/v1/clicks/import${query}`,
    headers: { authorization: `Bearer ${secretKey}`, 'content-type': type },
    payload: text,
  });
  return { status: response.statusCode, body: response.json<T>() };
}

describe('clicks that are imported', () => {
  it('keep their time and what the row says of them', async ({ api }) => {
    const workspace = await api.addWorkspace();
    const link = await addLink(workspace, 'keeps-time');
    const { status, body } = await send(
      api,
      workspace,
      `ts,slug,country,city,region,user_agent,referer,visitor,utm_source\n` +
        `2025-03-01T10:00:00Z,keeps-time,DE,Bonn,DE-NW,"Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1",https://t.co/x,anna,mail\n`,
    );
    expect({ status, ...body }).toMatchObject({ status: 200, read: 1, created: 1, clicks: 1, errors: [] });
    const { body: page } = await workspace.get<{ clicks: Record<string, unknown>[] }>('/clicks');
    expect(page.clicks).toEqual([
      expect.objectContaining({
        ts: '2025-03-01T10:00:00.000000Z',
        link_id: link.id,
        channel: 'newsletter',
        country: 'DE',
        continent: 'EU',
        region: 'DE-NW',
        city: 'Bonn',
        device: 'mobile',
        browser: 'Mobile Safari',
        os: 'iOS',
        referer: 'https://t.co/x',
        referer_host: 't.co',
        slug: 'keeps-time',
        utm_source: 'mail',
        imported: true,
        count: 1,
        is_bot: false,
      }),
    ]);
  });

  it('are in reports and the export, and in no poll, live click, or plan figure', async ({ api }) => {
    const workspace = await api.addWorkspace();
    await addLink(workspace, 'in-reports');
    const ts = new Date(Date.now() - 60_000).toISOString();
    const { body } = await send(
      api,
      workspace,
      `ts,slug,visitor\n${ts},in-reports,anna\n${ts},in-reports,ben\n`,
    );
    expect(body).toMatchObject({ created: 2, clicks: 2 });
    expect(await figures(workspace)).toEqual({ channels: 2, links: 2, query: 2, visitors: 2, exported: 2 });
    // A click of a visitor at the same time is in the poll.
    const own = {
      workspace_id: workspace.workspace.id,
      visitor_id: uuidv7(),
      ts: ts.slice(0, -1).replace('T', ' '),
    };
    await api.stores.clickhouse.insert({ table: 'clicks', values: [own], format: 'JSONEachRow' });
    await passWatermark(api);
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const poll = await workspace.get<{ clicks: { visitor_id: string }[] }>(
      `/clicks?since=${since}&orphans=include`,
    );
    expect(poll.body.clicks.map(({ visitor_id }) => visitor_id)).toEqual([own.visitor_id]);
    const me = await workspace.get<{ plan: { limits: { events: { used: number } } } }>('/me');
    expect(me.body.plan.limits.events.used).toBe(0);
  });

  it('count once, however often a row is imported, and once for each equal row of a file', async ({
    api,
  }) => {
    const workspace = await api.addWorkspace();
    await addLink(workspace, 'twice');
    const text = `ts,slug,country\n${'2024-05-01 10:00:00,twice,DE\n'.repeat(3)}2024-05-01 10:00:00,twice,FR\n`;
    const first = await send(api, workspace, text);
    expect(first.body).toMatchObject({ read: 4, created: 4, clicks: 4, skipped: 0 });
    const again = await send(api, workspace, text);
    expect(again.body).toMatchObject({ read: 4, created: 0, clicks: 0, skipped: 4 });
    const more = await send(api, workspace, `${text}2024-05-01 10:00:00,twice,DE\n`);
    expect(more.body).toMatchObject({ read: 5, created: 1, skipped: 4 });
    const { body } = await workspace.get<{ clicks: { id: string; ts: string }[] }>('/clicks');
    expect(body.clicks.map(({ ts }) => ts).sort()).toEqual(
      [0, 1, 2, 3, 4].map((micros) => `2024-05-01T10:00:00.00000${micros}Z`),
    );
    expect(new Set(body.clicks.map(({ id }) => id)).size).toBe(5);
  });

  it('may be counts of a source, whose visitors are unknown', async ({ api }) => {
    const workspace = await api.addWorkspace();
    await addLink(workspace, 'counted');
    const ts = new Date(Date.now() - 86_400_000).toISOString();
    const { body } = await send(
      api,
      workspace,
      `ts,slug,country,count\n${ts},counted,DE,500\n${ts},counted,FR,0\n`,
    );
    expect(body).toMatchObject({ read: 2, created: 1, clicks: 500, skipped: 1 });
    const found = await figures(workspace);
    expect(found).toMatchObject({ channels: 500, links: 500, query: 500, exported: 1 });
    expect(found.visitors).toBeLessThanOrEqual(500);
    const { body: page } = await workspace.get<{ clicks: { count: number }[] }>('/clicks');
    expect(page.clicks).toEqual([expect.objectContaining({ count: 500, imported: true })]);
  });

  it('are refused row by row, with line, link, field, and rule', async ({ api }) => {
    const workspace = await api.addWorkspace({ retention_months: 120 });
    await addLink(workspace, 'good');
    const year = new Date().getUTCFullYear();
    const { body } = await send(
      api,
      workspace,
      [
        'ts,short_url,channel,country,count,mood',
        '2025-01-01T00:00:00Z,https://hop.example/good,,,,happy',
        '2025-01-01T00:00:00Z,https://hop.example/none,,,,',
        '2025-01-01T00:00:00Z,https://other.example/good,,,,',
        'yesterday,good,,,,',
        `${year + 1}-01-01T00:00:00Z,good,,,,`,
        `${year - 21}-01-01T00:00:00Z,good,,,,`,
        `${year - 12}-01-01T00:00:00Z,good,,,,`,
        '2025-01-01T00:00:00Z,good,fax,,,',
        '2025-01-01T00:00:00Z,good,,Atlantis,,',
        '2025-01-01T00:00:00Z,good,,,-1,',
        '2025-01-01T00:00:00Z,good',
      ].join('\n'),
    );
    expect(body).toMatchObject({ read: 11, created: 1, failed: 10, unknown_columns: ['mood'] });
    expect(body.errors.map(({ line, link, field }) => ({ line, link, field }))).toEqual([
      { line: 5, link: null, field: 'ts' },
      { line: 6, link: null, field: null },
      { line: 7, link: null, field: null },
      { line: 8, link: null, field: null },
      { line: 9, link: null, field: 'channel' },
      { line: 10, link: null, field: 'country' },
      { line: 11, link: null, field: 'count' },
      { line: 12, link: null, field: null },
      { line: 3, link: 'hop.example/none', field: null },
      { line: 4, link: 'other.example/good', field: null },
    ]);
  });

  it('are not stored by a dry run, which says the same counts', async ({ api }) => {
    const workspace = await api.addWorkspace();
    await addLink(workspace, 'dry');
    const text = '{"ts":"2024-01-01T00:00:00Z","slug":"dry"}\n{"ts":"2024-01-01","slug":"wet"}\n';
    const dry = await send(api, workspace, text, '?dry_run=true', 'application/x-ndjson');
    expect(dry.body).toMatchObject({ import_id: null, read: 2, created: 1, clicks: 1, failed: 1 });
    expect((await workspace.get<{ clicks: object[] }>('/clicks')).body.clicks).toEqual([]);
    expect((await workspace.get<{ imports: object[] }>('/clicks/imports')).body.imports).toEqual([]);
    const real = await send(api, workspace, text, '', 'application/x-ndjson');
    const { import_id: _, ...counts } = real.body;
    expect({ ...counts, dry_run: true, import_id: null }).toEqual(dry.body);
  });
});

describe('an import of clicks', () => {
  it('is undone as a whole, leaves nothing, and can be made again', async ({ api }) => {
    const workspace = await api.addWorkspace();
    await addLink(workspace, 'undone');
    const rows = (from: number, to: number) =>
      `ts,slug,visitor\n${Array.from({ length: to - from }, (_, n) => `${dayBefore(n + 3)},undone,v${from + n}\n`).join('')}`;
    const kept = await send(api, workspace, rows(0, 5));
    const before = await figures(workspace);
    const gone = await send(api, workspace, rows(100, 120));
    expect((await figures(workspace)).channels).toBe(25);
    await passWatermark(api);
    expect(await rolledUp(api, workspace)).toBe(25);

    const undone = await workspace.delete<{ clicks: number }>(`/clicks/imports/${gone.body.import_id}`);
    expect(undone.body).toEqual({
      import_id: gone.body.import_id,
      clicks: 20,
      orders: 0,
      complete: true,
    });
    expect(await figures(workspace)).toEqual(before);
    expect(await rolledUp(api, workspace)).toBe(5);
    const list = await workspace.get<{ imports: { id: string; undone_at: string | null }[] }>(
      '/clicks/imports',
    );
    expect(list.body.imports.map(({ id, undone_at }) => ({ id, isUndone: undone_at !== null }))).toEqual([
      { id: gone.body.import_id, isUndone: true },
      { id: kept.body.import_id, isUndone: false },
    ]);
    const again = await send(api, workspace, rows(100, 120));
    expect(again.body).toMatchObject({ created: 20, skipped: 0 });
    expect((await figures(workspace)).channels).toBe(25);
  });

  it('adds what a count of a day or an hour has grown by, also after an undo', async ({ api }) => {
    const workspace = await api.addWorkspace();
    await addLink(workspace, 'grows');
    const { host } = new URL(api.deps.config.shortUrl);
    const counts = async () =>
      (await workspace.get<{ clicks: { count: number }[] }>('/clicks')).body.clicks
        .map(({ count }) => count)
        .sort();
    const pages = (count: number) =>
      send(
        api,
        workspace,
        `date,hostname,page,visits,visitors,pageviews\n2024-03-01,${host},/grows,1,1,${count}\n2024-03-02,${host},/grows,1,1,2\n`,
        '?from=plausible',
      );
    const first = await pages(5);
    expect(first.body).toMatchObject({ read: 2, created: 2, clicks: 7, skipped: 0 });
    expect((await pages(5)).body).toMatchObject({ created: 0, clicks: 0, skipped: 2 });
    expect((await pages(8)).body).toMatchObject({ created: 1, clicks: 3, skipped: 1 });
    expect((await pages(8)).body).toMatchObject({ created: 0, clicks: 0, skipped: 2 });
    expect((await pages(6)).body).toMatchObject({ created: 0, clicks: 0, skipped: 2 });
    expect(await counts()).toEqual([2, 3, 5]);
    await workspace.delete(`/clicks/imports/${first.body.import_id}`);
    expect((await pages(9)).body).toMatchObject({ created: 2, clicks: 8, skipped: 0 });
    expect(await counts()).toEqual([2, 3, 6]);

    const hour = (total: number, countries: object) =>
      send(
        api,
        workspace,
        `id,total,created_at,address,domain,countries\n7,${total},2024-04-01T10:00:00Z,grows,,"${JSON.stringify(countries).replaceAll('"', '""')}"\n`,
        '?from=kutt',
      );
    expect((await hour(3, { DE: 2 })).body).toMatchObject({ created: 1, clicks: 3 });
    expect((await hour(6, { DE: 3, FR: 1 })).body).toMatchObject({ created: 1, clicks: 3 });
    expect((await hour(6, { DE: 3, FR: 1 })).body).toMatchObject({ created: 0, clicks: 0, skipped: 1 });
    expect((await counts()).reduce((sum, one) => sum + one)).toBe(11 + 6);
  });

  it('belongs to its workspace', async ({ api }) => {
    const [workspace, other] = [await api.addWorkspace(), await api.addWorkspace()];
    await addLink(workspace, 'ours');
    await addLink(other, 'theirs');
    const { body } = await send(api, workspace, 'ts,slug\n2024-01-01,ours\n');
    expect((await other.delete(`/clicks/imports/${body.import_id}`)).status).toBe(404);
    const same = await send(
      api,
      other,
      'ts,slug\n2024-01-01,theirs\n2024-01-02,ours\n',
      `?import_id=${body.import_id}`,
    );
    expect(same.body).toMatchObject({ created: 1, failed: 1 });
    await other.delete(`/clicks/imports/${body.import_id}`);
    expect((await workspace.get<{ clicks: object[] }>('/clicks')).body.clicks).toHaveLength(1);
    expect((await other.get<{ clicks: object[] }>('/clicks')).body.clicks).toEqual([]);
  });

  it('is refused as a whole when the body is of another source', async ({ api }) => {
    const workspace = await api.addWorkspace();
    const refused = await send<{ error: { message: string } }>(
      api,
      workspace,
      'date,browser,browser_version,visitors\n2024-01-01,Safari,16,5\n',
      '?from=plausible',
    );
    expect(refused.status).toBe(400);
    expect(refused.body.error.message).toContain('imported_pages');
    for (const text of ['[]', '{', '[1]', '"ts', 'a,b\n1\n2,3\n']) {
      expect((await send(api, workspace, text)).status, text).toBe(400);
    }
    for (const text of ['', 'PK\0\0', ' \n ']) expect((await send(api, workspace, text)).status).toBe(400);
    expect((await send(api, workspace, 'ts,slug\n', '?domain=nope.example')).status).toBe(400);
  });
});

describe('orders that are imported', () => {
  it('give a report of last year its revenue, by the buyer’s clicks, or by the link that they name', async ({
    api,
  }) => {
    const workspace = await api.addWorkspace();
    const [tea, mug] = [await addLink(workspace, 'tea'), await addLink(workspace, 'mug', 'facebook')];
    const clicks = await send(api, workspace, 'ts,slug,visitor\n2024-03-01T10:00:00Z,tea,anna\n');
    const text = [
      'ts,order_id,amount,currency,visitor,email,slug',
      '2024-03-02T10:00:00Z,o-1,19.99,usd,anna,,',
      '2024-03-03T10:00:00Z,o-2,5,,,ben@shop.example,mug',
      '2024-03-04T10:00:00Z,o-3,7.50,USD,,cleo@shop.example,',
    ].join('\n');
    const query = `?content=orders&import_id=${clicks.body.import_id}`;
    const dry = await send(api, workspace, text, `${query}&dry_run=true`);
    expect(dry.body).toMatchObject({ read: 3, created: 3, orders: 3, clicks: 0, errors: [] });
    expect(await ordersOf(api, workspace)).toEqual([]);
    const { body } = await send(api, workspace, text, query);
    expect(body).toMatchObject({ read: 3, created: 3, orders: 3, skipped: 0, failed: 0 });
    const again = await send(api, workspace, text, query);
    expect(again.body).toMatchObject({ created: 0, orders: 0, skipped: 3 });
    await attributeOrders(api);
    expect(await revenueOf(workspace)).toEqual({
      byLink: { [tea.id]: 19.99, [mug.id]: 5 },
      conversions: 2,
      byChannel: { newsletter: 19.99, facebook: 5 },
    });
    await expectNothingElse(api, workspace);

    const undone = await workspace.delete<{ orders: number }>(`/clicks/imports/${clicks.body.import_id}`);
    expect(undone.body).toMatchObject({ clicks: 1, orders: 3, complete: true });
    await attributeOrders(api);
    expect(await revenueOf(workspace)).toEqual({ byLink: {}, conversions: 0, byChannel: {} });
    const back = await send(api, workspace, text, '?content=orders');
    expect(back.body).toMatchObject({ created: 3, skipped: 0 });
    await attributeOrders(api);
    // The click of `anna` is gone.
    expect((await revenueOf(workspace)).byLink).toEqual({ [mug.id]: 5 });
  });

  it('count in the workspace’s currency, and a refund of one changes no report', async ({ api }) => {
    const workspace = await api.addWorkspace({ currency: 'usd' });
    const link = await addLink(workspace, 'money');
    await api.stores.pool.query(
      `INSERT INTO currency_rates (currency, base, rate) VALUES ('eur', 'usd', 2), ('jpy', 'usd', 0.01)`,
    );
    const text = [
      'ts,order_id,amount,currency,slug,refunded',
      '2024-03-02,o-usd,10,usd,money,',
      '2024-03-02,o-eur,10,EUR,money,',
      '2024-03-02,o-jpy,1000,jpy,money,',
      '2024-03-02,o-half,1000.5,jpy,money,',
      '2024-03-02,o-back,-10,usd,money,yes',
    ].join('\n');
    const { body } = await send(api, workspace, text, '?content=orders');
    expect(body).toMatchObject({ created: 3, failed: 2 });
    await attributeOrders(api);
    expect((await revenueOf(workspace)).byLink).toEqual({ [link.id]: 40 });
  });

  it('yield to a later report of the same order', async ({ api }) => {
    const workspace = await api.addWorkspace();
    const link = await addLink(workspace, 'later');
    await send(api, workspace, 'ts,order_id,amount,slug\n2024-03-02,o-1,19.99,later\n', '?content=orders');
    const { created } = await upsertOrders(api.stores.pool, [
      {
        workspaceId: workspace.workspace.id,
        orderId: 'o-1',
        source: 'server',
        ts: Date.now() * 1_000,
        streamOrdinal: 0,
        visitorId: null,
        email: 'anna@shop.example',
        externalUserId: null,
        amountMinor: 500,
        currency: 'usd',
      },
    ]);
    expect(created.map(({ orderId }) => orderId)).toEqual(['o-1']);
    expect(await ordersOf(api, workspace)).toEqual([
      { order_id: 'o-1', source: 'server', amount_minor: 500, import_id: null, link_id: null },
    ]);
    const text = `ts,order_id,amount,link_id\n2024-03-02,o-1,19.99,${link.id}\n`;
    expect((await send(api, workspace, text, '?content=orders')).body).toMatchObject({
      created: 0,
      skipped: 1,
    });
  });

  it('are refused row by row, with line, field, and rule', async ({ api }) => {
    const workspace = await api.addWorkspace();
    await addLink(workspace, 'sold');
    const text = [
      'ts,order_id,amount,currency,visitor,email,slug,mood',
      '2024-03-02,o-1,-5,usd,anna,,,',
      '2024-03-02,o-2,5.001,usd,anna,,,',
      '2024-03-02,o-3,5,xau,anna,,,',
      '2024-03-02,,5,usd,anna,,,',
      '2024-03-02,o-5,5,usd,,,,',
      '2024-03-02,o-6,5,usd,,anna,,',
      '2099-03-02,o-7,5,usd,anna,,,',
      '2024-03-02,o-8,5,usd,,,unknown,',
      '2024-03-02,o-9,5,usd,,,sold,',
      '2024-03-02,o-9,6,usd,,,sold,',
    ].join('\n');
    const { body } = await send(api, workspace, text, '?content=orders');
    expect(body).toMatchObject({ read: 10, created: 1, skipped: 1, failed: 8, unknown_columns: ['mood'] });
    expect(body.errors.map(({ line, field }) => [line, field])).toEqual([
      [2, 'amount'],
      [3, 'amount'],
      [4, 'currency'],
      [5, 'order_id'],
      [6, 'visitor'],
      [7, 'email'],
      [8, null],
      [9, null],
    ]);
    expect((await send(api, workspace, 'ts,slug\n2024-03-02,sold\n', '?content=orders')).status).toBe(400);
  });
});

describe('a click that was imported', () => {
  it('is in its visitor’s journey, uses no permit of max_clicks, and makes no webhook', async ({ api }) => {
    const workspace = await api.addWorkspace();
    const webhook = { url: 'https://1.1.1.1/hook', events: ['click.created'] };
    const made = await workspace.post('/webhooks', webhook);
    expect([made.status, made.text]).toEqual([201, made.text]);
    const link = await addLink(workspace, 'quiet');
    await workspace.patch(`/links/${link.id}`, { max_clicks: 1 });
    const counts = async () => {
      const { rows } = await api.stores.pool.query(
        `SELECT (SELECT count(*) FROM webhook_outbox) AS events, (SELECT count(*) FROM webhook_deliveries) AS deliveries,
          (SELECT row_to_json(l)::jsonb - 'updated_at' FROM links l WHERE id = $1) AS link`,
        [link.id],
      );
      return rows[0];
    };
    const before = await counts();
    const visitor = uuidv7();
    await send(
      api,
      workspace,
      `ts,slug,visitor\n2024-03-01T10:00:00Z,quiet,${visitor}\n2024-03-01T11:00:00Z,quiet,${visitor}\n`,
    );
    expect(await counts()).toEqual(before);
    await passWatermark(api);
    await rolledUp(api, workspace);
    const journey = await workspace.get<{ journey: { type: string; ts: string }[] }>(
      `/visitors/${visitor}/journey`,
    );
    expect([journey.status, journey.body.journey.map(({ type, ts }) => [type, ts.slice(0, 16)])]).toEqual([
      200,
      [
        ['click', '2024-03-01T10:00'],
        ['click', '2024-03-01T11:00'],
      ],
    ]);
  });

  it('leaves with its visitor, and with its month', async ({ api }) => {
    const workspace = await api.addWorkspace({ retention_months: 120 });
    await addLink(workspace, 'leaves');
    const [gone, kept] = [uuidv7(), uuidv7()];
    const rows = `2024-03-01,leaves,${gone}\n2024-03-02,leaves,${kept}\n${dayBefore(1)},leaves,${kept}\n`;
    await send(api, workspace, `ts,slug,visitor\n${rows}`);
    const { pool, clickhouse } = api.stores;
    await passWatermark(api);
    const visitors = async () =>
      (await workspace.get<{ clicks: { visitor_id: string }[] }>('/clicks')).body.clicks.map(
        ({ visitor_id }) => visitor_id,
      );
    expect(await visitors()).toEqual([kept, kept, gone]);
    await inTransaction(pool, (tx) =>
      requestErasure(tx, { workspaceId: workspace.workspace.id, kind: 'visitor', targetId: gone }),
    );
    const metrics = createWorkerMetrics(new Registry());
    await eraseRequested({ ...api.stores, metrics });
    await expect.poll(visitors).toEqual([kept, kept]);
    await updateWorkspace(pool, workspace.workspace.id, { retention_months: 1 });
    await removeExpired({ pool, replicas: [{ name: 'main', clickhouse }], metrics }, Date.now());
    await expect.poll(visitors).toEqual([kept]);
  });
});

describe('undoing an import', () => {
  it('is completed by a worker when ClickHouse does not respond, and holds other imports until then', async ({
    api,
  }) => {
    const workspace = await api.addWorkspace();
    const { pool } = api.stores;
    await addLink(workspace, 'down');
    const text = 'ts,slug\n2024-03-01,down\n2024-03-02,down\n';
    const { body } = await send(api, workspace, text);
    const dead = createClickHouse({ url: 'http://127.0.0.1:1', database: 'none' });
    const clickhouses = { replicas: [{ name: 'main', clickhouse: dead }], log: silentLogger() };
    const target = { workspaceId: workspace.workspace.id, importId: body.import_id };
    const undone = await undoImport({ pool, clickhouses }, target, async () => undefined);
    await dead.close();
    expect(undone).toEqual({ import_id: body.import_id, clicks: 2, orders: 0, complete: false });
    type Listed = { imports: { undone_at: string | null; removed_at: string | null }[] };
    const listed = async () => {
      const [one] = (await workspace.get<Listed>('/clicks/imports')).body.imports;
      return [one?.undone_at === null, one?.removed_at === null];
    };
    expect(await listed()).toEqual([false, true]);
    const held = await send<{ error: { message: string } }>(api, workspace, text);
    expect([held.status, held.body.error.message]).toEqual([
      409,
      expect.stringContaining('are being removed'),
    ]);
    await removeUndoneImports({ pool, replicas: api.stores.replicas, log: silentLogger() });
    expect(await listed()).toEqual([false, false]);
    expect((await workspace.get<{ clicks: object[] }>('/clicks')).body.clicks).toEqual([]);
    expect((await send(api, workspace, text)).body).toMatchObject({ created: 2, skipped: 0 });
  });
});

/** Attributes the orders that wait, and writes them to ClickHouse. */
async function attributeOrders(api: TestApi): Promise<void> {
  const { pool, clickhouse, readers } = api.stores;
  await passWatermark(api);
  const replicas = [{ name: 'main', clickhouse }];
  const given = {
    ...{ pool, clickhouse, readers, replicas },
    ...{ log: silentLogger(), metrics: createWorkerMetrics(new Registry()) },
  };
  while (await publishOrders(given));
  await rollUpImports(given);
  while (await attribute(given, 'orders'));
}

async function ordersOf(api: TestApi, { workspace }: TestWorkspace) {
  const { rows } = await api.stores.pool.query(
    'SELECT order_id, source, amount_minor, import_id, link_id FROM orders WHERE workspace_id = $1 ORDER BY order_id',
    [workspace.id],
  );
  return rows;
}

/** Revenue and conversions of March 2024. */
async function revenueOf(workspace: TestWorkspace) {
  type Row = { dimensions: { link?: string; channel?: string }; metrics: { revenue: number } };
  const by = async (dimension: 'link' | 'channel') => {
    const { body } = await workspace.post<{ rows: Row[]; totals: { conversions: number } }>(
      '/analytics/query',
      {
        metrics: ['revenue', 'conversions'],
        dimensions: [dimension],
        window: { from: '2024-03-01', to: '2024-04-01' },
      },
    );
    const sold = body.rows.filter(({ metrics }) => metrics.revenue > 0);
    return {
      conversions: body.totals.conversions,
      rows: Object.fromEntries(sold.map((row) => [row.dimensions[dimension], row.metrics.revenue])),
    };
  };
  const [links, channels] = [await by('link'), await by('channel')];
  return { byLink: links.rows, conversions: links.conversions, byChannel: channels.rows };
}

/** Expects that the imported orders have no effect but in reports. */
async function expectNothingElse(api: TestApi, workspace: TestWorkspace): Promise<void> {
  const { rows } = await api.stores.pool.query(
    `SELECT (SELECT count(*) FROM purchases WHERE workspace_id = $1) AS purchases,
       (SELECT count(*) FROM commissions WHERE workspace_id = $1) AS commissions,
       (SELECT count(*) FROM webhook_outbox WHERE workspace_id = $1) AS events`,
    [workspace.workspace.id],
  );
  expect(rows).toEqual([{ purchases: 0, commissions: 0, events: 0 }]);
  const me = await workspace.get<{ plan: { limits: { events: { used: number } } } }>('/me');
  expect(me.body.plan.limits.events.used).toBe(0);
}

const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

/** The clicks of the last year, from every report that counts them. */
async function figures(workspace: TestWorkspace) {
  type Rows = { clicks: number; visitors: number }[];
  const sum = (rows: Rows) => rows.reduce((all, { clicks }) => all + clicks, 0);
  const channels = await workspace.get<{ channels: Rows }>('/channels?days=365');
  const links = await workspace.get<{ links: Rows }>('/links?days=365');
  const query = await workspace.post<{ totals: { clicks: number; visitors: number } }>('/analytics/query', {
    metrics: ['clicks', 'visitors'],
    dimensions: ['country'],
    window: { days: 365 },
  });
  const file = await workspace.get<unknown>('/clicks/export?format=ndjson&days=365');
  return {
    channels: sum(channels.body.channels),
    links: sum(links.body.links),
    query: query.body.totals.clicks,
    visitors: query.body.totals.visitors,
    exported: file.text.split('\n').filter((line) => line !== '').length,
  };
}

async function passWatermark(api: TestApi): Promise<void> {
  await api.stores.pool.query(
    `INSERT INTO ingest_streams (stream_id, ordinal, name, visible_before) VALUES (gen_random_uuid(), 0, 'test', $1)
     ON CONFLICT (ordinal) DO UPDATE SET visible_before = excluded.visible_before`,
    [Date.now() * 1_000],
  );
}

/** The clicks of a workspace in the roll-ups, after the pass that an import requests. */
async function rolledUp(api: TestApi, { workspace }: TestWorkspace): Promise<number> {
  const { pool, clickhouse } = api.stores;
  await rollUpImports({ pool, replicas: [{ name: 'main', clickhouse }], log: silentLogger() });
  const result = await clickhouse.query({
    query: `SELECT sum(clicks) AS clicks FROM clicks_rolled_up WHERE workspace_id = {workspace:UUID} AND generation IN
      (SELECT generation FROM rolled_up_periods FINAL WHERE period = 'day')`,
    query_params: { workspace: workspace.id },
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ clicks: string }>();
  return Number(row?.clicks);
}
