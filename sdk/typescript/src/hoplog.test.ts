import { expect, test } from 'vitest';
import { HoplogError } from './errors.ts';
import { Hoplog } from './hoplog.ts';
import { cut, cutInBody, failure, json, type Reply, scripted } from './test-support.ts';

const OK = json(200, { id: 'x' });
const LINK = { destination_url: 'https://shop.example/', name: 'N', channel: 'website' } as const;
const failed = async (call: Promise<unknown>): Promise<HoplogError> => {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof HoplogError)) throw new Error(`not a HoplogError: ${String(error)}`);
  return error;
};

test('a call has its path, query, body, and key', async () => {
  const { hoplog, got } = await scripted([OK]);
  await hoplog.links.update('a/b', { name: 'M' });
  await hoplog.webhooks.getDelivery('h', 'd');
  await hoplog.clicks
    .list({ link_ids: ['a', 'b'], city: ['Washington, D.C.', 'Paris'], bots: 'include' })
    .page();
  await hoplog.links.list().page();
  await hoplog.clicks.import('{"ts":1}\n', { from: 'csv' });
  expect(got.map(({ method, url }) => [method, decodeURIComponent(url.replaceAll('+', ' '))])).toEqual([
    ['PATCH', '/api/v1/links/a/b'],
    ['GET', '/api/v1/webhooks/h/deliveries/d'],
    ['GET', '/api/v1/clicks?link_ids=a,b&city=Washington\\, D.C.,Paris&bots=include'],
    ['GET', '/api/v1/links?view=records'],
    ['POST', '/api/v1/clicks/import?from=csv'],
  ]);
  expect(got[0]?.url).toBe('/api/v1/links/a%2Fb');
  expect([got[0]?.body, got[0]?.headers['content-type']]).toEqual(['{"name":"M"}', 'application/json']);
  expect(got[4]?.headers['content-type']).toBe('application/x-ndjson');
  expect(got.every(({ headers }) => headers.authorization === 'Bearer lk_live_x')).toBe(true);
});

test('an empty id is refused before it becomes another path', async () => {
  const { hoplog, got } = await scripted([OK]);
  await expect(hoplog.links.delete('')).rejects.toThrow('`id` must be a text that is not empty');
  expect(got).toEqual([]);
});

test('a client needs a key and an address, with or without /api/v1', async () => {
  expect(() => new Hoplog({ key: '', baseUrl: 'http://127.0.0.1' })).toThrow('`key` is required');
  expect(() => new Hoplog({ key: 'lk_live_x', baseUrl: '' })).toThrow('`baseUrl` is required');
  const { url, got } = await scripted([OK]);
  for (const baseUrl of [url, `${url}/`, `${url}/api/v1`, `${url}/api/v1/`]) {
    await new Hoplog({ key: 'lk_live_x', baseUrl }).me.get();
  }
  expect(new Set(got.map((one) => one.url))).toEqual(new Set(['/api/v1/me']));
});

test('an error has all that the API says', async () => {
  const details = [{ path: 'slug', message: 'is taken' }];
  const body = {
    error: { code: 'conflict', message: 'taken', details, request_id: 'r-2', doc_url: 'http://d' },
  };
  const { hoplog } = await scripted([json(409, body)]);
  const error = await failed(hoplog.links.create(LINK));
  expect({ ...error, message: error.message }).toMatchObject({
    name: 'HoplogError',
    status: 409,
    code: 'conflict',
    message: 'taken',
    details,
    requestId: 'r-2',
    retryAfter: null,
    docUrl: 'http://d',
  });
});

test('what is not a response of the API is an error that shows it', async () => {
  const html: Reply = (response) =>
    response
      .writeHead(404, { 'content-type': 'text/html' })
      .end('<html>\n<style>h1 { color: red }</style>\n<h1>404\nNot Found</h1><hr>nginx\n</html>\n');
  const { hoplog } = await scripted([html, (response) => response.writeHead(200).end('<h1>hotel</h1>')]);
  for (const [status, shown] of [
    [404, ': 404 Not Found nginx'],
    [200, ': hotel'],
  ] as const) {
    const error = await failed(hoplog.me.get());
    expect([error.status, error.code]).toEqual([status, 'unexpected_response']);
    expect(error.message).toBe(`HTTP ${status} is not a response of Hoplog${shown}`);
  }
});

test('a redirect is not followed: it would make a GET of a create', async () => {
  const moved: Reply = (response) => response.writeHead(301, { location: '/api/v1/folders' }).end();
  const { hoplog, got } = await scripted([moved, OK], { retries: 0 });
  const error = await failed(hoplog.folders.create({ name: 'F' }));
  expect([error.status, error.code, got.length]).toEqual([301, 'unexpected_response', 1]);
});

test('an error without a response says why there is none', async () => {
  const hoplog = new Hoplog({ key: 'k', baseUrl: 'http://127.0.0.1:1', retries: 0 });
  const error = await failed(hoplog.me.get());
  expect([error.status, error.code]).toEqual([0, 'network']);
  expect(error.message).toMatch(/127\.0\.0\.1:1\/api\/v1\/me.*(refused|bad port)/i);
});

test.each([
  ['no response', cut],
  ['a response that breaks off', cutInBody],
  ['429', failure(429, 'too_many_requests', { 'retry-after': '0' })],
  ['503', failure(503, 'unavailable', { 'retry-after': '0' })],
  ['502 of a proxy', ((response) => response.writeHead(502).end('bad gateway')) as Reply],
  ['a create that still runs', failure(409, 'idempotency_in_progress')],
])('a create is repeated with one Idempotency-Key after %s', async (_, reply) => {
  const { hoplog, got } = await scripted([reply, OK]);
  expect(await hoplog.links.create(LINK)).toEqual({ id: 'x' });
  const keys = got.map(({ headers }) => headers['idempotency-key']);
  expect(keys).toHaveLength(2);
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
  await hoplog.links.create(LINK);
  expect(got[2]?.headers['idempotency-key']).not.toBe(keys[0]);
  await hoplog.links.create(LINK, { idempotencyKey: 'mine' });
  expect(got[3]?.headers['idempotency-key']).toBe('mine');
});

test('a call that may have had its effect, and has no key, is not repeated without a response', async () => {
  for (const reply of [cut, failure(503, 'unavailable')]) {
    const { hoplog, got } = await scripted([reply, OK]);
    expect((await failed(hoplog.signups.approve('s'))).status).toBe(reply === cut ? 0 : 503);
    expect(got).toHaveLength(1);
    expect(got[0]?.headers['idempotency-key']).toBeUndefined();
  }
  const { hoplog, got } = await scripted([failure(429, 'too_many_requests', { 'retry-after': '0' }), OK]);
  await hoplog.signups.approve('s');
  expect(got).toHaveLength(2);
});

test.each([[400], [401], [402], [403], [404], [500]])('%i is not repeated', async (status) => {
  const { hoplog, got } = await scripted([failure(status, 'code')]);
  expect((await failed(hoplog.me.get())).status).toBe(status);
  expect(got).toHaveLength(1);
});

test('retries end, and wait at least as long as Retry-After says, unless it is long', async () => {
  const { hoplog, got } = await scripted([failure(503, 'unavailable', { 'retry-after': '1' })], {
    retries: 1,
  });
  const began = performance.now();
  const error = await failed(hoplog.me.get());
  expect([error.status, error.retryAfter, got.length]).toEqual([503, 1, 2]);
  expect(performance.now() - began).toBeGreaterThan(1_000);
  const long = await scripted([failure(429, 'too_many_requests', { 'retry-after': '3600' })]);
  expect((await failed(long.hoplog.me.get())).retryAfter).toBe(3_600);
  expect(long.got).toHaveLength(1);
});

test('an attempt that takes too long is repeated, and is then a timeout', async () => {
  const { hoplog, got } = await scripted([() => undefined], { timeoutMs: 50, retries: 1 });
  const error = await failed(hoplog.me.get());
  expect([error.status, error.code, got.length]).toEqual([0, 'timeout', 2]);
});

test('a signal cancels a call, also while it waits', async () => {
  const { hoplog, got } = await scripted([failure(503, 'unavailable', { 'retry-after': '30' })]);
  const stop = new AbortController();
  const call = hoplog.me.get({ signal: stop.signal });
  await expect.poll(() => got.length).toBe(1);
  stop.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
});

test('a list reads all pages, or one', async () => {
  const pages = [
    json(200, { folders: [{ id: 1 }, { id: 2 }], next_cursor: 'c-1' }),
    json(200, { folders: [{ id: 3 }], next_cursor: null }),
  ];
  const { hoplog, got } = await scripted([...pages, ...pages]);
  const ids = [];
  for await (const { id } of hoplog.folders.list({ limit: 2 })) ids.push(id);
  expect(ids).toEqual([1, 2, 3]);
  expect((await hoplog.folders.list().page()).next_cursor).toBe('c-1');
  expect(got.map(({ url }) => url)).toEqual([
    '/api/v1/folders?limit=2',
    '/api/v1/folders?limit=2&cursor=c-1',
    '/api/v1/folders',
  ]);
});

test('clicks are paged by `before`, and oldest first by `since_after`', async () => {
  const page = { clicks: [{ id: 'a' }], next_cursor: 'c', watermark: 'w' };
  const replies = [json(200, page), json(200, { ...page, next_cursor: null })];
  const { hoplog, got } = await scripted([...replies, ...replies]);
  for await (const _ of hoplog.clicks.list());
  for await (const _ of hoplog.clicks.list({ order: 'asc', since: 's' }));
  expect(got.map(({ url }) => url.replace('/api/v1/clicks', ''))).toEqual([
    '',
    '?before=c',
    '?order=asc&since=s',
    '?order=asc&since=s&since_after=c',
  ]);
});
