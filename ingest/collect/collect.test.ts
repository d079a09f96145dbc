import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bytesToUuid } from '../../core/ids.ts';
import { stepsDone } from '../../sql/console/first-steps.ts';
import { createPixelTest, pixelTest } from '../../sql/pixel/pixel-tests.ts';
import { reportProblems } from '../../sql/pixel/report-problems.ts';
import { createKey, listedKey, recordKeyUse, revokeKey } from '../../sql/workspaces/keys.ts';
import { updateWorkspace } from '../../sql/workspaces/workspaces.ts';
import { makeWorkspace, startTestIngest, TEST_PIXEL, type TestIngest } from '../../test/support/ingest.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';

const API = 'http://api.test';
let stores: TestStores;
let ingest: TestIngest;
let workspace: Awaited<ReturnType<typeof makeWorkspace>>;

beforeAll(async () => {
  stores = await testStores();
  workspace = await makeWorkspace(stores.pool);
  ingest = await startTestIngest({ ...stores, env: { BASE_URL: API } });
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
  await stores?.close();
});

const VISITOR = '3ad086d0-f585-8424-a005-8e248d6c10a2';

async function collect(body: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(`${ingest.url}/collect`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
  });
  return {
    status: answer.status,
    headers: answer.headers,
    body: (await answer.json()) as {
      ok?: boolean;
      error?: { code: string; request_id: string; details?: { path: string }[] };
    },
  };
}

const order = (fields: object = {}) => ({
  key: workspace.publishable.token,
  type: 'order',
  visitor_id: VISITOR,
  order_id: 'A-1',
  amount: 19.99,
  currency: 'EUR',
  email: ' Jane@Example.com ',
  ...fields,
});
const identify = (fields: object = {}) => ({
  key: workspace.publishable.token,
  type: 'identify',
  visitor_id: VISITOR,
  email: 'jane@example.com',
  external_user_id: 'u-1',
  ...fields,
});

test('an order is 202 and is in the journal, in minor units', async () => {
  const answer = await collect(order());
  expect([answer.status, answer.body]).toEqual([202, { ok: true }]);
  const event = (await ingest.events()).at(-1);
  expect(event).toMatchObject({
    kind: 'order',
    orderId: 'A-1',
    amountMinor: 1_999,
    currency: 'eur',
    email: 'jane@example.com',
    source: 'pixel',
  });
  expect(event?.kind === 'order' && bytesToUuid(event.workspaceId)).toBe(workspace.id);
  expect(event?.kind === 'order' && event.visitorId && bytesToUuid(event.visitorId)).toBe(VISITOR);
});

test('an identify is 202 and is in the journal', async () => {
  expect((await collect(identify())).status).toBe(202);
  expect((await ingest.events()).at(-1)).toMatchObject({
    kind: 'identify',
    email: 'jane@example.com',
    externalUserId: 'u-1',
    source: 'pixel',
  });
});

test('a beacon’s text/plain is accepted, other media types are not', async () => {
  expect((await collect(order(), { 'content-type': 'text/plain;charset=UTF-8' })).status).toBe(202);
  const form = await collect(order(), { 'content-type': 'application/x-www-form-urlencoded' });
  expect([form.status, form.body.error?.code]).toEqual([415, 'unsupported_media_type']);
});

test('the currency defaults to usd, and yen have no minor units', async () => {
  await collect(order({ currency: undefined, order_id: 'A-2' }));
  expect((await ingest.events()).at(-1)).toMatchObject({ amountMinor: 1_999, currency: 'usd' });
  await collect(order({ currency: 'jpy', amount: 500, order_id: 'A-3' }));
  expect((await ingest.events()).at(-1)).toMatchObject({ amountMinor: 500, currency: 'jpy' });
});

test('an unknown, missing or revoked key is 401', async () => {
  const unknown = `pk_live_00000000_${'0'.repeat(48)}`;
  const altered = `${workspace.publishable.token.slice(0, -1)}${workspace.publishable.token.endsWith('0') ? '1' : '0'}`;
  const partner = `pt_live_00000000_${'0'.repeat(48)}`;
  for (const key of [unknown, altered, partner, 'nonsense', '', undefined]) {
    const { status, body } = await collect(order({ key }));
    expect([key, status, body.error?.code]).toEqual([key, 401, 'unauthorized']);
  }
  const { key, token } = await createKey(stores.pool, {
    workspaceId: workspace.id,
    kind: 'publishable',
    label: '',
  });
  expect((await collect(order({ key: token }))).status).toBe(202);
  await revokeKey(stores.pool, key.id);
  await expect.poll(async () => (await collect(order({ key: token }))).status).toBe(401);
});

test('a secret key is 400', async () => {
  const { status, body } = await collect(order({ key: workspace.secret }));
  expect([status, body.error?.code, body.error?.details?.[0]?.path]).toEqual([400, 'bad_request', 'key']);
});

test.each([
  ['{', 'body'],
  ['[]', 'body'],
  ['null', 'body'],
])('a body that is no JSON object (%s) is 400', async (text, path) => {
  const { status, body } = await collect(text);
  expect([status, body.error?.details?.[0]?.path]).toEqual([400, path]);
});

test.each([
  [{ key: 5 }, 'key'],
  [{ type: 'purchase' }, 'type'],
  [{ type: undefined }, 'type'],
  [{ type: 'identify', visitor_id: undefined, email: undefined }, 'visitor_id'],
  [{ type: 'identify', visitor_id: '', email: 'guest' }, 'visitor_id'],
  [{ order_id: undefined }, 'order_id'],
  [{ order_id: '' }, 'order_id'],
  [{ order_id: ' ' }, 'order_id'],
  [{ order_id: {} }, 'order_id'],
  [{ order_id: 'x'.repeat(201) }, 'order_id'],
  [{ order_id: '😀'.repeat(201) }, 'order_id'],
  [{ order_id: 'a\0b' }, 'order_id'],
  [{ order_id: '\ud800' }, 'order_id'],
  [{ amount: undefined }, 'amount'],
  [{ amount: null }, 'amount'],
  [{ amount: '' }, 'amount'],
  [{ amount: '49,90' }, 'amount'],
  [{ amount: '1e3' }, 'amount'],
  [{ amount: '-1' }, 'amount'],
  [{ amount: -1 }, 'amount'],
  [{ amount: 1e300 }, 'amount'],
  [{ amount: 10_000_000_000.01 }, 'amount'],
])('%j is 400 and names the field', async (fields, path) => {
  const before = (await ingest.events()).length;
  const { status, body, headers } = await collect(order(fields));
  expect([status, body.error?.code, body.error?.details?.[0]?.path]).toEqual([400, 'bad_request', path]);
  expect(headers.get('x-request-id')).toBe(body.error?.request_id);
  expect((await ingest.events()).length).toBe(before);
});

test.each([
  [
    { order_id: 1001, external_user_id: 42 },
    { orderId: '1001', externalUserId: '42' },
  ],
  [{ amount: 1.1 * 3 }, { amountMinor: 330 }],
  [{ amount: 100 / 3 }, { amountMinor: 3_333 }],
  [{ amount: '49.90' }, { amountMinor: 4_990 }],
  [
    { amount: ' 7 ', currency: 'JPY' },
    { amountMinor: 7, currency: 'jpy' },
  ],
  [{ amount: 1.5, currency: 'jpy' }, { amountMinor: 2 }],
  [{ currency: 'EUR ' }, { amountMinor: 1_999, currency: 'eur' }],
  [{ currency: '' }, { amountMinor: 1_999, currency: 'usd' }],
  [{ currency: 'doubloons' }, { amountMinor: 0, currency: 'usd' }],
  [{ currency: '€' }, { amountMinor: 0, currency: 'usd' }],
  [
    { email: '', external_user_id: '' },
    { email: null, externalUserId: null },
  ],
  [{ email: 'guest' }, { email: null, amountMinor: 1_999 }],
  [{ email: 5 }, { email: null }],
  [{ external_user_id: '\ud800' }, { externalUserId: null }],
  [{ external_user_id: {} }, { externalUserId: null }],
  [{ visitor_id: 'x' }, { visitorId: null }],
  [{ visitor_id: {}, visitor_ids: 5 }, { visitorId: null }],
])('an order with %j is recorded all the same', async (fields, recorded) => {
  expect((await collect(order(fields))).status).toBe(202);
  expect((await ingest.events()).at(-1)).toMatchObject(recorded);
});

test('all ids of the browser come with it, newest first, without what is no id', async () => {
  const [second, third] = ['3ad086d0-f585-8424-a005-8e248d6c10a3', '3ad086d0-f585-8424-a005-8e248d6c10a4'];
  const listed = [VISITOR, 'x', second, VISITOR.toUpperCase(), third];
  for (const type of ['order', 'identify']) {
    expect((await collect(order({ type, visitor_ids: listed }))).status).toBe(202);
    const event = (await ingest.events()).at(-1);
    if (event?.kind !== 'order' && event?.kind !== 'identify') throw new Error('nothing was recorded');
    expect((event.otherVisitorIds ?? []).map((id) => bytesToUuid(id))).toEqual([second, third]);
  }
});

test('_vid is another name of visitor_id, and both must agree', async () => {
  const other = '3ad086d0-f585-8424-a005-8e248d6c10a3';
  for (const fields of [
    { visitor_id: undefined, _vid: VISITOR },
    { visitor_id: null, _vid: [VISITOR] },
    { _vid: VISITOR.toUpperCase() },
  ]) {
    expect((await collect(order(fields))).status).toBe(202);
    const event = (await ingest.events()).at(-1);
    expect(event?.kind === 'order' && event.visitorId && bytesToUuid(event.visitorId)).toBe(VISITOR);
  }
  const { status, body } = await collect(order({ _vid: other }));
  expect([status, body.error?.details?.[0]?.path]).toEqual([400, '_vid']);
});

test('with the time at which the browser got each, by the clock of the server', async () => {
  const earlier = ['4ad086d0-f585-8424-a005-8e248d6c10a2', '5ad086d0-f585-8424-a005-8e248d6c10a2'];
  const sentAt = Date.now();
  for (const landed of [
    { [VISITOR]: 90, [earlier[1] ?? '']: 0.5 },
    { [VISITOR]: -1 },
    { [VISITOR]: 1e9 },
    [],
    'x',
    5,
  ])
    expect((await collect(order({ order_id: 'landed', visitor_ids: earlier, landed }))).status).toBe(202);
  const [first, ...others] = (await ingest.events()).flatMap((event) =>
    event.kind === 'order' && event.orderId === 'landed' ? [event] : [],
  );
  const agesMs = first?.landedAt?.map((at) => (at === 0 ? null : Math.round((first.ts - at) / 1_000)));
  // The age includes the time that the request took.
  const took = Date.now() - sentAt;
  expect(agesMs).toEqual([
    expect.toSatisfy((age: number) => age >= 89_000 && age <= 91_000 + took),
    null,
    expect.toSatisfy((age: number) => age >= -500 && age <= 1_500 + took),
  ]);
  expect(others.map(({ landedAt }) => landedAt)).toEqual(Array(5).fill([]));
});

test('a misspelled field that the report lacks is refused by its name, and other unknown ones are ignored', async () => {
  const before = (await ingest.events()).length;
  const key = workspace.publishable.token;
  const bare = { key, type: 'order', order_id: 'slip', amount: 5, currency: 'usd' };
  for (const [fields, sent, near] of [
    [{ ...bare, visitorId: VISITOR }, 'visitorId', 'visitor_id'],
    [{ ...bare, vistor_id: VISITOR, foo: 1 }, 'vistor_id', 'visitor_id'],
    [{ ...bare, emial: 'jane@mail.example' }, 'emial', 'email'],
    [{ ...bare, order_id: undefined, orderId: 'slip' }, 'orderId', 'order_id'],
    [{ ...bare, currency: undefined, curency: 'eur' }, 'curency', 'currency'],
    [{ key, type: 'identify', visitor_id: VISITOR, e_mail: 'jane@mail.example' }, 'e_mail', 'email'],
  ] as const) {
    const { status, body } = await collect(fields);
    expect([status, body.error?.details]).toEqual([
      400,
      [{ path: sent, message: 'is not a field of this body', hint: `did you mean \`${near}\`?` }],
    ]);
  }
  expect((await ingest.events()).length).toBe(before);
  // What is there is no slip of it, and `_vid` and `visitor_id` are one name.
  for (const fields of [
    { ...bare, _vid: VISITOR, visitorId: VISITOR },
    { ...bare, visitor_id: null, visitorId: 'x', id: 1, text: 'x', foo: 1 },
    { key, type: 'identify', visitor_id: VISITOR, amuont: 1 },
  ])
    expect((await collect(fields)).status).toBe(202);
  expect((await ingest.events()).length).toBe(before + 3);
});

test('all faults of a report are named at their fields, with the page of their code', async () => {
  const key = workspace.publishable.token;
  const { status, body } = await collect({ key, type: 'order', amount: 'much', emial: 'jane@mail.example' });
  expect([status, body.error?.details?.map(({ path }) => path)]).toEqual([
    400,
    ['emial', 'order_id', 'amount'],
  ]);
  const errors = [
    body,
    (await collect('{')).body,
    (await collect(order({ key: 'x' }))).body,
    (await collect(order(), { 'content-type': 'text/html' })).body,
    (await collect('x'.repeat(20_000))).body,
    await (await fetch(`${ingest.url}/collect`)).json(),
    await (await fetch(`${ingest.url}/api/v1/links`)).json(),
  ] as { error: { code: string; doc_url: string } }[];
  const pages = errors.map(({ error }) => error.doc_url);
  expect(pages).toEqual(errors.map(({ error }) => `${API}/docs/errors/${error.code}`));
  expect(new Set(errors.map(({ error }) => error.code))).toEqual(
    new Set([
      'bad_request',
      'unauthorized',
      'unsupported_media_type',
      'payload_too_large',
      'method_not_allowed',
      'not_found',
    ]),
  );
});

test('unknown fields of a report are ignored, and named in the header and the body', async () => {
  const { status, headers, body } = await collect(order({ order_id: 'ignored', foo: 1, 'a,b': 2 }));
  expect([status, headers.get('x-ignored-fields'), body]).toEqual([
    202,
    'foo, a%2Cb',
    { ok: true, ignored: ['foo', 'a,b'] },
  ]);
  const plain = await collect(identify());
  expect([plain.headers.get('x-ignored-fields'), plain.body]).toEqual([null, { ok: true }]);
});

test('what is refused or corrected is counted by workspace and reason, with an example without personal data', async () => {
  const shop = await makeWorkspace(stores.pool);
  const key = shop.publishable.token;
  for (const fields of [
    { amount: '49,90' },
    { amount: 100 / 3, email: 'Jane Doe' },
    { amount: 50 / 3, currency: 'EURO', external_user_id: 'x'.repeat(300) },
    { order_id: 42 },
    { type: 'identify', visitor_id: null, email: 'Anna' },
  ])
    await collect(order({ key, ...fields }));
  const problems = async () =>
    (await reportProblems(stores.pool, shop.id)).map(({ problem, field, count, example }) =>
      [problem, field, count, example].join(' '),
    );
  await expect
    .poll(async () => (await problems()).sort())
    .toEqual([
      'amount_invalid amount 1 "49,90"',
      'amount_rounded amount 1 33.333333333333336',
      'currency_unknown currency 1 "EURO"',
      'email_invalid email 2 text of 4 characters',
      'id_number order_id 1 42',
      'names_no_one visitor_id 1 ',
      'user_id_invalid external_user_id 1 text of 300 characters',
    ]);
});

test('a test of the installation shows what arrives, and the rest is recorded as ever', async () => {
  const shop = await makeWorkspace(stores.pool);
  const key = shop.publishable.token;
  const id = await createPixelTest(stores.pool, shop.id, 'https://shop.example/');
  const before = (await ingest.events()).length;
  expect((await collect({ key, type: 'test', test: id, visitor_ids: [VISITOR] })).status).toBe(202);
  expect((await ingest.events()).length).toBe(before);
  expect((await collect(order({ key, test: id, amount: '7' }))).status).toBe(202);
  expect((await ingest.events()).length).toBe(before + 1);
  expect((await collect(order({ key, test: id, amount: 'gratis' }))).status).toBe(400);
  // Another workspace's key does not show up in the test.
  expect((await collect(order({ test: id }))).status).toBe(202);
  await expect
    .poll(async () => (await pixelTest(stores.pool, shop.id, id))?.calls.map(({ at, ...call }) => call))
    .toEqual([
      { type: 'test', outcome: 'recorded', visitors: 1, names: [], order: null, problems: [] },
      {
        type: 'order',
        outcome: 'corrected',
        visitors: 1,
        names: ['email'],
        order: { order_id: 'A-1', amount: 7, currency: 'eur' },
        problems: [{ problem: 'amount_text', field: 'amount', example: '"7"' }],
      },
      {
        type: 'order',
        outcome: 'refused',
        visitors: 1,
        names: [],
        order: null,
        problems: [{ problem: 'amount_invalid', field: 'amount', example: 'text of 6 characters' }],
      },
    ]);
});

test.each(['latin1', 'utf16le'] as const)(
  'a body in %s is 400, and no order of another id',
  async (encoding) => {
    const before = (await ingest.events()).length;
    for (const order_id of ['A-ä', 'A-ö']) {
      const sent = new Uint8Array(Buffer.from(JSON.stringify(order({ order_id })), encoding));
      const { status, body } = await collect(sent);
      expect([status, body.error?.code, body.error?.details?.[0]?.path]).toEqual([
        400,
        'bad_request',
        'body',
      ]);
    }
    expect((await ingest.events()).length).toBe(before);
    expect(
      (await collect(new Uint8Array(Buffer.from(JSON.stringify(order({ order_id: 'A-ä' })))))).status,
    ).toBe(202);
    expect((await ingest.events()).at(-1)).toMatchObject({ orderId: 'A-ä' });
  },
);

test('an empty string or null means an unknown visitor or email', async () => {
  expect((await collect(order({ visitor_id: null, order_id: 'A-4' }))).status).toBe(202);
  expect((await ingest.events()).at(-1)).toMatchObject({ visitorId: null });
});

test('an order without a person is recorded, as under Global Privacy Control', async () => {
  expect((await collect(order({ visitor_id: null, email: undefined, order_id: 'A-7' }))).status).toBe(202);
  expect((await ingest.events()).at(-1)).toMatchObject({
    kind: 'order',
    orderId: 'A-7',
    amountMinor: 1_999,
    visitorId: null,
    email: null,
    externalUserId: null,
  });
});

test('a key’s use is recorded at most once a minute, and not for a refused request', async () => {
  const { key, token } = await createKey(stores.pool, {
    workspaceId: workspace.id,
    kind: 'publishable',
    label: 'pages',
  });
  const noted = async () => (await listedKey(stores.pool, workspace.id, key.id))?.last_used_at ?? null;
  expect((await collect(identify({ key: `${token.slice(0, -1)}x` }))).status).toBe(401);
  expect(await noted()).toBeNull();
  const began = performance.now();
  // Uses that arrive while another key's use is being written are not recorded.
  await expect
    .poll(async () => {
      expect((await collect(identify({ key: token }))).status).toBe(202);
      return noted();
    })
    .not.toBeNull();
  const first = await noted();
  for (let n = 0; n < 5; n++) await collect(identify({ key: token }));
  const last = await noted();
  if (performance.now() - began < 60_000) expect(last).toBe(first);
});

test('a call of the pixel is told from other uses of its key', async () => {
  const shop = await makeWorkspace(stores.pool);
  const hasPixel = () => stepsDone(stores.pool, shop.id, ['pixel']);
  await recordKeyUse(stores.pool, shop.publishable.id);
  expect(await hasPixel()).toEqual([]);
  const key = shop.publishable.token;
  const isNoted = async () =>
    (await listedKey(stores.pool, shop.id, shop.publishable.id))?.last_used_at ?? null;
  await stores.pool.query('UPDATE api_keys SET last_used_at = NULL WHERE id = $1', [shop.publishable.id]);
  // A call from a shell, and one of a page that is refused, are not the pixel's, but uses of the key.
  const page = { origin: 'https://shop.example' };
  await expect
    .poll(async () => {
      expect((await collect(identify({ key }))).status).toBe(202);
      expect((await collect({ key, type: 'identify' }, page)).status).toBe(400);
      expect((await collect({ key, type: 'test' }, page)).status).toBe(202);
      return isNoted();
    })
    .not.toBeNull();
  expect(await hasPixel()).toEqual([]);
  await expect
    .poll(async () => {
      await collect(identify({ key }), page);
      return hasPixel();
    })
    .toEqual(['pixel']);
});

test('an order_id has up to 200 characters as the API counts them', async () => {
  const orderId = '😀'.repeat(200);
  expect((await collect(order({ order_id: orderId }))).status).toBe(202);
  expect((await ingest.events()).at(-1)).toMatchObject({ orderId });
});

test('a body of more than 16 KiB is 413', async () => {
  const { status, body } = await collect(order({ padding: 'x'.repeat(17_000) }));
  expect([status, body.error?.code]).toEqual([413, 'payload_too_large']);
  expect((await collect(order({ padding: 'x'.repeat(12_000), order_id: 'A-5' }))).status).toBe(202);
});

test('any origin may send, without credentials; other methods are 405', async () => {
  const preflight = await fetch(`${ingest.url}/collect`, { method: 'OPTIONS' });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
  expect(preflight.headers.get('access-control-allow-methods')).toBe('POST');
  expect(preflight.headers.get('access-control-allow-headers')).toContain('Content-Type');
  expect((await collect('{')).headers.get('access-control-allow-origin')).toBe('*');
  const get = await fetch(`${ingest.url}/collect`);
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
});

test('where the workspace allows some origins, a page of another one is 403, and a call without one is taken', async () => {
  const shop = await makeWorkspace(stores.pool);
  const send = async (origin?: string) => {
    const fields = { key: shop.publishable.token, order_id: `from ${origin}` };
    const { status, body } = await collect(order(fields), origin === undefined ? {} : { origin });
    return status === 202 ? 202 : `${status} ${body.error?.code}`;
  };
  expect(await send('https://evil.example')).toBe(202);
  await updateWorkspace(stores.pool, shop.id, { allowed_origins: ['https://shop.example'] });
  await expect.poll(() => send('https://evil.example')).toBe('403 forbidden');
  expect([await send('https://shop.example'), await send(), await send('null')]).toEqual([
    202,
    202,
    '403 forbidden',
  ]);
  await updateWorkspace(stores.pool, shop.id, { allowed_origins: [] });
  await expect.poll(() => send('https://evil.example')).toBe(202);
});

test('a client that disconnects within its body does not affect others', async () => {
  const { port } = new URL(ingest.url);
  await new Promise<void>((resolve) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write('POST /collect HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"key":');
      setTimeout(() => socket.destroy(), 50);
    });
    socket.on('close', () => resolve());
  });
  expect((await collect(order({ order_id: 'A-6' }))).status).toBe(202);
});

test('the pixel is served under both names, cacheable and for any origin', async () => {
  for (const name of ['pixel.js', 'p.js']) {
    const answer = await fetch(`${ingest.url}/${name}`);
    expect([answer.status, await answer.text()]).toEqual([200, TEST_PIXEL]);
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(answer.headers.get('cache-control')).toContain('max-age=3600');
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    const etag = answer.headers.get('etag') ?? '';
    const again = await fetch(`${ingest.url}/${name}`, { headers: { 'if-none-match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
  }
});

test.each(['', `?key=pk_live_${'0'.repeat(8)}_${'1'.repeat(48)}`])(
  'the pixel%s is compressed for clients that accept it, and for no other',
  async (query) => {
    const get = (accepted: string) =>
      fetch(`${ingest.url}/pixel.js${query}`, { headers: { 'accept-encoding': accepted } });
    const [plain, packed, refused] = await Promise.all(['identity', 'br, gzip', 'gzip;q=0'].map(get));
    const encodings = [plain, packed, refused].map((answer) => answer?.headers.get('content-encoding'));
    expect(encodings).toEqual([null, 'gzip', null]);
    expect(packed?.headers.get('vary')).toBe('Accept-Encoding');
    expect(packed?.headers.get('etag')).not.toBe(plain?.headers.get('etag'));
    expect(await packed?.text()).toBe(TEST_PIXEL);
    expect(await plain?.text()).toBe(TEST_PIXEL);
  },
);
