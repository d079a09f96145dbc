import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLICK_BATCH } from '../../core/webhooks/batch.ts';
import { EVENT_TYPES, TEST_EVENT } from '../../core/webhooks/event-types.ts';
import { type TestApi, testApi } from '../../test/support/api.ts';
import type { Json } from './components.ts';
import {
  type Document,
  type Operation,
  operationsOf,
  type Response,
  responseOf,
  schemasIn,
} from './test-support.ts';

/** The parts of the document of keys that a client reads. */

let api: TestApi;
let document: Document;
let consoleDocument: Document;

beforeAll(async () => {
  api = await testApi();
  document = (await api.app.inject('/api/v1/openapi.json')).json();
  consoleDocument = (await api.app.inject('/api/v1/console-openapi.json')).json();
});
afterAll(() => api.close());

function operation(id: string): Operation {
  const found = operationsOf(document).find(({ operationId }) => operationId === id);
  if (!found) throw new Error(`there is no operation ${id}`);
  return found;
}

const parameter = (id: string, name: string) =>
  operation(id).parameters?.find((one) => one.name === name && one.in !== 'header');

test('named types replace the inline copies', () => {
  const { schemas } = document.components;
  expect(Object.keys(schemas)).toEqual(
    expect.arrayContaining(['Click', 'Error', 'Link', 'Program', 'Webhook', 'BioPage', 'CreditGrant', 'Me']),
  );
  const text = JSON.stringify(document);
  expect(text.split('"$ref":"#/components/schemas/Error"').length).toBeLessThan(30);
  expect(text.length).toBeLessThan(750_000);
});

test('cursors are plain strings, instants are not', () => {
  for (const [id, names] of [
    ['clicks.list', ['before', 'since']],
    ['links.list', ['cursor']],
    ['folders.list', ['cursor']],
    ['keys.list', ['cursor']],
    ['webhooks.list', ['cursor']],
    ['webhooks.listDeliveries', ['cursor']],
    ['enrollments.list', ['cursor']],
    ['payouts.list', ['cursor']],
    ['signups.list', ['cursor']],
    ['bioPages.list', ['cursor']],
  ] as const) {
    for (const name of names)
      expect([id, name, parameter(id, name)?.schema]).toEqual([id, name, { type: 'string' }]);
  }
  expect(parameter('channels.list', 'from')?.schema).toEqual({ type: 'string', format: 'date-time' });
  const cursors = schemasIn(document).filter(([path]) => /\/(next_cursor|watermark)$/.test(path));
  expect(cursors.length).toBeGreaterThan(10);
  for (const [path, { type, format, pattern }] of cursors) {
    const plain = /Ledger|Purchase/.test(path) ? ['integer', 'null'] : expect.anything();
    expect([path, format, pattern]).toEqual([path, undefined, undefined]);
    expect([path, type]).toEqual([path, plain]);
  }
});

test('the two shapes of GET /links are told apart by their required fields', () => {
  const { components } = document;
  expect(operation('links.list').responses['200']?.content?.['application/json']).toMatchObject({
    schema: {
      anyOf: [
        { $ref: '#/components/schemas/LinkPerformance' },
        { $ref: '#/components/schemas/LinkRecordsPage' },
      ],
    },
    examples: { LinkPerformance: {}, LinkRecordsPage: {} },
  });
  expect(components.schemas.LinkPerformance?.required).toEqual(['window', 'links']);
  expect(components.schemas.LinkRecordsPage?.required).toEqual(['links', 'next_cursor']);
  expect(components.schemas.Journey).toMatchObject({
    properties: { journey: { items: { discriminator: { propertyName: 'type' } } } },
  });
});

test('responses name their headers', () => {
  const headersOf = (id: string, status: string) =>
    Object.keys(responseOf(document, operation(id).responses[status] as Response).headers ?? {});
  expect(headersOf('links.create', '201')).toEqual([
    'x-request-id',
    'Idempotent-Replayed',
    'x-ignored-fields',
  ]);
  expect(headersOf('links.get', '200')).toEqual(['x-request-id']);
  expect(headersOf('links.get', '503')).toEqual(['x-request-id', 'Retry-After']);
  expect(headersOf('payouts.export', '200')).toEqual([
    'x-request-id',
    'x-export-id',
    'x-ledger-head',
    'x-left-out',
    'x-held-back',
    'x-rounded',
  ]);
  expect(headersOf('webhooks.update', '200')).toEqual(['x-request-id', 'x-ignored-fields']);
});

test('required parameters are required, and what has a default may be left out', () => {
  const required = operationsOf(document).flatMap(({ operationId, parameters = [] }) =>
    parameters
      .filter((one) => one.in === 'query' && one.required)
      .map(({ name }) => `${operationId} ${name}`),
  );
  expect(required).toEqual(['referrals.getStats external_user_id', 'bioPages.checkAvailability slug']);
  const limit = parameter('links.list', 'limit');
  expect(limit?.required).toBeUndefined();
  expect(limit?.schema).toMatchObject({ minimum: 1, maximum: 500, default: 100 });
  const { schemas } = document.components;
  expect(schemas.TrackOrder?.required).toEqual(['order_id', 'amount']);
});

test('ids, emails, currencies and keys have formats and patterns', () => {
  const { schemas } = document.components;
  const field = (type: string, name: string) =>
    (schemas[type] as { properties: Record<string, Json> }).properties[name];
  expect(field('Link', 'id')).toMatchObject({ format: 'uuid' });
  expect(field('Enrollment', 'email')).toMatchObject({ format: 'email' });
  expect(field('Program', 'currency')).toMatchObject({ pattern: '^[a-z]{3}$' });
  expect(field('TrackOrder', 'currency')).toMatchObject({ pattern: '^[A-Za-z]{3}$' });
  expect(field('KeyWithToken', 'token')).toMatchObject({
    pattern: '^(lk|pk)_live_[0-9a-f]{8}_[0-9a-f]{48}$',
  });
  expect(parameter('clicks.list', 'link_ids')?.schema.pattern).toContain('[0-9a-fA-F]{8}');
});

test('rows of bulk calls are typed', () => {
  const { schemas } = document.components;
  expect(schemas.BulkCreateLinks).toMatchObject({
    properties: { links: { items: { $ref: '#/components/schemas/CreateLinks' } } },
  });
  expect(schemas.BulkResult).toMatchObject({
    properties: {
      body: {
        anyOf: [{ $ref: '#/components/schemas/CreatedLinks' }, { $ref: '#/components/schemas/Error' }],
      },
    },
  });
});

test('the section webhooks has the payload of each event', () => {
  const { webhooks = {}, components } = document;
  expect(Object.keys(webhooks)).toEqual([...EVENT_TYPES, CLICK_BATCH, TEST_EVENT]);
  for (const [type, { post }] of Object.entries(webhooks)) {
    const media = post.requestBody?.content['application/json'];
    const name = String(media?.schema.$ref).split('/').at(-1) ?? '';
    expect(components.schemas[name]).toMatchObject({ properties: { type: { const: type }, data: {} } });
    expect(media?.example).toMatchObject({ type });
    expect(post.parameters?.map((one) => one.name)).toEqual([
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
    ]);
  }
});

test('operations of the console alone are in their own document', () => {
  const isConsole = (path: string) =>
    /^\/api\/v1\/(enrollments\/\{id\}\/preview|referrals\/preview|first-steps|links\/destination-(pages|icons)|mails\/(unsubscribe|confirm)|portal|problems|sample-shop|session|sessions|shared|passkeys|two-factor)(\/|$)/.test(
      path,
    );
  expect(Object.keys(document.paths).filter(isConsole)).toEqual([]);
  expect(Object.keys(consoleDocument.paths).filter((path) => !isConsole(path))).toEqual([]);
  expect(Object.keys(document.components.securitySchemes)).toEqual(['secret', 'publishable', 'partner']);
  expect(Object.keys(consoleDocument.components.securitySchemes)).toEqual(['session']);
  expect(consoleDocument.webhooks).toBeUndefined();
});

test('errors name their codes', () => {
  const create = operation('links.create').responses;
  expect(create['402']?.$ref).toContain('LimitReached');
  expect(create['422']?.$ref).toContain('IdempotencyKeyReused');
  const conflict = responseOf(document, create['409'] as Response);
  expect(conflict.description).toContain('conflict');
  expect(JSON.stringify(conflict.content)).toContain('request_id');
  for (const { operationId, security, responses } of operationsOf(document)) {
    if (operationId.startsWith('events.')) continue;
    expect([operationId, Object.keys(responses)]).toEqual([
      operationId,
      expect.arrayContaining(security.length === 0 ? ['400', '500', '503'] : ['400', '401', '500', '503']),
    ]);
  }
});
