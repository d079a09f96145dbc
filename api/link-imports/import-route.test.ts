import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { fixturePath } from '../../test/support/link-imports.ts';
import type { LinkRecord } from '../links/schemas.ts';

type Imported = {
  format: string | null;
  unknown_columns: string[];
  created: number;
  waiting: number;
  skipped: number;
  errors: { line: number; index: number; link: string | null; field: string | null; message: string }[];
};

let api: TestApi;
let shop: TestWorkspace;

beforeAll(async () => {
  api = await testApi();
});
beforeEach(async () => {
  // Slugs are the deployment's, and another test's would be in the way.
  await api.stores.pool.query('DELETE FROM links; DELETE FROM destinations; DELETE FROM slugs');
  shop = await api.addWorkspace({ primary_domain: 'shop.example' });
});
afterAll(() => api.close());

async function importText(text: string, more: object = {}): Promise<Imported> {
  const answer = await shop.post<Imported>('/links/import', { text, ...more });
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body;
}

const links = async () =>
  (await shop.get<{ links: LinkRecord[] }>('/links?view=records&limit=500')).body.links.toReversed();

test('creates a link for each row, reports refused rows by line, and skips existing links', async () => {
  const text = [
    'destination_url,name,slug,tags,note',
    'https://shop.example/a,"A,\nin two lines 🐇",one,"x,y",',
    'ftp://shop.example/b,B,two,,',
    'https://else.example/c,C,three,,',
    'https://shop.example/d,D,ONE,,',
  ].join('\r\n');
  expect(await importText(text)).toEqual({
    dry_run: false,
    format: 'Hoplog',
    unknown_columns: ['note'],
    read: 4,
    created: 2,
    waiting: 0,
    skipped: 0,
    errors: [
      {
        line: 4,
        index: 1,
        link: 'two',
        field: 'destination_url',
        message: 'must be a full URL that begins with https://, such as https://shop.example/tea',
      },
      { line: 6, index: 3, link: 'ONE', field: 'slug', message: '"ONE" is taken' },
    ],
  });
  expect(await links()).toMatchObject([
    { slug: 'one', name: 'A, in two lines 🐇', channel: 'other', external: false, tags: ['x', 'y'] },
    { slug: 'three', external: true },
  ]);
  expect(await importText(text)).toMatchObject({ created: 0, skipped: 2, errors: [{}, {}] });
});

test('a quote that is never closed is an error of its line, and every other row is imported', async () => {
  const good = Array.from({ length: 999 }, (_, n) => `https://shop.example/${n},Page ${n},n${n}\n`);
  const text = `destination_url,name,slug\n${good.join('')}"https://shop.example/bad,N,bad\n`;
  const message = expect.stringMatching(/^a quote is not closed/);
  expect(await importText(text)).toMatchObject({
    created: 999,
    skipped: 0,
    errors: [{ line: 1_001, field: null, message }],
  });
}, 120_000);

test.each([
  'bitly.csv',
  'bitly-dashboard.csv',
  'bitly.json',
  'dub.csv',
  'dub.json',
  'kutt.csv',
  'kutt.json',
  'shlink.csv',
  'shlink-import.csv',
  'shlink.json',
  'yourls.csv',
  'yourls-plugin.csv',
])('%s is read as the command reads it', async (name) => {
  const text = await readFile(fixturePath(name), 'utf8');
  const { format, created } = await importText(text, { unproven: 'move' });
  expect(format?.toLowerCase()).toBe(name.split(/[-.]/)[0]);
  expect(created).toBeGreaterThan(0);
});

test('characters beyond 16 bits stay whole wherever the text is cut', async () => {
  const rows = Array.from({ length: 900 }, (_, n) => `https://shop.example/${n},${'🐇'.repeat(99)}${n % 2}`);
  const { created, errors } = await importText(['destination_url,name', ...rows].join('\n'));
  expect([created, errors]).toEqual([900, []]);
  for (const { name } of await links()) expect(name.replaceAll('🐇', '')).toMatch(/^[01]$/);
});

test.each(['👨‍👩‍👧‍👦', 'e\u0301'])('a title is never cut inside of %j', async (character) => {
  // After five characters, the limit of 200 is inside a character.
  const name = `five!${character.repeat(200)}`;
  const row = { domain: 'short.test', key: 'cut', url: 'https://shop.example/cut', title: name };
  const { created } = await importText(JSON.stringify([row]), { unproven: 'move' });
  expect(created).toBe(1);
  const cut = (await links()).find((link) => link.name.startsWith(`five!${character}`))?.name ?? '';
  expect(cut.slice('five!'.length).replaceAll(character, '')).toBe('');
  expect(cut.length).toBeGreaterThan(180);
});

test('a card keeps its texts where its image is none that networks show, and the image is named', async () => {
  for (const image of [
    'http://img.example/a.png',
    'https://img.example/a.svg',
    'data:image/png;base64,AA==',
  ]) {
    const [domain, key] = ['short.test', `card-${image.length}`];
    const row = { domain, key, url: 'https://shop.example/card', proxy: true, title: 'Card', image };
    const { created, errors, unknown_columns } = await importText(JSON.stringify([row]), {
      unproven: 'move',
    });
    expect([image, created, errors, unknown_columns]).toEqual([image, 1, [], ['image']]);
  }
});

test('JSON that nests too deep refuses its row only', async () => {
  const deep = `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  const cell = `"${deep.replaceAll('"', '""')}"`;
  const rows = `https://a.example/,One,reddit,${cell}\nhttps://b.example/,Two,reddit,{}`;
  const csv = await importText(`destination_url,name,channel,metadata\n${rows}`);
  expect(csv).toMatchObject({ created: 1, errors: [{ line: 2 }] });
  const named = `${'{"name":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
  const link = (tags: string) =>
    `{"destination_url":"https://c.example/","name":"C","channel":"reddit","tags":[${tags}]}`;
  const json = await importText(`[\n${link(named)},\n${link('"x"')}]`);
  expect(json).toMatchObject({ created: 1, errors: [{ line: 2 }] });
});

test('JSON that PostgreSQL can not store refuses its row only', async () => {
  const rows = ['"a\\u0000"', '"\\ud800"', '1e999', '{"b\\u0000":1}', '"fine"'].map(
    (value, n) => `https://${n}.example/,N${n},reddit,"${`{"a":${value}}`.replaceAll('"', '""')}"`,
  );
  const csv = await importText(`destination_url,name,channel,metadata\n${rows.join('\n')}`);
  expect(csv).toMatchObject({
    created: 1,
    errors: [2, 3, 4, 5].map((line) => ({ line, field: 'metadata' })),
  });
});

test('columns named like inherited properties of objects are unknown ones', async () => {
  const names = ['__defineGetter__', '__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty'];
  const text = `destination_url,name,${names}\nhttps://shop.example/a,A,1,2,3,4,5,6`;
  expect(await importText(text)).toMatchObject({
    // What is called `__proto__` is dropped wherever text is read.
    unknown_columns: names.filter((name) => name !== '__proto__'),
    created: 1,
    errors: [],
  });
});

test('a JSON object is a row, JSON lines are rows, and other values are refused by line', async () => {
  const link = (slug: string) =>
    `{"destination_url":"https://shop.example/${slug}","name":"A","slug":"${slug}"}`;
  expect(await importText(link('only'))).toMatchObject({ format: 'Hoplog', created: 1, errors: [] });
  const lines = await importText(`${link('one')}\n{"name":"B"}\n5\n${link('two')}\n`);
  expect(lines).toMatchObject({ created: 2, errors: [{ line: 2 }, { line: 3, field: null }] });
  const message = 'must be an object: rows are JSON objects, in an array or one after the other';
  expect(await importText('[1,\n"a"]')).toMatchObject({
    format: null,
    errors: [
      { line: 1, message },
      { line: 2, message },
    ],
  });
  expect((await links()).map(({ slug }) => slug)).toEqual(['only', 'one', 'two']);
});

test('a JSON row with more than 500 fields, or more than 65,536 characters, is refused alone', async () => {
  const row = (slug: string, more: string) =>
    `{"destination_url":"https://shop.example/${slug}","name":"A","slug":"${slug}"${more}}`;
  const fields = (count: number) => Array.from({ length: count }, (_, n) => `,"a${n}":1`).join('');
  const rows = [
    row('many', fields(498)),
    row('few', fields(497)),
    row('long', `,"a":"${'x'.repeat(65_536)}"`),
    row('short', `,"a":"${'x'.repeat(65_000)}"`),
  ];
  expect(await importText(`[${rows.join(',\n')}]`)).toMatchObject({
    created: 2,
    errors: [
      { line: 1, message: 'must have at most 500 fields' },
      { line: 3, message: 'must be at most 65536 characters' },
    ],
  });
  expect((await links()).map(({ slug }) => slug).sort()).toEqual(['few', 'short']);
});

test('rows without a channel get the one that is given, or become Smart Links', async () => {
  const row = (slug: string) => `destination_url,name,slug\nhttps://shop.example,A,${slug}`;
  await importText(row('a'), { channel: 'x' });
  await importText(row('b'), { channel: 'smart' });
  expect((await links()).map((link) => link.channel)).toEqual(['twitter', null]);
});

test('a dry run of a part of a file counts the links of earlier parts toward the plan', async () => {
  const small = await api.addWorkspace({ plan: 'free', primary_domain: 'shop.example' });
  const text = `destination_url,name,slug\n${['a', 'b', 'c'].map((slug) => `https://shop.example/${slug},A,${slug}\n`).join('')}`;
  const check = async (more: object) =>
    (await small.post<Imported>('/links/import', { text, dry_run: true, ...more })).body;
  expect(await check({})).toMatchObject({ created: 3, errors: [] });
  expect(await check({ earlier_links: 22 })).toMatchObject({ created: 3, errors: [] });
  const message = 'the plan allows 25 links';
  expect(await check({ earlier_links: 24 })).toMatchObject({
    created: 1,
    errors: [
      { line: 3, link: 'b', message },
      { line: 4, link: 'c', message },
    ],
  });
  // A real import counts what is there.
  const { body } = await small.post<Imported>('/links/import', { text, earlier_links: 24 });
  expect(body).toMatchObject({ created: 3, errors: [] });
  expect(await check({ earlier_links: 24 })).toMatchObject({ created: 0, skipped: 3, errors: [] });
});

test('a text that is not an export, is empty or has too many rows creates nothing', async () => {
  const many = ['destination_url,name', ...Array(1_001).fill('https://shop.example,A')].join('\n');
  const json = JSON.stringify(Array(1_001).fill({ destination_url: 'https://shop.example', name: 'A' }));
  for (const text of ['a,b\n1,2', 'any text', 'null', '{"a":1}\n{"a":2}', '{}', '', many, json]) {
    const answer = await shop.post('/links/import', { text });
    expect([answer.status, answer.body.error.details?.[0]?.path]).toEqual([400, 'text']);
  }
  const list = 'slug,url\nlisted,https://shop.example/l\n';
  const other = await shop.post('/links/import', { text: list, from: 'dub' });
  expect([other.status, other.body.error.details?.[0]]).toMatchObject([
    400,
    { path: 'from', message: expect.stringMatching(/not an export of Dub: its columns are slug, url/) },
  ]);
  for (const body of [{}, { text: 1 }, { text: 'a', channel: 'myspace' }, { text: list, from: 'fax' }]) {
    expect((await shop.post('/links/import', body)).status).toBe(400);
  }
  expect(await importText('destination_url,name\n')).toEqual({
    dry_run: false,
    format: null,
    unknown_columns: [],
    read: 0,
    created: 0,
    waiting: 0,
    skipped: 0,
    errors: [],
  });
  expect(await links()).toEqual([]);
});

test('an Idempotency-Key replays the response, and an import that failed half-way runs again', async () => {
  const rows = Array.from({ length: 150 }, (_, n) => `https://shop.example/${n},A`);
  const body = { text: ['destination_url,name', ...rows].join('\n') };
  const options = { headers: { 'idempotency-key': 'import' } };
  await api.stores.admin.query(
    `ALTER TABLE destinations ADD CONSTRAINT fails CHECK (destination_url NOT LIKE '%/149')`,
  );
  expect((await shop.post('/links/import', body, options)).status).toBe(500);
  expect(await links()).toEqual([]);
  await api.stores.admin.query('ALTER TABLE destinations DROP CONSTRAINT fails');
  const first = await shop.post('/links/import', body, options);
  expect([first.status, first.body]).toMatchObject([200, { created: 150, errors: [] }]);
  const second = await shop.post('/links/import', body, options);
  expect([second.body, second.headers['idempotent-replayed']]).toEqual([first.body, 'true']);
  expect(await links()).toHaveLength(150);
  const other = await shop.post('/links/import', { text: body.text.replace('149', '150') }, options);
  expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_key_reused']);
});

test('two workspaces that import the same slugs in opposite order each get an outcome for every row', async () => {
  const other = await api.addWorkspace({ primary_domain: 'shop.example' });
  for (let round = 0; round < 4; round++) {
    const rows = Array.from({ length: 220 }, (_, n) => `https://shop.example/${n},A,r${round}-${n}`);
    const text = (lines: string[]) => ['destination_url,name,slug', ...lines].join('\n');
    const answers = await Promise.all([
      shop.post<Imported>('/links/import', { text: text(rows) }),
      other.post<Imported>('/links/import', { text: text(rows.toReversed()) }),
    ]);
    expect(answers.map((answer) => answer.status)).toEqual([200, 200]);
    expect(answers.map(({ body }) => body.created + body.errors.length)).toEqual([220, 220]);
    expect(answers.reduce((sum, { body }) => sum + body.created, 0)).toBe(220);
  }
});

test("the plan's cap of links refuses the rows beyond it", async () => {
  shop = await api.addWorkspace({ plan: 'free' });
  const rows = Array.from({ length: 30 }, (_, n) => `https://shop.example/${n},A`);
  const { created, errors } = await importText(['destination_url,name', ...rows].join('\n'));
  expect(created).toBe(25);
  expect(errors[0]).toMatchObject({ line: 27, field: null, message: 'the plan allows 25 links' });
});
