import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect } from 'vitest';
import { uuidv7 } from '../../core/ids.ts';
import type { ErrorBody, TestWorkspace } from '../../test/support/api.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import { campaign } from '../../test/support/links.ts';

let origin: string;

test.beforeAll(async ({ api }) => {
  origin = await api.app.listen({ host: '127.0.0.1', port: 0 });
});

const json = { 'content-type': 'application/json' };
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const post = (shop: TestWorkspace, body: string | Buffer, headers: Record<string, string> = json) =>
  shop.call('POST', '/folders', { body, headers });

test('every error has the envelope, and its request_id is the x-request-id header', async ({ api, shop }) => {
  const answer = await shop.post('/folders', { name: 5 });
  expect(answer.body).toEqual({
    error: {
      code: 'bad_request',
      message: '`name` must be a string of 1 to 100 characters',
      request_id: answer.headers['x-request-id'],
      doc_url: `${api.deps.config.baseUrl}/docs/errors/bad_request`,
      details: [{ path: 'name', message: 'must be a string of 1 to 100 characters' }],
    },
  });
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
});

test("x-request-id comes with every response, and is never the client's", async ({ shop }) => {
  const answer = await shop.get('/me', { headers: { 'x-request-id': 'forged' } });
  expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
});

describe('bodies', () => {
  test.for<[what: string, body: string | Buffer]>([
    ['malformed JSON', '{"name":'],
    ['two documents', '{}{}'],
    ['no JSON at all', 'name=x'],
    ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['a NUL character', '{"name":"a\\u0000b"}'],
    ['a NUL character in a name of a field', '{"name":"a","x":{"a\\u0000":1}}'],
    ['half a surrogate pair', '{"name":"\\ud800"}'],
    ['a number beyond a double', '{"name":"a","x":1e999}'],
    ['an empty body', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['a text', '"x"'],
    ['200,000 lists in one another', '['.repeat(200_000) + ']'.repeat(200_000)],
    ['100,000 objects in one another', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ])('%s: 400', async ([_, body], { shop }) => {
    const answer = await post(shop, body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'bad_request']);
  });

  test('a body of another type is 415, a missing type too', async ({ shop }) => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
      const answer = await post(shop, '{"name":"a"}', { 'content-type': type });
      expect([answer.status, answer.body.error.code]).toEqual([415, 'unsupported_media_type']);
    }
    expect((await post(shop, '{"name":"a"}', {})).status).toBe(415);
  });

  test('a compressed body is 415 and says so', async ({ shop }) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const answer = await post(shop, gzipSync('{"name":"a"}'), headers);
    expect([answer.status, answer.body.error.code]).toEqual([415, 'unsupported_media_type']);
    expect(answer.body.error.message).toContain('content-encoding');
    expect((await post(shop, '{"name":"a"}', { ...headers, 'content-encoding': 'identity' })).status).toBe(
      201,
    );
  });

  test('a route without a body ignores a body and its content type', async ({ shop }) => {
    const unknown = uuidv7();
    for (const [method, path] of [
      ['POST', '/credits/5/mark-delivered'],
      ['POST', `/webhooks/${unknown}/test`],
      ['DELETE', `/links/${unknown}`],
    ] as const) {
      for (const payload of ['', 'x=1']) {
        const answer = await shop.call(method, path, { body: payload, headers: FORM });
        expect([path, payload, answer.status]).toEqual([path, payload, 404]);
      }
    }
  });

  test('a charset and other capitals in the content type are accepted', async ({ shop }) => {
    expect(
      (await post(shop, '{"name":"a"}', { 'content-type': 'Application/JSON; charset=UTF-8' })).status,
    ).toBe(201);
  });

  test('over 1 MiB is 413', async ({ shop }) => {
    const answer = await post(shop, JSON.stringify({ name: 'a', x: 'y'.repeat(1_048_576) }));
    expect([answer.status, answer.body.error.code]).toEqual([413, 'payload_too_large']);
  });

  test('__proto__ and constructor are unknown fields like any other', async ({ shop }) => {
    const answer = await post(
      shop,
      '{"name":"a","__proto__":{"admin":true},"constructor":{"prototype":{"x":1}}}',
    );
    expect(answer.status).toBe(201);
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
  });

  test('NUL in metadata, deep metadata and huge integers are a 400, not a 500', async ({ shop }) => {
    const create = (metadata: string) =>
      shop.call('POST', '/links', {
        body: `{"destination_url":"https://shop.example","name":"N","smart":true,"metadata":${metadata}}`,
        headers: json,
      });
    expect((await create('{"a":"\\u0000"}')).status).toBe(400);
    expect((await create(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`)).status).toBe(400);
    expect((await create(`${'{"a":'.repeat(50)}1${'}'.repeat(50)}`)).status).toBe(201);
    expect((await create(`{"a":1e308,"b":${'9'.repeat(300)}}`)).status).toBe(201);
  });
});

describe('paths and queries', () => {
  test('an unknown path is 404, with or without a key', async ({ api, shop }) => {
    for (const path of ['/nothing', '/', '/links/a/b', '/me/', '/Me', '/partner']) {
      const answer = await shop.get(path, { key: null });
      expect([path, answer.status, answer.body.error.code]).toEqual([path, 404, 'not_found']);
    }
    const response = await api.app.inject('/nowhere');
    expect([response.statusCode, response.json<ErrorBody>().error.code]).toEqual([404, 'not_found']);
  });

  test.for([
    '/api/v1/api/v1/links',
    '/api/v1/api/v1/api/v1/links',
    '/links',
    '/v1/links',
    '/v2/links',
    '/api/links',
    '/api/v2/links',
    '/api/v1/v1/links',
    '/v1/api/v1/links',
    '/API/V1/links',
    '//api/v1//links',
    '/v1/links/?limit=1',
  ])('%s is 404, and names the path that is meant', async (path, { api }) => {
    const response = await api.app.inject(path);
    expect([response.statusCode, response.json<ErrorBody>().error.message]).toEqual([
      404,
      'unknown path; did you mean /api/v1/links?',
    ]);
  });

  test('a wrong method is 405 with Allow, whatever the body', async ({ shop }) => {
    const answer = await shop.call('PUT', '/links', { body: 'x', headers: { 'content-type': 'text/css' } });
    expect([answer.status, answer.body.error.code]).toEqual([405, 'method_not_allowed']);
    expect(answer.headers.allow).toBe('GET, HEAD, POST');
    expect((await shop.post('/links/abc', {})).headers.allow).toBe('DELETE, GET, HEAD, PATCH');
    expect((await shop.delete('/me')).headers.allow).toBe('GET, HEAD');
  });

  test.for([
    ['GET', '/links/bulk', 'DELETE, PATCH, POST'],
    ['PUT', '/links/bulk', 'DELETE, PATCH, POST'],
    ['HEAD', '/links/bulk', 'DELETE, PATCH, POST'],
    ['GET', '/links/import', 'POST'],
    ['PATCH', '/links/tags', 'GET, HEAD'],
    ['DELETE', '/links/search', 'GET, HEAD'],
    ['PATCH', '/members/invites', 'POST'],
    ['DELETE', '/members/invites', 'POST'],
    ['DELETE', '/passkeys/options', 'POST'],
  ] as const)('%s %s is 405, though an id could stand there', async ([method, path, allow], { shop }) => {
    const answer = await shop.call(method, path, { key: null });
    expect([answer.status, answer.headers.allow]).toEqual([405, allow]);
  });

  test('a bio page may be called as a path is: its slug may stand there', async ({ shop }) => {
    expect((await shop.post('/bio-pages', { slug: 'preview' })).status).toBe(201);
    expect((await shop.patch('/bio-pages/preview', { title: 'Mine' })).status).toBe(200);
    expect((await shop.get('/bio-pages/availability')).status).toBe(400);
  });

  test('a path with broken escapes, NUL or 10,000 characters is 400 or 404', async ({ shop }) => {
    expect((await shop.get('/links/%zz')).status).toBe(400);
    expect((await shop.get('/links/%00')).status).toBe(400);
    expect((await shop.get('/links/%ff')).status).toBe(400);
    expect((await shop.get(`/links/${'a'.repeat(10_000)}`)).status).toBe(400);
  });

  test('a query with NUL or broken escapes is 400, never 500', async ({ shop }) => {
    for (const query of ['slug=%00', 'external_id=%00', 'slug=%ed%a0%80', 'external_id=%ff', 'cursor=%']) {
      const answer = await shop.get(`/links?view=records&${query}`);
      expect([query, [200, 400].includes(answer.status)]).toEqual([query, true]);
    }
  });

  test.for([
    ['GET', '/channels?to=', 'to'],
    ['GET', '/clicks?before=', 'before'],
    ['GET', '/clicks?since=', 'since'],
    ['GET', '/links?view=records&cursor=', 'cursor'],
    ['GET', '/ledger?to=', 'to'],
    ['POST', '/links', 'expires_at'],
    ['POST', '/referrals/report-purchase', 'purchased_at'],
  ] as const)(
    '%s %s with an instant beyond the years of four digits is 400',
    async ([method, path, field], { shop }) => {
      for (const instant of ['9999-12-31T23:59:59-23:59', '0000-01-01T00:00:00+23:59']) {
        const link = campaign({ expires_at: instant });
        const purchase = { external_user_id: 'n', order_id: 'o', amount: 1, purchased_at: instant };
        const body = path === '/links' ? link : purchase;
        const answer =
          method === 'GET'
            ? await shop.get(`${path}${encodeURIComponent(instant)}`)
            : await shop.post(path, body);
        expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, field]);
      }
    },
  );

  test('HEAD responds like GET without a body', async ({ shop }) => {
    const answer = await shop.call('HEAD', '/me');
    expect([answer.status, answer.text]).toEqual([200, '']);
  });

  test('HEAD changes nothing: where GET would, it is 405', async ({ api, shop }) => {
    const program = { name: 'Friends', code: 'friends', destination_url: 'https://shop.example/' };
    expect((await shop.post('/programs', program)).status).toBe(201);
    for (const [path, table] of [
      ['/payouts/export', 'payout_exports'],
      ['/referrals/stats?external_user_id=ann&email=ann@mail.example', 'enrollments'],
    ] as const) {
      const rows = async () => {
        const { rows } = await api.stores.pool.query(`SELECT FROM ${table} WHERE workspace_id = $1`, [
          shop.workspace.id,
        ]);
        return rows.length;
      };
      const answer = await shop.call('HEAD', path);
      expect([path, answer.status, answer.headers.allow]).toEqual([path, 405, 'GET']);
      expect([path, await rows()]).toEqual([path, 0]);
      expect((await shop.get(path)).status).toBe(200);
      expect([path, await rows()]).toEqual([path, 1]);
    }
  });
});

describe('CORS', () => {
  test('a preflight needs no key and allows the four headers from any origin', async ({ shop }) => {
    const answer = await shop.call('OPTIONS', '/links', {
      key: null,
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,idempotency-key',
      },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(answer.headers['access-control-allow-headers']).toBe(
      'Authorization, Content-Type, Idempotency-Key, Embed-Ancestors',
    );
    expect(answer.headers['access-control-allow-methods']).toBe('GET, HEAD, POST, PATCH, DELETE');
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  });

  test.for<[status: string, path: string, key?: string | null]>([
    ['200', '/me', undefined],
    ['401', '/me', null],
    ['404', '/nowhere', undefined],
    ['400', '/links/abc', undefined],
  ])('a %s can be read by a browser', async ([status, path, key], { shop }) => {
    const answer = await shop.get(path, {
      ...(key === null && { key }),
      headers: { origin: 'https://a.example' },
    });
    expect(String(answer.status)).toBe(status);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(answer.headers['access-control-expose-headers']).toBe(
      'x-request-id, Idempotent-Replayed, Retry-After, x-ignored-fields',
    );
  });
});

describe('over a socket', () => {
  const authorization = (shop: TestWorkspace) => ({ authorization: `Bearer ${shop.secretKey}` });

  test('a URL with 500 ids is accepted', async ({ shop }) => {
    const ids = Array.from({ length: 500 }, () => crypto.randomUUID()).join(',');
    const response = await fetch(`${origin}/api/v1/links?view=records&ids=${ids}`, {
      headers: authorization(shop),
    });
    expect(response.status).toBe(200);
  });

  test('headers over 64 KiB are 400 with the envelope', async ({ shop }) => {
    const response = await fetch(`${origin}/api/v1/me`, {
      headers: { ...authorization(shop), x: 'y'.repeat(70_000) },
    });
    expect(response.status).toBe(400);
    const body = (await response.json()) as ErrorBody;
    expect(body.error.code).toBe('bad_request');
    expect(response.headers.get('x-request-id')).toBe(body.error.request_id);
  });

  test('malformed HTTP is a 400 and the connection ends', async () => {
    const text = await exchange('nonsense\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1.1 400 /);
    expect(text).toContain('"code":"bad_request"');
  });

  test('HTTP/1.1 without a Host header, or with two, is a 400 in the envelope; HTTP/1.0 needs none', async () => {
    for (const hosts of ['', 'Host: a\r\nHost: a\r\n']) {
      const text = await exchange(`GET /api/v1/openapi.json HTTP/1.1\r\n${hosts}connection: close\r\n\r\n`);
      expect(text).toMatch(/^HTTP\/1.1 400 /);
      const id = /x-request-id: (\S+)/.exec(text)?.[1] ?? 'none';
      expect(text).toContain(
        `"code":"bad_request","message":"the request must have one valid Host header","request_id":"${id}"`,
      );
    }
    expect(await exchange('GET /api/v1/openapi.json HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200 /);
  });

  test('an unknown expectation is ignored', async ({ shop }) => {
    const text = await exchange(
      `GET /api/v1/me HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${shop.secretKey}\r\n` +
        'expect: a-miracle\r\nconnection: close\r\n\r\n',
    );
    expect(text).toMatch(/^HTTP\/1.1 200 /);
    expect(text).toContain('x-request-id: ');
  });

  test('a body over the limit is refused before it is read completely', async ({ shop }) => {
    const text = await exchange(
      `POST /api/v1/folders HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${shop.secretKey}\r\n` +
        'content-type: application/json\r\ncontent-length: 99999999\r\nconnection: close\r\n\r\n{',
    );
    expect(text).toMatch(/^HTTP\/1.1 413 /);
  });

  test('a client that disconnects half-way does not affect the API', async ({ shop }) => {
    const { port } = new URL(origin);
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(
      `POST /api/v1/folders HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${shop.secretKey}\r\n` +
        'content-type: application/json\r\ncontent-length: 50\r\n\r\n{"na',
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.destroy();
    expect((await fetch(`${origin}/api/v1/me`, { headers: authorization(shop) })).status).toBe(200);
  });

  function exchange(request: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(origin).port), '127.0.0.1');
      let text = '';
      socket.setEncoding('utf8');
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('close', () => resolve(text));
      socket.on('error', reject);
      socket.write(request);
    });
  }
});

test('the root of the host leads to the console', async ({ api }) => {
  const { statusCode, headers } = await api.app.inject('/');
  expect([statusCode, headers.location]).toEqual([302, `${api.deps.config.appUrl}/console`]);
});
