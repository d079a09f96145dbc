import { describe, expect } from 'vitest';
import type { TestWorkspace } from '../../test/support/api.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import { storeClicks } from '../../test/support/stored-events.ts';

test.beforeAll(async ({ api, shop }) => {
  await storeClicks(api.stores, [{ workspaceId: shop.workspace.id }]);
});

/** Returns the status, and each fault as `path: message; hint`. */
async function faults(shop: TestWorkspace, path: string, body: unknown, method: 'POST' | 'PATCH' = 'POST') {
  const answer = await shop.call(method, path, { body });
  const texts = (answer.body.error?.details ?? []).map(
    (one) => `${one.path}: ${one.message}${one.hint === undefined ? '' : `; ${one.hint}`}`,
  );
  return { status: answer.status, texts, message: answer.body.error?.message };
}

test('an error leads to the help on its code', async ({ api, shop }) => {
  const base = api.deps.config.baseUrl;
  const { body } = await shop.post('/folders', {});
  expect(body.error.doc_url).toBe(`${base}/docs/errors/bad_request`);
  expect((await shop.get('/nowhere')).body.error.doc_url).toBe(`${base}/docs/errors/not_found`);
});

describe('a body that writes', () => {
  test('all of its faults are in one response, those beyond the schema too', async ({ shop }) => {
    const link = { destination_url: 'not a url', chanel: 'x', slug: 'api', max_clicks: 0, tags: 'a' };
    expect(await faults(shop, '/links', link)).toEqual({
      status: 400,
      message:
        '`chanel` is not a field of this body; did you mean `channel`? (and 5 more faults in `details`)',
      texts: [
        'chanel: is not a field of this body; did you mean `channel`?',
        'tags: must be a list of at most 50 items',
        'max_clicks: must be an integer from 1 to 2147483647 or null',
        'destination_url: must be a full URL that begins with https://, such as https://shop.example/tea',
        'name: is required without `destination_id`',
        'slug: must not be "api": this slug is reserved',
      ],
    });
  });

  test('faults beyond the schema are all named where the schema accepts the body', async ({ shop }) => {
    const { texts } = await faults(shop, '/links', {
      destination_url: 'shop example/tea',
      slug: 'api',
      channel: 'fax',
      targeting: { mobile: 'x', desktop: 'y' },
      retargeting: { facebook: 'x' },
    });
    expect(texts.map((text) => text.split(':', 1)[0])).toEqual([
      'channel',
      'destination_url',
      'name',
      'slug',
      'targeting.mobile',
      'targeting.desktop',
      'retargeting.facebook',
    ]);
  });

  test.for<[path: string, body: object, field: string, meant: string]>([
    ['/links', { slugg: 'a' }, 'slugg', 'slug'],
    ['/links', { destinationUrl: 'https://shop.example/' }, 'destinationUrl', 'destination_url'],
    ['/links', { targeting: { mobil: 'https://shop.example/' } }, 'targeting.mobil', 'mobile'],
    ['/track/identify', { visitorId: 'x', email: 'a@shop.example' }, 'visitorId', 'visitor_id'],
    ['/referrals/report-signup', { ref_cod: 'x' }, 'ref_cod', 'ref_code'],
    ['/bio-pages', { links: [{ lable: 'x' }] }, 'links.0.lable', 'label'],
  ])('%s: %j is a slip of a field that was not given', async ([path, body, field, meant], { shop }) => {
    const { status, texts } = await faults(shop, path, body);
    const owner = field.includes('.') ? `\`${field.slice(0, field.lastIndexOf('.'))}\`` : 'this body';
    expect([status, texts]).toEqual([
      400,
      expect.arrayContaining([`${field}: is not a field of ${owner}; did you mean \`${meant}\`?`]),
    ]);
  });

  test('a slip of a field that was given too is ignored, and so is what is like no field', async ({
    shop,
  }) => {
    const answer = await shop.post('/folders', { name: 'A', Name: 'B', colour: 'red' });
    expect([answer.status, answer.headers['x-ignored-fields']]).toEqual([201, 'Name, colour']);
  });

  test('a misspelled required field is one fault', async ({ shop }) => {
    expect((await faults(shop, '/folders', { nane: 'A' })).texts).toEqual([
      'nane: is not a field of this body; did you mean `name`?',
    ]);
  });

  test('at most 20 faults are named, and the message counts all', async ({ shop }) => {
    const links = Array.from({ length: 30 }, () => ({ label: 5 }));
    const { texts, message } = await faults(shop, '/bio-pages', { slug: 'many-faults', links });
    expect([texts.length, message]).toEqual([
      20,
      expect.stringContaining('(and 29 more faults in `details`)'),
    ]);
  });

  test('each row of a bulk create has all of its own', async ({ shop }) => {
    const { body } = await shop.call<{ results: { body: { error: { details: { path: string }[] } } }[] }>(
      'POST',
      '/links/bulk',
      { body: { links: [{ destination_url: 'x', chanel: 'reddit' }] } },
    );
    expect(body.results[0]?.body.error.details.map(({ path }) => path)).toEqual([
      'chanel',
      'destination_url',
      'name',
    ]);
  });

  test('a change names all of its faults too', async ({ shop }) => {
    const made = await shop.post<{ links: { id: string }[] }>('/links', {
      destination_url: 'https://shop.example/',
      name: 'N',
      channel: 'other',
    });
    const change = { destination_url: 'x', expired_redirect_url: 'y', max_clicks: 'z' };
    const { texts } = await faults(shop, `/links/${made.body.links[0]?.id}`, change, 'PATCH');
    expect(texts.map((text) => text.split(':', 1)[0])).toEqual([
      'max_clicks',
      'destination_url',
      'expired_redirect_url',
    ]);
  });
});

describe('visitor_id and _vid', () => {
  const [one, other] = ['019a0000-0000-7000-8000-00000000000a', '019a0000-0000-7000-8000-00000000000b'];

  test.for<[path: string, body: object]>([
    ['/track/identify', { email: 'a@shop.example' }],
    ['/track/order', { order_id: 'o', amount: 1, email: 'a@shop.example' }],
    ['/referrals/report-signup', { new_user_external_user_id: 'u' }],
  ])('%s takes either, and both where they agree', async ([path, body], { shop }) => {
    const statuses = [];
    for (const visitor of [
      { visitor_id: one },
      { _vid: one },
      { _vid: [one, other] },
      { visitor_id: one, _vid: one?.toUpperCase() },
      { visitor_id: null, _vid: one },
    ])
      statuses.push((await faults(shop, path, { ...body, ...visitor })).status);
    expect(new Set(statuses).size).toBe(1);
    expect(statuses[0]).toBeLessThan(300);
    expect((await faults(shop, path, { ...body, visitor_id: one, _vid: other })).texts).toEqual([
      '_vid: must be equal to `visitor_id`: they are two names of one field',
    ]);
  });
});

describe('a body that only reads', () => {
  const query = { metrics: ['clicks'] };
  test.for([
    [{ filter: [] }, 'filter: is not a field of this body; did you mean `filters`?'],
    [{ timezone: 'Europe/Berlin' }, 'timezone: is not a field of this body; did you mean `time_zone`?'],
    [{ window: { start: '2026-01-01' } }, 'window.start: is not a field of `window`; it has days, from, to'],
    [
      { filters: [{ dimension: 'country', operator: 'is', values: ['DE'], value: 'DE' }] },
      'filters.0.value: is not a field of `filters.0`; did you mean `values`?',
    ],
    [
      { filters: [{ any: [{ dimensions: 'country' }] }] },
      'filters.0.any.0.dimensions: is not a field of `filters.0.any.0`; did you mean `dimension`?',
    ],
    [
      { order_by: [{ by: 'clicks', dir: 'asc' }] },
      'order_by.0.dir: is not a field of `order_by.0`; it has by, direction',
    ],
    [{ compare: { form: '2026-01-01' } }, 'compare.form: is not a field of `compare`; did you mean `from`?'],
    [
      { colour: 1 },
      expect.stringMatching(/^colour: is not a field of this body; it has metrics, dimensions/),
    ],
  ])('%j is refused', async ([body, fault], { shop }) => {
    const { status, texts } = await faults(shop, '/analytics/query', { ...query, ...body });
    expect([status, texts]).toEqual([400, [fault]]);
  });

  test('null in an optional field is as if it were left out', async ({ shop }) => {
    const nulls = {
      dimensions: null,
      filters: null,
      window: null,
      compare: null,
      time_zone: null,
      limit: null,
    };
    const ask = (body: object) => shop.post<{ totals: object }>('/analytics/query', { ...query, ...body });
    const answer = await ask(nulls);
    expect([answer.status, answer.body.totals]).toEqual([200, (await ask({})).body.totals]);
    const within = {
      window: { days: 7, from: null, to: null },
      filters: [{ dimension: 'country', operator: 'is_empty', values: null }],
    };
    expect((await ask(within)).status).toBe(200);
    expect((await faults(shop, '/analytics/query', { metrics: null })).texts).toEqual([
      'metrics: must be a list of 1 to 7 items',
    ]);
  });

  test("a shared dashboard's query refuses it too", async ({ shop }) => {
    const { body } = await shop.post<{ token: string }>('/shared-dashboards', { name: 'Open' });
    const path = `/shared/${body.token}/query`;
    expect((await faults(shop, path, { ...query, timezone: 'UTC' })).texts).toEqual([
      'timezone: is not a field of this body; did you mean `time_zone`?',
    ]);
  });
});
