import { afterAll, beforeAll, expect, test } from 'vitest';
import { readConfig } from '../../core/settings/config.ts';
import { startTestIngest, type TestIngest } from '../../test/support/ingest.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';

let stores: TestStores;
let plain: TestIngest;
let led: TestIngest;

beforeAll(async () => {
  stores = await testStores();
  plain = await startTestIngest({ ...stores, env: { BASE_URL: 'https://app.example' } });
  led = await startTestIngest({
    ...stores,
    env: { ROOT_URL: 'https://shop.example/home', NOT_FOUND_URL: 'https://shop.example/gone' },
  });
});
afterAll(async () => {
  for (const ingest of [plain, led]) {
    await ingest?.close();
    await ingest?.remove();
  }
  await stores?.close();
});

const visit = (ingest: TestIngest, path: string, init: RequestInit = {}) =>
  fetch(`${ingest.url}${path}`, { redirect: 'manual', ...init });

test('the root is a page that says what the host is, and is not indexed', async () => {
  for (const method of ['GET', 'HEAD']) {
    const response = await visit(plain, '/', { method });
    expect([response.status, response.headers.get('x-robots-tag')]).toEqual([200, 'noindex']);
    if (method === 'GET') expect(await response.text()).toContain('<h1>Short links</h1>');
  }
  expect((await visit(plain, '/?utm_source=mail')).status).toBe(200);
  expect((await visit(plain, '/nothing')).status).toBe(404);
});

test('a call of the API learns where the API is', async () => {
  for (const [method, path] of [
    ['GET', '/api/v1/links'],
    ['POST', '/api/v1/links'],
    ['PATCH', '/api/v1/links/1'],
    ['DELETE', '/api/v1/links/1'],
    ['GET', '/api'],
  ] as const) {
    const response = await visit(plain, path, { method, ...(method === 'POST' && { body: '{}' }) });
    const body = (await response.json()) as { error: Record<string, string> };
    expect([method, path, response.status, body.error]).toEqual([
      method,
      path,
      404,
      {
        code: 'not_found',
        message: 'this host redirects short links; the API is at https://app.example/api/v1',
        request_id: response.headers.get('x-request-id'),
        doc_url: 'https://app.example/docs/errors/not_found',
      },
    ]);
  }
});

test('ROOT_URL and NOT_FOUND_URL lead visitors elsewhere', async () => {
  const to = async (path: string) => {
    const response = await visit(led, path);
    return [response.status, response.headers.get('location')];
  };
  expect(await to('/')).toEqual([302, 'https://shop.example/home']);
  expect(await to('/nothing')).toEqual([302, 'https://shop.example/gone']);
  expect((await visit(led, '/api/v1/me')).status).toBe(404);
});

test.each([
  ['ROOT_URL', 'shop.example', /URL/],
  ['NOT_FOUND_URL', 'ftp://shop.example/', /must start with http/],
  ['ROOT_URL', 'https://go.example/home', /must not lead back to SHORT_URL/],
])('%s can not be %s', (name, value, reason) => {
  expect(() => readConfig({ SHORT_URL: 'https://go.example', [name]: value })).toThrow(reason);
});
