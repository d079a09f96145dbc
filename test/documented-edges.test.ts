import { expect } from 'vitest';
import { isJson, type Json } from '../api/openapi/components.ts';
import { type Document, ENDLESS, type Operation } from '../api/openapi/test-support.ts';
import type { TestWorkspace } from './support/api.ts';
import { createBodyCheck, createDocumentCheck, type DocumentCheck } from './support/document-check.ts';
import { type Edge, edgesOf } from './support/edges.ts';
import { sharedShopTest as test } from './support/fixtures.ts';
import { ATTEMPTS } from './support/tenancy.ts';
import { plantVictim, type Victim } from './support/victim.ts';

/**
 * Each edge that the document states is sent, with each kind of key that may call the operation: the longest and the
 * shortest text, the largest number, the longest list. Each response, also of what was then stored, fits the document.
 */

let made: Victim;
let document: Document;
let differs: DocumentCheck;

test.beforeAll(async ({ api, shop }) => {
  made = await plantVictim(api, shop);
  document = (await api.app.inject('/api/v1/openapi.json')).json();
  differs = createDocumentCheck(document);
});

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
type Call = { method: Method; path: string; headers?: Record<string, string>; body?: unknown };
type Named = { path: string; method: string; operation: Operation };
type Played = { of: Named; edge: Pick<Edge, 'path' | 'limit'>; call: Call };

/** Bytes of a URL that the server takes, with headers. */
const URL_LIMIT = 65_000;

function operations(): Named[] {
  return Object.entries(document.paths)
    .filter(([path]) => !ENDLESS.includes(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
}

const nameOf = ({ path, method }: Named) => `${method.toUpperCase()} ${path}`;

/** A call of the operation with ids of the workspace. Each has one: see `tenancy.test.ts`. */
function callOf(of: Named): Call {
  const [attempt] = ATTEMPTS[nameOf(of)]?.(made) ?? [];
  if (!attempt) return { method: of.method.toUpperCase() as Method, path: of.path.slice('/api/v1'.length) };
  return { method: of.method.toUpperCase() as Method, path: attempt.path, body: attempt.body };
}

function edgeCallsOf(of: Named): Played[] {
  const { path, operation } = of;
  const { schemas } = document.components;
  const own = callOf(of);
  const played = (edge: Edge, call: Partial<Call>): Played => ({ of, edge, call: { ...own, ...call } });
  const parameters = (operation.parameters ?? []).flatMap((parameter) =>
    edgesOf(parameter.schema, schemas, parameter.example).map((edge) => {
      const text = Array.isArray(edge.value) ? edge.value.join(',') : String(edge.value);
      const at = { ...edge, path: parameter.name };
      if (parameter.in === 'header') return played(at, { headers: { [parameter.name]: text } });
      const [place = '', query = ''] = own.path.split('?');
      if (parameter.in === 'path') return played(at, { path: inPath(path, place, parameter.name, text) });
      const asked = new URLSearchParams(query);
      asked.set(parameter.name, text);
      return played(at, { path: `${place}?${asked}` });
    }),
  );
  const { schema, example } = operation.requestBody?.content['application/json'] ?? {};
  const base = isJson(own.body) && Object.keys(own.body).length > 0 ? own.body : example;
  const title =
    typeof schema?.$ref === 'string' ? (schema.$ref.split('/').at(-1) ?? '') : operation.operationId;
  const bodies = edgesOf(schema, schemas, base, title).map((edge) => played(edge, { body: edge.value }));
  return [...parameters, ...bodies];
}

/** Puts a parameter into the path of a call, which has ids for the others. */
function inPath(template: string, path: string, name: string, text: string): string {
  const parts = `/api/v1${path}`.split('/');
  const at = template.split('/').indexOf(`{${name}}`);
  const changed = parts.map((part, n) => (n === at ? encodeURIComponent(text) : part));
  return changed.join('/').slice('/api/v1'.length);
}

/** Sends a call. @returns the status, and what is wrong with the response */
async function play(shop: TestWorkspace, of: Named, { method, path, ...options }: Call, key: string) {
  const { status, text, headers } = await shop.call(method, path, { ...options, key });
  const sent = { status, type: String(headers['content-type'] ?? ''), text };
  const difference = differs(of.path, of.method, sent);
  const wrong = status >= 500 ? `${status} ${text.slice(0, 200)}` : difference;
  return { status, wrong };
}

/** Plays the edges of the operations of a method. @returns what is wrong */
async function failuresOf(shop: TestWorkspace, method: string): Promise<string> {
  const failures = new Set<string>();
  const closed = new Set<string>();
  const keys = { secret: shop.secretKey, publishable: shop.publishableKey };
  const all = operations()
    .filter((of) => of.method === method)
    .flatMap(edgeCallsOf)
    .filter(({ call }) => call.path.length < URL_LIMIT);
  played += all.length;
  for (const { of, edge, call } of all) {
    for (const [kind, key] of Object.entries(keys)) {
      if (closed.has(`${kind} ${nameOf(of)}`)) continue;
      const { status, wrong } = await play(shop, of, call, key);
      if (status === 403 || status === 401) closed.add(`${kind} ${nameOf(of)}`);
      if (wrong) failures.add(`${nameOf(of)} with a ${kind} key, ${edge.path} ${edge.limit}: ${wrong}`);
    }
  }
  return [...failures].join('\n');
}

let played = 0;

/** Returns a resource as a reader sees it: its own response, or its row in the list. */
async function shown(shop: TestWorkspace, path: string, hasGet: boolean): Promise<Record<string, unknown>> {
  const at = path.lastIndexOf('/');
  const { status, text } = await shop.get(hasGet ? path : path.slice(0, at));
  expect([path, status, text]).toEqual([path, 200, text]);
  const body = JSON.parse(text) as Record<string, unknown>;
  if (hasGet) return body;
  const rows = Object.values(body).flatMap((part) => (Array.isArray(part) ? part : []));
  return rows.find(({ id }) => id === path.slice(at + 1));
}

test('what a GET shows of each resource is taken by its PATCH, and changes nothing', async ({ shop }) => {
  const changed: string[] = [];
  let tried = 0;
  for (const of of operations().filter(({ method, path }) => method === 'patch' && path !== BULK)) {
    const { path } = callOf(of);
    const hasGet = document.paths[of.path]?.get !== undefined;
    const before = await shown(shop, path, hasGet);
    const writable = fieldsOf(of.operation);
    const body = Object.fromEntries(Object.entries(before).filter(([name]) => writable.includes(name)));
    tried += Object.keys(body).length;
    const { status, text } = await shop.patch(path, body);
    if (status !== 200) changed.push(`${nameOf(of)}: ${text}`);
    const after = await shown(shop, path, hasGet);
    for (const name of writable) {
      const values = [before[name], after[name]].map((value) => JSON.stringify(value));
      if (values[0] !== values[1]) changed.push(`${nameOf(of)}: ${name}: ${values.join(' -> ')}`);
    }
  }
  expect(changed.join('\n')).toBe('');
  expect(tried).toBeGreaterThanOrEqual(100);
});

/** Changes many links at once, and shows none. */
const BULK = '/api/v1/links/bulk';

function fieldsOf({ requestBody }: Operation): string[] {
  const { $ref, properties } = requestBody?.content['application/json']?.schema ?? {};
  const named = document.components.schemas[String($ref).slice(String($ref).lastIndexOf('/') + 1)];
  return Object.keys(properties ?? named?.properties ?? {});
}

const LINK = { destination_url: 'https://shop.example/', name: 'Edge', smart: true, external: true };
const RULE = {
  conditions: [{ type: 'country', operator: 'is', values: ['DE'] }],
  destination_url: LINK.destination_url,
};
const VARIANTS = [0, 1].map(() => ({ destination_url: LINK.destination_url, weight: 1 }));

test.for<[string, string, object, boolean]>([
  ['a pixel id of another form', '/links', { ...LINK, retargeting: { facebook: 'a-1' } }, false],
  ['a pixel id', '/links', { ...LINK, retargeting: { google: 'AW-123456789' } }, true],
  ['an id of a rule with a blank', '/links', { ...LINK, rules: [{ ...RULE, id: 'a b' }] }, false],
  ['an id of a rule', '/links', { ...LINK, rules: [{ ...RULE, id: 'a_b' }] }, true],
  [
    'an id of a variant with a dot',
    '/links',
    { ...LINK, split: [{ ...VARIANTS[0], id: 'a.b' }, VARIANTS[1]] },
    false,
  ],
  ['an end in the year 9999', '/links', { ...LINK, expires_at: '9999-12-31T23:59:59Z' }, true],
  ['an end in lower case', '/links', { ...LINK, expires_at: '2090-01-01t00:00:00z' }, true],
  ['an end at a leap second', '/links', { ...LINK, expires_at: '2090-12-31T23:59:60Z' }, true],
  ['a metric twice', '/analytics/query', { metrics: ['clicks', 'clicks'] }, false],
  [
    'a dimension twice',
    '/analytics/query',
    { metrics: ['clicks'], dimensions: ['country', 'country'] },
    false,
  ],
  ['no links', '/links/bulk', { links: [] }, false],
  ['a name of blanks', '/folders', { name: ' \u200b' }, false],
])('%s is allowed by the document where it is taken', async ([_, path, body, isAllowed], { shop }) => {
  const { status } = await shop.post(path, body);
  const byDocument = createBodyCheck(document)(`/api/v1${path}`, 'post', body);
  expect([byDocument, status < 400]).toEqual([isAllowed, isAllowed]);
});

test.each([
  ['/links', 'destination_url', '12,288 characters when percent-encoded'],
  ['/track/identify', '', 'At least one of `visitor_id`, `email` and `external_user_id`'],
  ['/track/order', '', 'At least one of `visitor_id`, `email` and `external_user_id`'],
  ['/referrals/payout-method', 'email', 'Required, here or in `paypal_email`'],
  ['/commissions', 'amount', '10^12 minor units'],
])('a rule that no schema can say is a sentence: of POST %s %s', (path, field, sentence) => {
  const { schema } = document.paths[`/api/v1${path}`]?.post?.requestBody?.content['application/json'] ?? {};
  const body = document.components.schemas[String(schema?.$ref).split('/').at(-1) ?? ''];
  const part = field === '' ? body : (body?.properties as Record<string, Json> | undefined)?.[field];
  expect(part?.description).toContain(sentence);
});

test('an integer in a path is taken up to the maximum of the document', async ({ shop }) => {
  const id = document.paths['/api/v1/credits/{id}/revoke']?.post?.parameters?.[0]?.schema;
  expect(id?.maximum).toBe(Number.MAX_SAFE_INTEGER);
  const revoke = async (text: string) =>
    (await shop.post(`/credits/${text}/revoke`, { reason: 'edge' })).status;
  expect(await Promise.all(['1000000000000000', '9007199254740991', '9007199254740992'].map(revoke))).toEqual(
    [404, 404, 400],
  );
});

// Operations that delete come last.
test.for(['get', 'patch', 'post', 'delete'])(
  'at every edge of the document a %s is answered as the document says, and never with a 5xx',
  async (method, { shop }) => {
    expect(await failuresOf(shop, method)).toBe('');
  },
);

test('what was stored at the edges is read as the document says', async ({ shop }) => {
  expect(played).toBeGreaterThan(1_000);
  const failures: string[] = [];
  for (const of of operations().filter(({ method }) => method === 'get')) {
    const { wrong } = await play(shop, of, callOf(of), shop.secretKey);
    if (wrong) failures.push(`${nameOf(of)}: ${wrong}`);
  }
  expect(failures.join('\n')).toBe('');
});
