import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import type { TestApi, TestWorkspace } from '../../test/support/api.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';

test.beforeAll(async ({ shop }) => {
  for (let n = 0; n < 30; n++)
    await shop.post('/folders', { name: `A folder with a name that is long, ${n}` });
});

const ask = (api: TestApi, shop: TestWorkspace, path: string, encodings: string) =>
  api.app.inject({
    url: `/api/v1${path}`,
    headers: { authorization: `Bearer ${shop.secretKey}`, 'accept-encoding': encodings },
  });

test('a large response is compressed with gzip, with the same content', async ({ api, shop }) => {
  const plain = await ask(api, shop, '/folders', 'identity');
  const compressed = await ask(api, shop, '/folders', 'gzip, deflate, br');
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(compressed.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(compressed.rawPayload).toString()).toBe(plain.body);
  expect(compressed.rawPayload.length).toBeLessThan(plain.rawPayload.length / 2);
  expect(compressed.headers['content-length']).toBe(String(compressed.rawPayload.length));
  for (const { headers } of [plain, compressed]) expect(headers.vary).toContain('Accept-Encoding');
});

test.for(['br', 'gzip;q=0, br', ''])(
  'a client that accepts "%s" gets it uncompressed',
  async (encodings, { api, shop }) => {
    const { headers, body } = await ask(api, shop, '/folders', encodings);
    expect(headers['content-encoding']).toBeUndefined();
    expect(JSON.parse(body)).toHaveProperty('folders');
  },
);

test('a short response is not compressed', async ({ api, shop }) => {
  const { headers } = await ask(api, shop, '/folders?limit=1', 'gzip');
  expect(headers['content-encoding']).toBeUndefined();
});
