import { gunzipSync } from 'node:zlib';
import { expect, onTestFinished, test, vi } from 'vitest';
import { testApi } from '../../test/support/api.ts';
import { apiTest } from '../../test/support/fixtures.ts';

const PATHS = ['/api/v1/openapi.json', '/api/v1/console-openapi.json'];

apiTest.for(PATHS)('%s needs no key and is cached compressed', async (path, { api }) => {
  const plain = await api.app.inject(path);
  expect([plain.statusCode, plain.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
  expect(plain.json().openapi).toBe('3.1.0');
  const zipped = await api.app.inject({ url: path, headers: { 'accept-encoding': 'gzip' } });
  expect(zipped.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(zipped.rawPayload).toString()).toBe(plain.body);
  expect(zipped.rawPayload.length).toBeLessThan(plain.body.length / 4);
  const again = await api.app.inject({ url: path, headers: { 'if-none-match': String(plain.headers.etag) } });
  expect([again.statusCode, again.body]).toEqual([304, '']);
});

test('a document is generated once, not for each request', async () => {
  const own = await testApi();
  onTestFinished(own.close);
  const copies = vi.spyOn(globalThis, 'structuredClone'); // of each operation
  onTestFinished(() => copies.mockRestore());
  for (const path of PATHS) {
    copies.mockClear();
    await own.app.inject(path);
    expect([path, copies.mock.calls.length > 0]).toEqual([path, true]);
  }
  copies.mockClear();
  for (const path of [...PATHS, '/docs/json', '/docs/yaml', '/api/v1/openapi.json']) {
    expect([path, (await own.app.inject(path)).statusCode]).toEqual([path, 200]);
  }
  expect(copies).not.toHaveBeenCalled();
});

apiTest('responses other than JSON are in the document by their media type', async ({ api }) => {
  type Paths = Record<string, Record<string, { responses: Record<string, { content?: object }> }>>;
  const { paths } = (await api.app.inject('/api/v1/openapi.json')).json<{ paths: Paths }>();
  const shop = await api.addWorkspace();
  const asked = [
    { path: '/clicks/export', method: 'get', answer: await shop.get('/clicks/export?format=csv') },
    { path: '/payouts/export', method: 'get', answer: await shop.get('/payouts/export') },
    {
      path: '/bio-pages/preview',
      method: 'post',
      answer: await shop.post('/bio-pages/preview', { slug: 'a-page' }),
    },
  ];
  for (const { path, method, answer } of asked) {
    const described = paths[`/api/v1${path}`]?.[method]?.responses['200']?.content ?? {};
    const type = String(answer.headers['content-type']).split(';')[0];
    expect([path, answer.status, Object.keys(described)]).toEqual([
      path,
      200,
      expect.arrayContaining([type]),
    ]);
    expect([path, 'application/json' in described]).toEqual([path, false]);
  }
});

apiTest('the document is also at its former addresses', async ({ api }) => {
  const { body } = await api.app.inject('/api/v1/openapi.json');
  for (const path of ['/docs/json', '/docs/yaml']) expect((await api.app.inject(path)).body).toBe(body);
});
