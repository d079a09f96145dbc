import { expect } from 'vitest';
import { nearestName } from '../../core/text/near-names.ts';
import { createPartner } from '../../sql/workspaces/partners.ts';
import type { ErrorBody, TestWorkspace } from '../../test/support/api.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import { type ConsoleBrowser, signedInAs } from '../../test/support/members.ts';
import type { Document, Operation } from '../openapi/test-support.ts';

let member: ConsoleBrowser;
let partnerKey: string;
let operations: { method: 'GET' | 'POST'; path: string; operation: Operation }[];

test.beforeAll(async ({ api, shop }) => {
  member = await signedInAs(api, shop, 'owner');
  partnerKey = (await createPartner(api.stores.pool, 'Agency')).token;
  const documents = await Promise.all(
    ['/openapi.json', '/console-openapi.json'].map((path) => shop.get<Document>(path)),
  );
  operations = documents.flatMap(({ body }) =>
    Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase() as 'GET' | 'POST',
        path: path.replace('/api/v1', '').replace(/\{\w+\}/g, '01a0b6a5-7a5e-7000-8000-000000000001'),
        operation,
      })),
    ),
  );
});

/** Calls an operation with the key that it requires, and returns the field names in its error. */
async function refusal(shop: TestWorkspace, method: 'GET' | 'POST', path: string, { security }: Operation) {
  const [scheme] = security.flatMap(Object.keys);
  const key = scheme === 'partner' ? { key: partnerKey } : {};
  const { status, body } = await (scheme === 'session'
    ? member.call<ErrorBody>(method, path)
    : shop.call<ErrorBody>(method, path, key));
  return { status, detail: body.error?.details?.[0] };
}

test('every operation refuses a query parameter that it does not have', async ({ shop }) => {
  expect(operations.length).toBeGreaterThan(100);
  for (const { method, path, operation } of operations) {
    const answer = await refusal(shop, method, `${path}?nonsense=1`, operation);
    expect([method, path, answer]).toEqual([
      method,
      path,
      { status: 400, detail: { path: 'nonsense', message: 'is not a parameter of this endpoint' } },
    ]);
  }
});

test('a misspelled parameter is refused with the one that it resembles', async ({ shop }) => {
  let tried = 0;
  for (const { method, path, operation } of operations) {
    const names = (operation.parameters ?? []).filter((one) => one.in === 'query').map(({ name }) => name);
    for (const name of names) {
      const misspelled = name.slice(0, -1);
      if (names.includes(misspelled)) continue;
      const near = nearestName(misspelled, names);
      const { status, detail } = await refusal(shop, method, `${path}?${misspelled}=1`, operation);
      expect([path, status, detail?.path, detail?.hint]).toEqual([
        path,
        400,
        misspelled,
        `did you mean \`${near}\`?`,
      ]);
      tried += 1;
    }
  }
  expect(tried).toBeGreaterThan(100);
});

test('HEAD refuses it too, and the key is checked first', async ({ shop }) => {
  expect((await shop.call('HEAD', '/channels?nonsense=1')).status).toBe(400);
  expect((await shop.get('/channels?nonsense=1', { key: null })).status).toBe(401);
  expect((await shop.get('/channels?nonsense=1', { key: shop.publishableKey })).status).toBe(403);
});

test('names of the object prototype are unknown, and a long name is cut', async ({ shop }) => {
  expect((await shop.get('/channels?constructor=1')).status).toBe(400);
  const { status, body } = await shop.get(`/channels?${'n'.repeat(10_000)}=1`);
  expect([status, body.error.details?.[0]?.path]).toEqual([400, 'n'.repeat(100)]);
});

test('pages outside the API accept any parameter', async ({ api }) => {
  for (const path of ['/embed/referrals', '/embed.js', '/docs/json']) {
    const { statusCode } = await api.app.inject(`${path}?utm_source=mail`);
    expect([path, statusCode < 400]).toEqual([path, true]);
  }
});

test.for<[path: string, field: string, part: string]>([
  ['/clicks?country=DE&country=AT', 'country', 'is given twice; separate values by commas'],
  ['/links?days=3&days=4', 'days', 'is given twice; separate values by commas'],
  ['/clicks?since=2026-11-20T10:00:00+01:00', 'since', 'write %2B'],
  ['/channels?from=2026-11-20T10:00+0100', 'from', 'write %2B'],
])('%s is refused with what is meant', async ([path, field, part], { shop }) => {
  const { status, body } = await shop.get(path);
  const [detail] = body.error?.details ?? [];
  expect([status, detail?.path]).toEqual([400, field]);
  expect(`${detail?.message} ${detail?.hint}`).toContain(part);
  expect((await shop.get(path.replaceAll('+', '%2B').replace(/&\w+=\w+$/, ''))).status).toBe(200);
});

test.for<[path: string, meant: string | null]>([
  ['/api/v1/links', '/api/v1/links'],
  ['/api/v1/links/x/y/z', null],
])('a path that begins with the base twice says what is meant: %s', async ([path, meant], { shop }) => {
  const { status, body } = await shop.get(path);
  expect([status, body.error?.message]).toEqual([
    404,
    meant === null ? 'unknown path' : `unknown path; did you mean ${meant}?`,
  ]);
});
