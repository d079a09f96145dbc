import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApi, testApi } from '../../test/support/api.ts';

type BodySchema = { required?: string[]; properties?: Record<string, object> };
type Operation = {
  operationId?: string;
  summary?: string;
  tags?: string[];
  security?: Record<string, unknown>[];
  parameters?: { name: string; in: string; required?: boolean; schema: Record<string, unknown> }[];
  requestBody?: { content: Record<string, { schema: BodySchema }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: unknown }> }>;
};
type Document = {
  openapi: string;
  info: { description: string };
  components: { securitySchemes: Record<string, unknown> };
  tags: { name: string }[];
  paths: Record<string, Record<string, Operation>>;
};

let api: TestApi;
let document: Document;
let operations: [string, Operation][];

beforeAll(async () => {
  api = await testApi();
  document = (await api.app.inject('/api/v1/openapi.json')).json();
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method} ${path}`,
      operation,
    ]),
  );
});
afterAll(() => api.close());

test('it is OpenAPI 3.1 and needs no key', () => {
  expect(document.openapi).toBe('3.1.0');
  expect(Object.keys(document.components.securitySchemes)).toEqual([
    'secret',
    'publishable',
    'partner',
    'session',
  ]);
  expect(document.info.description).toContain('DB-IP');
});

test('every endpoint has a name of its own, a summary, a known tag, security, a success and its errors', () => {
  const tags = document.tags.map((tag) => tag.name);
  for (const [name, operation] of operations) {
    expect([name, operation.operationId]).toEqual([name, expect.any(String)]);
    expect([name, operation.summary]).toEqual([name, expect.any(String)]);
    expect([name, tags]).toEqual([name, expect.arrayContaining(operation.tags ?? ['none'])]);
    expect([name, operation.security?.length]).not.toEqual([name, undefined]);
    const statuses = Object.keys(operation.responses);
    expect([name, statuses.some((status) => status.startsWith('2'))]).toEqual([name, true]);
    expect([name, statuses]).toEqual([
      name,
      expect.arrayContaining(
        operation.security?.length === 0 ? ['400', '500', '503'] : ['400', '401', '500', '503'],
      ),
    ]);
  }
  const ids = operations.map(([, operation]) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

test('the errors are in the envelope and name their codes', () => {
  const create = document.paths['/api/v1/links']?.post;
  expect(create?.responses['402']?.description).toContain('limit_reached');
  expect(create?.responses['422']?.description).toContain('idempotency_key_reused');
  expect(create?.responses['409']?.description).toContain('conflict');
  expect(JSON.stringify(create?.responses['409'])).toContain('request_id');
  expect(create?.parameters?.map((parameter) => [parameter.in, parameter.name])).toContainEqual([
    'header',
    'Idempotency-Key',
  ]);
});

test('bodies do not claim to refuse unknown fields', () => {
  expect(JSON.stringify(operations.map(([, operation]) => operation.requestBody))).not.toContain(
    '"additionalProperties":false',
  );
});

test('what is no JSON is in the document by its own media type', async () => {
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
    const described = document.paths[`/api/v1${path}`]?.[method]?.responses['200']?.content ?? {};
    const type = String(answer.headers['content-type']).split(';')[0];
    expect([path, answer.status, Object.keys(described)]).toEqual([
      path,
      200,
      expect.arrayContaining([type]),
    ]);
    expect([path, 'application/json' in described]).toEqual([path, false]);
  }
});

test('limits are in the document, and what has a default may be left out', () => {
  const list = document.paths['/api/v1/links']?.get;
  expect(list?.parameters?.find((parameter) => parameter.name === 'limit')).toMatchObject({
    required: false,
    schema: { minimum: 1, maximum: 500, default: 100 },
  });
  const asked = operations.flatMap(([name, { requestBody }]) =>
    Object.values(requestBody?.content ?? {}).flatMap(({ schema: { required = [], properties = {} } }) =>
      required.map((field) => [name, field, 'default' in (properties[field] ?? {})]),
    ),
  );
  expect(asked).toContainEqual(['post /api/v1/track/order', 'amount', false]);
  expect(asked.filter(([, , hasDefault]) => hasDefault)).toEqual([]);
});

test('the page at /docs loads nothing from elsewhere', async () => {
  const page = await api.app.inject('/docs');
  expect(page.statusCode).toBe(200);
  expect(page.headers['content-type']).toContain('text/html');
  const assets = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
  expect(assets.length).toBeGreaterThan(2);
  for (const asset of assets) {
    expect(asset).not.toMatch(/^(https?:)?\/\//);
    const response = await api.app.inject(new URL(asset, 'http://localhost/docs/').pathname);
    expect([asset, response.statusCode]).toEqual([asset, 200]);
  }
});
