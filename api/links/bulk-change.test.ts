import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { TestWorkspace } from '../../test/support/api.ts';
import { apiTest } from '../../test/support/fixtures.ts';
import { campaign, createLink } from '../../test/support/links.ts';
import type { LinkRecord } from './schemas.ts';

type Row = { index: number; status: number; body: LinkRecord & { error?: { code: string } } };
type Results = { results: Row[]; error?: { message: string; details: { path: string }[] } };

const GERMAN = [{ type: 'language', operator: 'is', values: ['DE'] }];

const made = async (shop: TestWorkspace, more: object = {}) =>
  (await createLink(shop, campaign(more))).first.id;
const bulk = (shop: TestWorkspace, method: 'PATCH' | 'DELETE', body: object) =>
  shop.call<Results>(method, '/links/bulk', { body });
const outcomes = ({ body }: { body: Results }) =>
  body.results.map(({ index, status, body: { error } }) => [index, status, error?.code]);

apiTest(
  'one change is made to each link, and a refused link does not affect the others',
  async ({ shop }) => {
    const [first, second] = [await made(shop), await made(shop)];
    const changed = await bulk(shop, 'PATCH', {
      ids: [first, randomUUID(), second],
      set: { archived: true, redirect_status: 307 },
    });
    expect(changed.status).toBe(200);
    expect(outcomes(changed)).toEqual([
      [0, 200, undefined],
      [1, 404, 'not_found'],
      [2, 200, undefined],
    ]);
    for (const [id, row] of [
      [first, changed.body.results[0]],
      [second, changed.body.results[2]],
    ] as const) {
      const { body } = await shop.get<LinkRecord>(`/links/${id}`);
      expect(body).toMatchObject({ id, archived: true, redirect_status: 307 });
      expect(row?.body).toEqual(body);
    }
  },
);

apiTest('what only one link can have goes to the first', async ({ shop }) => {
  const ids = [await made(shop), await made(shop)];
  expect(outcomes(await bulk(shop, 'PATCH', { ids, set: { external_id: 'mine' } }))).toEqual([
    [0, 200, undefined],
    [1, 409, 'conflict'],
  ]);
});

apiTest('each link is deleted, and one that is gone is its own 404', async ({ shop }) => {
  const ids = [await made(shop), await made(shop)];
  const twice = [...ids, ids[0]];
  expect(outcomes(await bulk(shop, 'DELETE', { ids: twice }))).toEqual([
    [0, 200, undefined],
    [1, 200, undefined],
    [2, 404, 'not_found'],
  ]);
  for (const id of ids) expect((await shop.get(`/links/${id}`)).status).toBe(404);
});

apiTest.for([
  [{ ids: [], set: {} }, 'ids'],
  [{ ids: Array.from({ length: 501 }, () => randomUUID()), set: {} }, 'ids'],
  [{ ids: ['x'], set: {} }, 'ids.0'],
  [{ ids: [randomUUID()] }, 'set'],
  [{ ids: [randomUUID()], set: { max_clicks: 0 } }, 'set.max_clicks'],
  [
    { ids: [randomUUID()], set: { rules: [{ conditions: [], destination_url: 'x' }] } },
    'set.rules.0.conditions',
  ],
  [{ ids: [randomUUID()], set: { destination_url: 'ftp://x' } }, 'set.destination_url'],
  [{ ids: [randomUUID()], set: { slug: 'api' } }, 'set.slug'],
  [
    { ids: [randomUUID()], set: { rules: [{ conditions: GERMAN, destination_url: 'ftp://x' }] } },
    'set.rules.0.destination_url',
  ],
  [{ ids: [randomUUID()], set: { targeting: { ios: 'data:x' } } }, 'set.targeting.ios'],
] as const)('a bulk change of %# is refused as a whole, at its field', async ([body, path], { shop }) => {
  const { status, body: answer } = await bulk(shop, 'PATCH', body);
  expect([status, answer.error?.details[0]?.path]).toEqual([400, path]);
  expect(answer.error?.message).toContain(`\`${path}\``);
});

apiTest.for([
  [{}, 'ids'],
  [{ ids: [] }, 'ids'],
  [{ ids: Array.from({ length: 501 }, () => randomUUID()) }, 'ids'],
  [{ ids: ['x'] }, 'ids.0'],
] as const)('a bulk delete of %# is refused as a whole, at its field', async ([body, path], { shop }) => {
  const { status, body: answer } = await bulk(shop, 'DELETE', body);
  expect([status, answer.error?.details[0]?.path]).toEqual([400, path]);
});

apiTest('500 links are changed, and deleted, in one call', async ({ shop }) => {
  const ids = [await made(shop), ...Array.from({ length: 499 }, () => randomUUID())];
  for (const method of ['PATCH', 'DELETE'] as const) {
    const { status, body } = await bulk(shop, method, { ids, ...(method === 'PATCH' && { set: {} }) });
    expect([status, body.results.length, body.results[0]?.status, body.results[499]?.status]).toEqual([
      200, 500, 200, 404,
    ]);
  }
});
