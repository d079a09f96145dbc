import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { NAME, NAME_OR_EMPTY } from '../schemas.ts';

let api: TestApi;
let shop: TestWorkspace;

beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace();
  const program = { name: 'Friends', code: 'friends', destination_url: 'https://shop.example/' };
  expect((await shop.post('/programs', program)).status).toBe(201);
});
afterAll(() => api.close());

test.each([
  '\u001b[2J',
  'a\nb',
  '\u0007',
  '\u009b1m',
  '\u007f',
  ' ',
  '\u200b',
  '\u00a0\ufeff',
  '\u2800\u3164',
])('%j is refused in every name', async (name) => {
  const url = 'https://shop.example/';
  const user = { email: 'a@mail.example', external_user_id: 'a', tier: 'free' };
  for (const [path, body] of [
    ['/links', { destination_url: url, smart: true, name }],
    ['/folders', { name }],
    ['/programs', { name, code: 'other', destination_url: url }],
    ['/referrals/enroll', { ...user, name }],
  ] as const) {
    const { status, body: answer } = await shop.post(path, body);
    const [detail] = answer.error.details ?? [];
    expect([path, status, detail]).toEqual([
      path,
      400,
      { path: 'name', message: 'must not be blank or contain control characters' },
    ]);
  }
});

test('a reason or a note that is only white space is refused', async () => {
  const id = crypto.randomUUID();
  for (const [path, body, field] of [
    ['/commissions', { external_user_id: 'a', amount: 1, note: ' ' }, 'note'],
    ['/credits/1/revoke', { reason: '\u00a0\n' }, 'reason'],
    [`/payouts/${id}/lines/${id}/fail`, { reason: '\t' }, 'reason'],
  ] as const) {
    const { status, body: answer } = await shop.post(path, body);
    expect([path, status, answer.error.details]).toEqual([
      path,
      400,
      [{ path: field, message: 'must not be blank' }],
    ]);
  }
});

type Schema = {
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  type?: unknown;
  pattern?: string;
};
type Document = {
  paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: Schema }> } }>>;
  components: { schemas: Record<string, Schema> };
};

/** Texts of a public page, which are shown in HTML alone, and the name of a query parameter. */
const OF_PAGES = /^(Create|Update|Preview)BioPage\.title$|^BioButtonInput\.label$|^RuleCondition\.name$/;

test('every name, label and title of a body is one line and not blank, but for those of public pages', async () => {
  const seen = new Set<string>();
  const wrong: string[] = [];
  const look = (schema: Schema, name: string, { components }: Document): void => {
    const title = schema.$ref?.split('/').at(-1);
    if (title !== undefined) {
      if (!seen.has(title)) {
        seen.add(title);
        look(components.schemas[title] ?? {}, title, { paths: {}, components });
      }
      return;
    }
    for (const [field, inner] of Object.entries(schema.properties ?? {})) {
      const path = `${name}.${field}`;
      const isName =
        /^(name|label|title)$/.test(field) && inner.$ref === undefined && inner.properties === undefined;
      if (isName && ![NAME, NAME_OR_EMPTY].includes(inner.pattern ?? '') && !OF_PAGES.test(path))
        wrong.push(path);
      look(inner, path, { paths: {}, components });
    }
    if (schema.items) look(schema.items, `${name}[]`, { paths: {}, components });
  };
  for (const path of ['/openapi.json', '/console-openapi.json']) {
    const document = (await shop.get<Document>(path)).body;
    for (const [url, methods] of Object.entries(document.paths)) {
      for (const [method, { requestBody }] of Object.entries(methods)) {
        const schema = requestBody?.content['application/json']?.schema;
        if (schema) look(schema, `${method} ${url}`, document);
      }
    }
  }
  expect(seen.size).toBeGreaterThan(20);
  expect(wrong).toEqual([]);
});

test('a workspace keeps its name where the new one has control characters, or is blank', async () => {
  for (const name of ['a\u001b[2J', '  ']) {
    const { status, body } = await shop.patch('/workspace', { name });
    expect([name, status, body.error.details?.[0]?.path]).toEqual([name, 400, 'name']);
  }
  expect((await shop.patch<{ name: string }>('/workspace', { name: ' Shop ' })).body.name).toBe('Shop');
});
