import { expect } from 'vitest';
import type { ErrorBody, TestApi, TestWorkspace } from '../../test/support/api.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import type { LinkRecord } from './schemas.ts';

type Row = { index: number; status: number; body: { links: LinkRecord[] } & ErrorBody };
type Results = { results: Row[] };

const row = (more: object = {}) => ({
  destination_url: 'https://shop.example',
  name: 'N',
  channel: 'reddit',
  ...more,
});
const bulk = (shop: TestWorkspace, links: unknown[], key?: string) =>
  shop.post<Results>('/links/bulk', { links }, key ? { headers: { 'idempotency-key': key } } : {});

const nested = (levels: number): unknown => (levels === 0 ? 'bottom' : [nested(levels - 1)]);

async function countOfLinks(api: TestApi, shop: TestWorkspace): Promise<number> {
  const { rows } = await api.stores.pool.query<{ count: number }>(
    'SELECT count(*) AS count FROM links WHERE workspace_id = $1',
    [shop.workspace.id],
  );
  return rows[0]?.count ?? -1;
}

test('each row has its own outcome, in order, and a refused one changes nothing for the others', async ({
  api,
  shop,
}) => {
  const { status, body } = await bulk(shop, [
    row({ slug: 'bulk-one', unknown: true }),
    row({ slug: 'BULK-ONE' }),
    row({ channel: 'x', smart: true }),
    'no object',
    null,
    row({ external_id: 'e' }),
    row({ external_id: 'e' }),
    row({ destination_url: 'https://elsewhere.example' }),
    row({ folder_id: '01a1fda0-08a1-7000-b1c0-3017c3a6f7c2' }),
    row({ max_clicks: '3' }),
    row({ channel: undefined, channels: ['slack', 'x'] }),
  ]);
  expect(status).toBe(200);
  expect(body.results.map((result) => result.index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(body.results.map((result) => result.status)).toEqual([
    201, 409, 400, 400, 400, 201, 200, 400, 404, 400, 201,
  ]);
  expect(body.results[0]?.body.links[0]?.slug).toBe('bulk-one');
  expect(body.results[1]?.body.error).toMatchObject({ code: 'conflict', request_id: expect.any(String) });
  expect(body.results[9]?.body.error.details?.[0]?.path).toBe('max_clicks');
  expect(body.results[6]?.body.links[0]?.id).toBe(body.results[5]?.body.links[0]?.id);
  expect(await countOfLinks(api, shop)).toBe(4);
});

test('a row that can not be stored as sent is refused alone, with its field', async ({ api, shop }) => {
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
  const rows = [
    row(),
    row({ name: 'a\0b' }),
    row({ tags: ['fine', '\ud800'] }),
    row({ metadata: { number: 'HUGE', 'a\0': 1 } }),
    row({ metadata: { number: 'HUGE' } }),
    'text\0',
    row({ metadata: 'DEEP' }),
    row({ metadata: { levels: nested(40) } }),
  ];
  const text = JSON.stringify({ links: rows }).replaceAll('"HUGE"', '1e999').replace('"DEEP"', deep);
  const send = () =>
    api.app.inject({
      method: 'POST',
      url: '/api/v1/links/bulk',
      headers: {
        authorization: `Bearer ${shop.secretKey}`,
        'content-type': 'application/json',
        'idempotency-key': 'rows',
      },
      payload: text,
    });
  const answer = await send();
  const { results } = answer.json<Results>();
  expect([answer.statusCode, results.map((result) => result.status)]).toEqual([
    200,
    [201, 400, 400, 400, 400, 400, 400, 201],
  ]);
  expect(results.map((result) => result.body.error?.details?.[0]?.path)).toEqual([
    undefined,
    'name',
    'tags.1',
    'metadata',
    'metadata.number',
    'body',
    'body',
    undefined,
  ]);
  const replayed = await send();
  expect([replayed.headers['idempotent-replayed'], replayed.json()]).toEqual(['true', answer.json()]);
  expect(await countOfLinks(api, shop)).toBe(2);
});

test('outside of the rows a body that can not be stored is refused as a whole', async ({ api, shop }) => {
  expect((await shop.post('/links/bulk', { links: [row()], more: '\0' })).status).toBe(400);
  expect((await shop.post('/links/bulk', { links: '\0' })).status).toBe(400);
  expect((await shop.post('/links/bulk', { links: [] })).status).toBe(400);
  expect((await shop.post('/links/bulk', ['\0'])).status).toBe(400);
  expect(await countOfLinks(api, shop)).toBe(0);
});

test('1,000 rows are made, 1,001 are 400', async ({ shop }) => {
  const rows = Array.from({ length: 1_000 }, (_, index) => row({ external_id: String(index) }));
  const { body } = await bulk(shop, rows);
  expect(body.results.filter((result) => result.status === 201)).toHaveLength(1_000);
  const refused = await shop.post('/links/bulk', { links: [...rows, row()] });
  expect([refused.status, refused.body.error.details?.[0]?.path]).toEqual([400, 'links']);
});

test('a body over the 1 MiB of other endpoints is read', async ({ shop }) => {
  const metadata = { text: 'x'.repeat(4_000) };
  const { body } = await bulk(
    shop,
    Array.from({ length: 300 }, () => row({ metadata })),
  );
  expect(body.results.every((result) => result.status === 201)).toBe(true);
});

test('the cap holds row by row', async ({ api }) => {
  const shop = await api.addWorkspace({ plan: 'free' });
  const { body } = await bulk(
    shop,
    Array.from({ length: 30 }, () => row()),
  );
  expect(body.results.map((result) => result.status)).toEqual([
    ...Array(25).fill(201),
    ...Array(5).fill(402),
  ]);
  expect(body.results[29]?.body.error.code).toBe('limit_reached');
});

test('two workspaces that want the same slugs in opposite order each get an outcome for every row', async ({
  api,
  shop,
}) => {
  const other = await api.addWorkspace();
  for (let round = 0; round < 6; round++) {
    const slugs = Array.from({ length: 150 }, (_, index) => `r${round}-${index}`);
    const links = slugs.map((slug) => row({ slug }));
    const both = row({ slug: `r${round}`, channel: undefined, channels: ['slack', 'x'] });
    const answers = await Promise.all([
      shop.post<Results>('/links/bulk', { links: [both, ...links] }),
      other.post<Results>('/links/bulk', { links: [...links.toReversed(), both] }),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual([200, 200]);
    const statuses = answers.flatMap((answer) => answer.body.results.map((result) => result.status));
    expect(statuses.filter((status) => status === 201)).toHaveLength(151);
    expect(statuses.filter((status) => status === 409)).toHaveLength(151);
  }
});

test('a replay makes nothing a second time', async ({ api, shop }) => {
  const rows = [row(), row({ channel: 'nope' })];
  const first = await bulk(shop, rows, 'bulk-key');
  const second = await bulk(shop, rows, 'bulk-key');
  expect(second.headers['idempotent-replayed']).toBe('true');
  expect(second.body).toEqual(first.body);
  expect(await countOfLinks(api, shop)).toBe(1);
});

test('links is required and a list', async ({ shop }) => {
  expect((await shop.post('/links/bulk', {})).status).toBe(400);
  expect((await shop.post('/links/bulk', { links: {} })).status).toBe(400);
  expect((await bulk(shop, [])).status).toBe(400);
});
