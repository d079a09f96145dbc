import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EVENT_TYPES, TEST_EVENT } from '../../core/webhooks/event-types.ts';
import { type TestApi, testApi } from '../../test/support/api.ts';
import type { Json } from './components.ts';

type Media = { schema: Json; example?: unknown; examples?: Record<string, { value: unknown }> };
type Response = { $ref?: string; description: string; headers?: Json; content?: Record<string, Media> };
type Parameter = { name: string; in: string; required?: boolean; schema: Json; example?: unknown };
type Operation = {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Media> };
  responses: Record<string, Response>;
  'x-codeSamples'?: { source: string }[];
};
type Document = {
  openapi: string;
  info: { description: string };
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, { post: Operation }>;
  components: {
    schemas: Record<string, Json>;
    responses: Record<string, Response>;
    headers: Json;
    securitySchemes: Json;
  };
};

let api: TestApi;
const documents: Record<string, Document> = {};

beforeAll(async () => {
  api = await testApi();
  documents.public = (await api.app.inject('/api/v1/openapi.json')).json();
  documents.console = (await api.app.inject('/api/v1/console-openapi.json')).json();
});
afterAll(() => api.close());

const documentOf = (name: string): Document => {
  const document = documents[name];
  if (!document) throw new Error(`there is no document ${name}`);
  return document;
};

const operationsOf = ({ paths, webhooks = {} }: Document): Operation[] => [
  ...Object.values(paths).flatMap((methods) => Object.values(methods)),
  ...Object.values(webhooks).map(({ post }) => post),
];

function operation(id: string): Operation {
  const found = operationsOf(documentOf('public')).find(({ operationId }) => operationId === id);
  if (!found) throw new Error(`there is no operation ${id}`);
  return found;
}

const parameter = (id: string, name: string) =>
  operation(id).parameters?.find((one) => one.name === name && one.in !== 'header');

/** A response, also where it is one of `components.responses`. */
function responseOf(document: Document, response: Response): Response {
  if (response.$ref === undefined) return response;
  return document.components.responses[response.$ref.split('/').at(-1) ?? ''] as Response;
}

/** Every schema of the document outside examples, with its path. */
function schemasIn(node: unknown, path = ''): [string, Json][] {
  if (Array.isArray(node)) return node.flatMap((part, index) => schemasIn(part, `${path}/${index}`));
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, part]) => {
    if (key === 'example' || key === 'examples') return [];
    const own = `${path}/${key}`;
    const isSchema = key === 'schema' || key === 'items' || /\/(schemas|properties)$/.test(path);
    return [...(isSchema ? [[own, part] as [string, Json]] : []), ...schemasIn(part, own)];
  });
}

describe.each(['public', 'console'])('the %s document', (name) => {
  test('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    const result = await validator.validate(structuredClone(documentOf(name)));
    expect(result.errors ?? []).toEqual([]);
    expect([result.valid, validator.version]).toEqual([true, '3.1']);
  });

  test('gives each operation an id, a summary, a tag, a request and examples', () => {
    const document = documentOf(name);
    const tags = document.tags.map((tag) => tag.name);
    const operations = operationsOf(document);
    for (const { operationId, summary, tags: own = [], requestBody, responses, ...rest } of operations) {
      expect([operationId, /^[a-z]\w+\.[a-z]\w+$/i.test(operationId)]).toEqual([operationId, true]);
      expect([operationId, summary]).toEqual([operationId, expect.stringMatching(/^[A-Z].{3,80}[^.]$/)]);
      expect([operationId, tags]).toEqual([operationId, expect.arrayContaining(own)]);
      expect([operationId, own.length]).toEqual([operationId, 1]);
      if (operationId.startsWith('events.')) continue;
      expect([operationId, rest['x-codeSamples']?.[0]?.source]).toEqual([
        operationId,
        expect.stringMatching(/^curl /),
      ]);
      for (const [status, response] of Object.entries(responses)) {
        const { content = {} } = responseOf(document, response);
        const media = Object.values(content);
        expect([operationId, status, media.length > 0]).toEqual([operationId, status, true]);
        for (const { example, examples } of media)
          expect([operationId, status, example !== undefined || examples !== undefined]).toEqual([
            operationId,
            status,
            true,
          ]);
      }
      for (const { example } of Object.values(requestBody?.content ?? {}))
        expect([operationId, example]).toEqual([operationId, expect.anything()]);
    }
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('has examples that are valid by their schemas', () => {
    const document = documentOf(name);
    const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
    ajv.addFormat('uuid', /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
    ajv.addFormat('date', /^\d{4}-\d\d-\d\d$/);
    ajv.addFormat('email', /^\S+@\S+$/);
    ajv.addFormat('uri', /^(https?|mailto):\S+$/);
    ajv.addSchema({ $id: 'document', components: document.components });
    const wrong: unknown[] = [];
    let checked = 0;
    const check = (where: string, schema: Json, value: unknown) => {
      const text = JSON.stringify(schema).replaceAll('"#/components', '"document#/components');
      const validate = ajv.compile(JSON.parse(text));
      checked += 1;
      if (!validate(value))
        wrong.push([where, value, validate.errors?.map((one) => [one.instancePath, one.message])]);
    };
    for (const { operationId, parameters = [], requestBody, responses } of operationsOf(document)) {
      for (const one of parameters) {
        if (one.example !== undefined) check(`${operationId} ${one.name}`, one.schema, one.example);
      }
      const media = [
        ...Object.values(requestBody?.content ?? {}),
        ...Object.values(responses).flatMap((one) => Object.values(responseOf(document, one).content ?? {})),
      ];
      for (const { schema, example, examples = {} } of media) {
        if (example !== undefined) check(operationId, schema, example);
        for (const { value } of Object.values(examples)) check(operationId, schema, value);
      }
    }
    expect(wrong).toEqual([]);
    expect(checked).toBeGreaterThan(100);
  });

  test('repeats no object schema: each is a named type', () => {
    const inline = schemasIn(documentOf(name))
      .filter(([path, schema]) => !/^\/components\/schemas\/\w+$/.test(path) && 'properties' in schema)
      .map(([path, schema]) => ({ path, text: JSON.stringify(schema) }));
    const repeated = inline.filter(
      ({ text }, index) => inline.findIndex((one) => one.text === text) !== index,
    );
    expect(repeated.map(({ path }) => path)).toEqual([]);
    const inOperations = inline.filter(({ path }) => !path.startsWith('/components/schemas/'));
    expect(inOperations.map(({ path }) => path)).toEqual([]);
  });

  test('has no format that a client does not know, and closes no object', () => {
    const formats = schemasIn(documentOf(name)).flatMap(([path, { format }]) =>
      format === undefined || FORMATS.includes(String(format)) ? [] : [[path, format]],
    );
    expect(formats).toEqual([]);
    const text = JSON.stringify(documentOf(name));
    expect(text).not.toContain('"additionalProperties":false');
    expect(text).not.toContain('patternProperties');
  });

  test('is plain American English', () => {
    const text = JSON.stringify(documentOf(name)).replaceAll('x-ignored', '');
    const own = text.match(
      /programme|colour|normalis|\banew\b|by itself|whoever|nobody|is no [a-z]|\bwho has\b/gi,
    );
    expect(own ?? []).toEqual(['colour']); // an unknown field in the example of x-ignored-fields
  });
});

const FORMATS = ['uuid', 'date-time', 'date', 'email', 'uri'];

test('named types replace the inline copies', () => {
  const { schemas } = documentOf('public').components;
  expect(Object.keys(schemas)).toEqual(
    expect.arrayContaining(['Click', 'Error', 'Link', 'Program', 'Webhook', 'BioPage', 'CreditGrant', 'Me']),
  );
  const text = JSON.stringify(documentOf('public'));
  expect(text.split('"$ref":"#/components/schemas/Error"').length).toBeLessThan(30);
  expect(text.length).toBeLessThan(350_000);
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
  const cursors = schemasIn(documentOf('public')).filter(([path]) => /\/(next_cursor|watermark)$/.test(path));
  expect(cursors.length).toBeGreaterThan(10);
  for (const [path, { type, format, pattern }] of cursors) {
    const plain = /Ledger|Purchase/.test(path) ? ['integer', 'null'] : expect.anything();
    expect([path, format, pattern]).toEqual([path, undefined, undefined]);
    expect([path, type]).toEqual([path, plain]);
  }
});

test('the two shapes of GET /links are told apart by their required fields', () => {
  const { components } = documentOf('public');
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
    Object.keys(responseOf(documentOf('public'), operation(id).responses[status] as Response).headers ?? {});
  expect(headersOf('links.create', '201')).toEqual([
    'x-request-id',
    'Idempotent-Replayed',
    'x-ignored-fields',
  ]);
  expect(headersOf('links.get', '200')).toEqual(['x-request-id']);
  expect(headersOf('links.get', '503')).toEqual(['x-request-id', 'Retry-After']);
  expect(headersOf('payouts.export', '200')).toEqual(['x-request-id', 'x-export-id']);
  expect(headersOf('keys.create', '201')).toEqual(['x-request-id', 'x-ignored-fields']);
});

test('required parameters are required, and what has a default may be left out', () => {
  const required = operationsOf(documentOf('public')).flatMap(({ operationId, parameters = [] }) =>
    parameters
      .filter((one) => one.in === 'query' && one.required)
      .map(({ name }) => `${operationId} ${name}`),
  );
  expect(required).toEqual([
    'stats.getBreakdown by',
    'referrals.getStats external_user_id',
    'bioPages.checkAvailability slug',
  ]);
  expect(parameter('links.list', 'limit')).toMatchObject({
    required: false,
    schema: { minimum: 1, maximum: 500, default: 100 },
  });
  const { schemas } = documentOf('public').components;
  expect(schemas.TrackOrder?.required).toEqual(['order_id', 'amount']);
});

test('ids, emails, currencies and keys have formats and patterns', () => {
  const { schemas } = documentOf('public').components;
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
  const { schemas } = documentOf('public').components;
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
  const { webhooks = {}, components } = documentOf('public');
  expect(Object.keys(webhooks)).toEqual([...EVENT_TYPES, TEST_EVENT]);
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
  const pathsOf = (name: string) => Object.keys(documentOf(name).paths);
  const isConsole = (path: string) => /^\/api\/v1\/(session|sessions|passkeys)(\/|$)/.test(path);
  expect(pathsOf('public').filter(isConsole)).toEqual([]);
  expect(pathsOf('console').filter((path) => !isConsole(path))).toEqual([]);
  expect(Object.keys(documentOf('public').components.securitySchemes)).toEqual([
    'secret',
    'publishable',
    'partner',
  ]);
  expect(Object.keys(documentOf('console').components.securitySchemes)).toEqual(['session']);
  expect(documentOf('console').webhooks).toBeUndefined();
});

test('errors name their codes', () => {
  const create = operation('links.create').responses;
  expect(create['402']?.$ref).toContain('LimitReached');
  expect(create['422']?.$ref).toContain('IdempotencyKeyReused');
  const conflict = responseOf(documentOf('public'), create['409'] as Response);
  expect(conflict.description).toContain('conflict');
  expect(JSON.stringify(conflict.content)).toContain('request_id');
  for (const { operationId, security, responses } of operationsOf(documentOf('public'))) {
    if (operationId.startsWith('events.')) continue;
    expect([operationId, Object.keys(responses)]).toEqual([
      operationId,
      expect.arrayContaining(security.length === 0 ? ['400', '500', '503'] : ['400', '401', '500', '503']),
    ]);
  }
});
