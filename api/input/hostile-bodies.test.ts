import { request as httpRequest } from 'node:http';
import { expect } from 'vitest';
import type { TestApi, TestWorkspace } from '../../test/support/api.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';

/** `bench/hostile-bodies.ts` measures how long these bodies hold the event loop. */

let origin: string;

test.beforeAll(async ({ api }) => {
  origin = await api.app.listen({ port: 0, host: '127.0.0.1' });
});

const fields = (count: number) => Array.from({ length: count }, (_, n) => `"a${n}":1`).join(',');
const send = async (
  api: TestApi,
  shop: TestWorkspace,
  path: string,
  payload: string,
  key = shop.secretKey,
) => {
  const { statusCode, body } = await api.app.inject({
    method: 'POST',
    url: `/api/v1${path}`,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    payload,
  });
  return { status: statusCode, body: JSON.parse(body) };
};
const row = (more = '') => `{"destination_url":"https://shop.example","name":"N","channel":"reddit"${more}}`;

test('a body that a publishable key may send is at most 64 KiB, with a secret key too', async ({
  api,
  shop,
}) => {
  const large = `{"x":"${'y'.repeat(65_536)}"}`;
  const small = `{"x":"${'y'.repeat(65_000)}"}`;
  for (const path of ['/referrals/enroll', '/referrals/report-signup', '/referrals/payout-method']) {
    for (const key of [shop.publishableKey, shop.secretKey]) {
      expect([path, (await send(api, shop, path, large, key)).status]).toEqual([path, 413]);
      expect([path, (await send(api, shop, path, small, key)).status]).toEqual([path, 400]);
    }
  }
});

test('a body with more than 10,000 values is 413, however short', async ({ api, shop }) => {
  const { status, body } = await send(api, shop, '/folders', `{"name":"F",${fields(10_000)}}`);
  expect([status, body.error.code]).toEqual([413, 'payload_too_large']);
  expect((await send(api, shop, '/folders', `{"name":"F",${fields(4_000)}}`)).status).toBe(201);
  expect((await send(api, shop, '/folders', `{"name":"F","a":"${',:[]{'.repeat(10_000)}"}`)).status).toBe(
    201,
  );
});

test('what is beside the rows is at most 64 KiB', async ({ api, shop }) => {
  const long = `"a":"${'\\"'.repeat(40_000)}"`;
  for (const text of [`{"links":[],${long}}`, `{${long}}`]) {
    const { status, body } = await send(api, shop, '/links/bulk', text);
    expect([status, body.error.message]).toEqual([
      413,
      'the body must have at most 65536 bytes beside `links`',
    ]);
  }
  expect(
    (await send(api, shop, '/links/bulk', `{"links":[${row()}],"a":"${'\\"'.repeat(30_000)}"}`)).status,
  ).toBe(200);
});

test('a row that is too large, or has too many values, is refused alone', async ({ api, shop }) => {
  const rows = [row(), row(`,"a":"${'x'.repeat(65_536)}"`), row(`,"a":[${'1,'.repeat(10_000)}1]`), row()];
  const { status, body } = await send(api, shop, '/links/bulk', `{"links":[${rows.join(',')}]}`);
  expect(status).toBe(200);
  expect(body.results.map((result: { status: number }) => result.status)).toEqual([201, 400, 400, 201]);
});

test('rows are found in any valid JSON, and invalid JSON is refused', async ({ api, shop }) => {
  const outcomes = async (text: string) => {
    const { status, body } = await send(api, shop, '/links/bulk', text);
    return status === 200 ? body.results.map((result: { status: number }) => result.status) : status;
  };
  const tricky = row(String.raw`,"metadata":{"a":"]},{\"[\\","b":[[],{}]}`);
  expect(await outcomes(`{"links":[${row()}, \n ${tricky} ]}`)).toEqual([201, 201]);
  expect(await outcomes(`{"a":"links","b":{"links":[1]},"links":[ ${row()} ],"c":["links",[]]}`)).toEqual([
    201,
  ]);
  expect(await outcomes(`{"l\\u0069nks":[${row()}]}`)).toEqual([201]);
  for (const text of [
    `{"links":[${row()},]}`,
    '{"links":[,]}',
    `{"links":[${row()} ${row()}]}`,
    `{"links":[${row()}`,
    `{"links":[${row()}]`,
    '{"links":[{"a":1]}]}',
    '{"links":[],"links":[]}',
    `{"links":["${row()}]}`,
  ]) {
    expect([text, await outcomes(text)]).toEqual([text, 400]);
  }
});

test('a call makes at most 2,000 links', async ({ api, shop }) => {
  const all = JSON.stringify(['reddit', 'slack', 'x', 'youtube', 'tiktok']);
  const one = row().replace('"channel":"reddit"', `"channels":${all}`);
  const { body } = await send(api, shop, '/links/bulk', `{"links":[${Array(401).fill(one).join(',')}]}`);
  const statuses = body.results.map((result: { status: number }) => result.status);
  expect([statuses.slice(0, 400).every((status: number) => status === 201), statuses[400]]).toEqual([
    true,
    400,
  ]);
});

test('a workspace receives two big bodies at a time, and others are not held up', async ({ api, shop }) => {
  const other = await api.addWorkspace();
  const held = [slowBody(shop.secretKey), slowBody(shop.secretKey)];
  await Promise.all(held.map(({ taken }) => taken));
  const third = slowBody(shop.secretKey);
  const elsewhere = slowBody(other.secretKey);
  await elsewhere.taken;
  expect(await elsewhere.finish()).toBe(200);
  expect(third.isTaken()).toBe(false);
  expect((await shop.get('/me')).status).toBe(200);
  held[0]?.abort();
  await third.taken;
  expect(await Promise.all([third.finish(), held[1]?.finish()])).toEqual([200, 200]);
});

/** A request with a big body that lacks its last byte. The API accepts it once the server reads past its buffers. */
function slowBody(key: string) {
  const large = `{"a":"${'x'.repeat(60_000)}"}`;
  const text = Buffer.from(`{"links":[${Array(200).fill(large).join(',')}]}`);
  const taken = Promise.withResolvers<void>();
  let isTaken = false;
  const status = Promise.withResolvers<number | undefined>();
  status.promise.catch(() => undefined);
  const request = httpRequest(`${origin}/api/v1/links/bulk`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': text.length,
    },
  });
  request.on('response', (response) => {
    response.resume();
    status.resolve(response.statusCode);
  });
  request.on('error', status.reject);
  request.write(text.subarray(0, -1), () => {
    isTaken = true;
    taken.resolve();
  });
  return {
    taken: taken.promise,
    isTaken: () => isTaken,
    finish: () => {
      request.end(text.subarray(-1));
      return status.promise;
    },
    abort: () => request.destroy(),
  };
}
