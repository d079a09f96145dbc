import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { ImportResult } from '../api/link-imports/import-links.ts';
import { makeDomain } from './support/domains.ts';
import { CHECKOUT, hoplog, operator } from './support/hoplog.ts';
import { fixturePath, type ImportTarget, importTarget } from './support/link-imports.ts';
import { type TestStores, testStores } from './support/stores.ts';

const ROWS = 10_000;
/** Characters of a row: the text of all rows and its values together exceed the command's heap. */
const ROW_LENGTH = 4_000;
const HEAP_MIB = 64;

let stores: TestStores;
let target: ImportTarget;
let cli: ReturnType<typeof operator>;
let directory: string;

beforeAll(async () => {
  stores = await testStores();
  await stores.createTables();
  cli = operator(stores);
  directory = mkdtempSync(join(tmpdir(), 'hoplog-import-'));
});
beforeEach(async () => {
  target = await importTarget(stores);
});
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true });
  await stores.close();
});

function written(content: string): string {
  const path = join(directory, 'links.csv');
  writeFileSync(path, content);
  return path;
}

const NOTHING = { dry_run: false, unknown_columns: [], errors: [] };

/** Files of other services name domains of theirs: their links move here. */
const links = (...args: string[]) => [
  'import',
  'links',
  '--workspace',
  target.workspace.slug,
  '--unproven',
  'move',
  ...args,
];

test('import links prints what was created and skipped and every error, and exits with 0', async () => {
  const file = fixturePath('dub.csv');
  const first = await cli.json<ImportResult>(...links(file));
  const error = {
    line: 3,
    index: 1,
    link: 'https://go.shop.example/deep.path',
    field: 'Short link',
    message: expect.stringMatching(/^must be 1 to 64 letters/),
    row: expect.objectContaining({ 'Short link': 'https://go.shop.example/deep.path' }),
  };
  const unknown_columns = ['Clicks', 'Leads', 'Conversions', 'Revenue', 'Link ID', 'Updated at'];
  const fixed = { dry_run: false, waiting: 0, unknown_columns, errors: [error] };
  expect(first).toEqual({ ...fixed, read: 2, created: 1, skipped: 0 });
  expect(await cli.json(...links(file))).toEqual({ ...fixed, read: 2, created: 0, skipped: 1 });
});

test('without --json it prints a table of the errors, and likely mistakes on standard error', async () => {
  const human = await cli.run(...links(fixturePath('dub.csv')));
  expect(human).toMatchObject({ status: 0, stderr: '' });
  expect(human.stdout).toMatch(
    /^read +created +waiting +skipped +errors\n2 +1 +0 +0 +1\n\nline +link +field +error\n3 +\S+deep\.path +Short link +must be 1 to 64/,
  );
  const noted = await cli.run(...links(written('destination_url,name,nmae\nhttps://shop.example/a,A,B\n')));
  expect(noted.stdout).toMatch(/\n\nnot taken over: nmae\n$/);
});

test('a quote that is never closed is an error of its line, and every other row is imported', async () => {
  const good = Array.from({ length: 3_000 }, (_, n) => `https://shop.example/${n},Page ${n},n${n}\n`);
  const bad = '"https://shop.example/bad,N,bad\n';
  const file = written(`destination_url,name,slug\n${good.join('')}${bad}`);
  const { created, errors } = await cli.json<ImportResult>(...links(file));
  expect([created, errors]).toMatchObject([3_000, [{ line: 3_002, field: null }]]);
});

test('--channel applies to rows without a channel', async () => {
  const { created } = await cli.json<ImportResult>(...links('--channel', 'x', fixturePath('shlink.csv')));
  expect(created).toBe(2);
  expect((await target.links()).map((link) => link.channel)).toEqual(['twitter', 'twitter']);
});

test('--append-utm adds UTM parameters to destinations whose rows name none', async () => {
  await cli.json<ImportResult>(...links(fixturePath('dub.csv')));
  await cli.json<ImportResult>(...links('--append-utm', fixturePath('shlink.csv')));
  expect((await target.links()).map((link) => link.append_utm)).toEqual([false, true, true]);
});

test('--domain, --unproven, and --dry-run say where rows go, and what would be done', async () => {
  await makeDomain(stores.pool, target.workspace.id, 'go.cli.example');
  const file = written(
    'domain,key,url\n,plain,https://shop.example/1\nnew.cli.example,named,https://shop.example/2\n',
  );
  const run = (...args: string[]) =>
    cli.json<ImportResult>('import', 'links', '--workspace', target.workspace.slug, ...args, file);
  const dry = await run('--dry-run', '--domain', 'Go.CLI.example');
  expect(dry).toMatchObject({ dry_run: true, created: 1, errors: [{ link: 'named', field: 'domain' }] });
  expect(await target.links()).toEqual([]);
  expect(await run('--domain', 'go.cli.example', '--unproven', 'keep')).toMatchObject({
    dry_run: false,
    created: 2,
    waiting: 1,
    errors: [],
  });
  expect((await target.links()).map(({ domain, slug }) => [domain, slug])).toEqual([
    ['go.cli.example', 'plain'],
    ['new.cli.example', 'named'],
  ]);
  await cli.refused(
    2,
    /--domain else.example: must be a verified domain/,
    ...['import', 'links', '--workspace', target.workspace.slug, '--domain', 'else.example', file],
  );
});

test('--from names the format, and a file that is none of it is an error that says so', async () => {
  const { created } = await cli.json<ImportResult>(...links('--from', 'shlink', fixturePath('shlink.csv')));
  expect(created).toBe(2);
  // A list by its columns, too.
  const file = written('shorturl,url\nlisted,https://shop.example/l\n');
  expect((await cli.json<ImportResult>(...links('--from', 'list', file))).created).toBe(1);
  await cli.refused(
    1,
    /shlink\.csv: not an export of Dub: its columns are createdAt,.*, which is how Shlink writes it/s,
    ...links('--from', 'dub', fixturePath('shlink.csv')),
  );
  await cli.refused(2, /Allowed choices are hoplog, shlink, /, ...links('--from', 'fax', file));
});

test('a file that can not be read, or without any valid row, is a failure', async () => {
  await cli.refused(1, /^hoplog: cannot read .*nowhere.csv: ENOENT/, ...links('nowhere.csv'));
  await cli.refused(1, /no known export has these columns: a, b/, ...links(written('a,b\n1,2\n')));
  await cli.refused(1, /no workspace/, 'import', 'links', '--workspace', 'nowhere', fixturePath('dub.csv'));
  const nothing = await cli.run(...links(written('destination_url,name\nno,No\n')), '--json');
  expect(nothing.status).toBe(1);
  expect(nothing.stderr).toMatch(/no link could be imported from/);
  expect(JSON.parse(nothing.stdout)).toMatchObject({ created: 0, skipped: 0, errors: [{ line: 2 }] });
  const header = await cli.run(...links(written('destination_url,name\n')), '--json');
  expect([header.status, JSON.parse(header.stdout)]).toEqual([
    1,
    { read: 0, created: 0, waiting: 0, skipped: 0, ...NOTHING },
  ]);
});

test('the guide lists the same reasons for rejected rows as the command', async () => {
  const guide = readFileSync(`${CHECKOUT}docs/import.md`, 'utf8').split('## What becomes of a row')[1] ?? '';
  const reasons = [...guide.matchAll(/^\| (`[^|]+`) +\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, reason = '']) => reason),
  );
  const file = written(
    [
      'shortCode,longUrl',
      'AbC,https://shop.example/1',
      'abc,https://shop.example/2',
      'plain,ftp://shop.example/3',
      'q&a,https://shop.example/4',
      'admin,https://shop.example/5',
      '',
    ].join('\n'),
  );
  const { created, errors } = await cli.json<ImportResult>(...links(file));
  expect(created).toBe(1);
  const named = (message: string) =>
    reasons.find((reason) => reason.split(/abc|…/).every((part) => message.includes(part)));
  expect(errors.map(({ line, message }) => [line, named(message)])).toEqual([
    [3, '"abc" is taken'],
    [4, 'must be a full URL that begins with https://'],
    [5, 'must be 1 to 64 letters'],
    [6, 'this slug is reserved'],
  ]);
  expect((await cli.json<ImportResult>(...links(file))).skipped).toBe(1);
});

test(`${ROWS} rows are imported in a heap that could not hold them, and skipped the second time`, {
  tags: 'nightly',
  timeout: 300_000,
}, async () => {
  const note = JSON.stringify({ note: 'x'.repeat(ROW_LENGTH) }).replaceAll('"', '""');
  const rows = Array.from(
    { length: ROWS },
    (_, n) => `https://shop.example/${n},Page ${n},n${n},"${note}"\n`,
  );
  const file = written(`destination_url,name,slug,metadata\n${rows.join('')}`);
  expect((2 * ROWS * ROW_LENGTH) / 2 ** 20).toBeGreaterThan(HEAP_MIB);
  const env = { ...cli.env, NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` };
  const first = await hoplog([...links(file), '--json'], env);
  expect(first).toMatchObject({ status: 0, stderr: '' });
  expect(JSON.parse(first.stdout)).toEqual({ read: ROWS, created: ROWS, waiting: 0, skipped: 0, ...NOTHING });
  const second = await hoplog([...links(file), '--json'], env);
  expect(JSON.parse(second.stdout)).toEqual({
    read: ROWS,
    created: 0,
    waiting: 0,
    skipped: ROWS,
    ...NOTHING,
  });
});
