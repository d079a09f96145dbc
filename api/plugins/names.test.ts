import { expect } from 'vitest';
import { DIMENSIONS } from '../../core/analytics/dimensions.ts';
import { createPartner } from '../../sql/workspaces/partners.ts';
import { sharedShopTest as test } from '../../test/support/fixtures.ts';
import { NAME, NAME_OR_EMPTY, SHOWN_PATTERNS } from '../schemas.ts';

let partnerKey: string;

test.beforeAll(async ({ api, shop }) => {
  partnerKey = (await createPartner(api.stores.pool, 'Platform')).token;
  const program = { name: 'Friends', code: 'friends', destination_url: 'https://shop.example/' };
  expect((await shop.post('/programs', program)).status).toBe(201);
});

test.for([
  '\u001b[2J',
  'a\nb',
  '\u0007',
  '\u009b1m',
  '\u007f',
  ' ',
  '\u200b',
  '\u00a0\ufeff',
  '\u2800\u3164',
  '\u{e0001}',
  '\u{1d173}\u{1d159}',
  '\u0301\u0308',
])('%j is refused in every name', async (name, { shop }) => {
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

test('an id, a tag or a label of nothing but invisible characters is refused by its name', async ({
  shop,
}) => {
  const url = 'https://shop.example/';
  const id = crypto.randomUUID();
  const user = { email: 'a@mail.example', external_user_id: 'a', tier: 'free' };
  const link = { destination_url: url, smart: true, name: 'Sale' };
  const program = { name: 'Friends', code: 'other', destination_url: url };
  const purchase = { external_user_id: 'a', order_id: '1', amount: 1 };
  const order = { order_id: '1', amount: 1, external_user_id: 'a' };
  const button = { label: 'Shop', url };
  const board = { name: 'Board', scope: { type: 'tag', values: ['sale'] } };
  for (const text of [' ', '\t', '\u00a0', '\u00ad', '\u200b', '\u2800', '\ufeff', '\u{e0001}', '\u0301']) {
    for (const [path, body, field] of [
      ['/referrals/enroll', { ...user, external_user_id: text }, 'external_user_id'],
      ['/referrals/enroll', { ...user, device_id: text }, 'device_id'],
      ['/referrals/report-signup', { new_user_external_user_id: text }, 'new_user_external_user_id'],
      ['/referrals/report-purchase', { ...purchase, order_id: text }, 'order_id'],
      ['/referrals/report-refund', { refund_id: text, order_id: '1' }, 'refund_id'],
      ['/referrals/report-refund', { refund_id: '1', order_id: text }, 'order_id'],
      ['/track/identify', { external_user_id: text }, 'external_user_id'],
      ['/track/order', { ...order, order_id: text }, 'order_id'],
      ['/links', { ...link, external_id: text }, 'external_id'],
      ['/links', { ...link, tags: ['sale', text] }, 'tags.1'],
      ['/links', { ...link, utm_campaign: text }, 'utm_campaign'],
      ['/programs', { ...program, credit_kind: text }, 'credit_kind'],
      ['/bio-pages', { slug: 'me-too', external_id: text }, 'external_id'],
      ['/bio-pages', { slug: 'me-too', title: text }, 'title'],
      ['/bio-pages', { slug: 'me-too', links: [{ ...button, label: text }] }, 'links.0.label'],
      ['/shared-dashboards', { ...board, scope: { type: 'tag', values: [text] } }, 'scope.values.0'],
      [
        '/commissions',
        { external_user_id: text, amount: 1, note: 'Thanks', program_id: id },
        'external_user_id',
      ],
    ] as const) {
      const { status, body: answer } = await shop.post(path, body);
      const [detail] = answer.error?.details ?? [];
      expect([path, text, status, detail]).toEqual([
        path,
        text,
        400,
        { path: field, message: 'must not be blank' },
      ]);
    }
    const stats = await shop.get(`/referrals/stats?external_user_id=${encodeURIComponent(text)}`);
    expect([text, stats.status]).toEqual([text, 400]);
  }
  const rows = [
    { destination_url: url, name: 'Sale', slug: 'blank-tag', smart: true, tags: ['\u200b'] },
    { destination_url: url, name: 'Sale', slug: 'blank-id', smart: true, external_id: '\u200b' },
  ];
  const imported = await shop.post<{ created: number; errors: { field: string }[] }>('/links/import', {
    text: JSON.stringify(rows),
    dry_run: true,
  });
  expect([imported.body.created, imported.body.errors]).toMatchObject([
    0,
    [{ field: 'tags.0' }, { field: 'external_id' }],
  ]);
});

test('a reason or a note that is only white space is refused', async ({ shop }) => {
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
  format?: string;
  enum?: unknown[];
  pattern?: string;
};
type Operation = {
  parameters?: { in: string; name: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

const NAMES = new Set([SHOWN_PATTERNS[NAME], SHOWN_PATTERNS[NAME_OR_EMPTY]]);

/** Texts of a public page, which are shown in HTML only, and the names of a query parameter and of an answer. */
const OF_PAGES =
  /^(Create|Update|Preview)BioPage\.title$|^BioButtonInput\.label$|^RuleCondition\.name$|^PortalFieldInput\.name$/;

test('every name, label and title of a body is one line and not blank, but for those of public pages', async ({
  shop,
}) => {
  const seen = new Set<string>();
  const wrong: string[] = [];
  const look = (schema: Schema, name: string, { components }: Document): void => {
    const named = (one: Schema) => components.schemas[one.$ref?.split('/').at(-1) ?? ''];
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
      const text = named(inner) ?? inner;
      const isName = /^(name|label|title)$/.test(field) && text.properties === undefined;
      if (isName && !NAMES.has(text.pattern) && !OF_PAGES.test(path)) wrong.push(path);
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

/** Texts of an address that may be blank: what the handler normalizes, parses or looks up. */
const MAY_BE_BLANK = new Set([
  ...['filters', 'cursor', 'before', 'since', 'since_after', 'time_zone', 'color', 'background', 'folder_id'],
  ...['user_hash', 'slug of /bio-pages/availability', 'id of /bio-pages/{id}', 'id of /bio-pages/{id}/stats'],
  ...['token of /shared/{token}', 'token of /shared/{token}/unlock', 'token of /shared/{token}/query'],
]);
/** A filter of clicks finds what visitors sent. */
const isClickFilter = (path: string, name: string) =>
  /^\/clicks(\/export|\/live)?$/.test(path) &&
  DIMENSIONS.some((one) => name === one || name === `not_${one}`);
const UNSEEN = [' ', '\t', '\u00a0', '\u00ad', '\u200b', '\u2800', '\ufeff', '\u0301'];

test('a filter, a search or an id of an address that shows nothing is refused, also by the document', async ({
  shop,
}) => {
  const document = (await shop.get<Document>('/openapi.json')).body;
  const taken: string[] = [];
  let tried = 0;
  for (const [url, methods] of Object.entries(document.paths)) {
    for (const [method, { parameters = [] }] of Object.entries(methods)) {
      for (const { in: place, name, schema } of parameters) {
        const text = document.components.schemas[schema.$ref?.split('/').at(-1) ?? ''] ?? schema;
        const isText = text.type === 'string' && text.format === undefined && text.enum === undefined;
        const path = url.slice('/api/v1'.length);
        if (place === 'header' || !isText || isClickFilter(path, name)) continue;
        if (MAY_BE_BLANK.has(name) || MAY_BE_BLANK.has(`${name} of ${path}`)) continue;
        tried += 1;
        for (const unseen of UNSEEN) {
          if (new RegExp(text.pattern ?? '').test(unseen)) taken.push(`${name} of ${path}: ${text.pattern}`);
          const query = place === 'query' ? `?${name}=${encodeURIComponent(unseen)}` : '';
          const target = path.replace(/\{(\w+)\}/g, (_, part) =>
            part === name ? encodeURIComponent(unseen) : crypto.randomUUID(),
          );
          const key = path.startsWith('/partner') ? partnerKey : shop.secretKey;
          const { status, body } = await shop.call(method.toUpperCase() as 'GET', target + query, { key });
          const details = body.error?.details?.map((detail) => detail.path);
          if (status !== 400 || !details?.includes(name))
            taken.push(`${method} ${target}${query}: ${status}`);
        }
      }
    }
  }
  expect(taken).toEqual([]);
  expect(tried).toBeGreaterThan(25);
});

test('a workspace keeps its name where the new one has control characters, or is blank', async ({ shop }) => {
  for (const name of ['a\u001b[2J', '  ']) {
    const { status, body } = await shop.patch('/workspace', { name });
    expect([name, status, body.error.details?.[0]?.path]).toEqual([name, 400, 'name']);
  }
  expect((await shop.patch<{ name: string }>('/workspace', { name: ' Shop ' })).body.name).toBe('Shop');
});
