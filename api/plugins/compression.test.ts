import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';

let api: TestApi;
let shop: TestWorkspace;

beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace();
  for (let n = 0; n < 30; n++)
    await shop.post('/folders', { name: `A folder with a name that is long, ${n}` });
});
afterAll(() => api.close());

const ask = (path: string, encodings: string) =>
  api.app.inject({
    url: `/api/v1${path}`,
    headers: { authorization: `Bearer ${shop.secretKey}`, 'accept-encoding': encodings },
  });

test('a large response is compressed with gzip, with the same content', async () => {
  const plain = await ask('/folders', 'identity');
  const compressed = await ask('/folders', 'gzip, deflate, br');
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(compressed.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(compressed.rawPayload).toString()).toBe(plain.body);
  expect(compressed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2);
  expect(compressed.headers['content-length']).toBe(String(compressed.rawPayload.length));
  for (const { headers } of [plain, compressed]) expect(headers.vary).toContain('Accept-Encoding');
});

test.each(['br', 'gzip;q=0, br', ''])(
  'a client that accepts "%s" gets it uncompressed',
  async (encodings) => {
    const { headers, body } = await ask('/folders', encodings);
    expect(headers['content-encoding']).toBeUndefined();
    expect(JSON.parse(body)).toHaveProperty('folders');
  },
);

test('a short response is not compressed', async () => {
  const { headers } = await ask('/folders?limit=1', 'gzip');
  expect(headers['content-encoding']).toBeUndefined();
});
