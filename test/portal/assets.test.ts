import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { AssetRecord } from '../../api/program-assets/schemas.ts';
import { escapeHtml } from '../../core/text/html.ts';
import { deleteUnusedPictures } from '../../sql/bio/pictures.ts';
import { buildWeb } from '../../web/build.ts';
import type { Visitor } from '../support/affiliates.ts';
import type { Answer, ErrorBody, TestApi, TestWorkspace } from '../support/api.ts';
import { openProgram, portalBrowser } from '../support/portal.ts';
import { type PortalBench, portalBench } from '../support/portal-bench.ts';
import { plainPng } from '../support/scanned-images.ts';

let bench: PortalBench;
let api: TestApi;
let shop: TestWorkspace;
let people: PortalBench['people'];
beforeAll(async () => {
  await buildWeb();
  bench = await portalBench({
    blockedDomains: {
      blocks: (url) => new URL(url).hostname === 'blocked.example',
      listen: () => undefined,
      close: () => undefined,
    },
  });
  ({ api, people } = bench);
});
beforeEach(async () => {
  shop = await api.addWorkspace({ name: 'Corner Shop' });
});
afterAll(() => bench.close());

type Uploaded = { url: string } & ErrorBody;
const upload = (content: Buffer | string, workspace = shop, type = 'image/png') =>
  workspace.call<Uploaded>('POST', '/assets/pictures', { headers: { 'content-type': type }, body: content });
const picture = async (workspace = shop, red = 200) =>
  (await upload(plainPng(120, 60, [red, 30, 30, 255]), workspace)).body.url;
const add = (body: object, workspace = shop) =>
  workspace.post<AssetRecord & Partial<ErrorBody>>('/assets', body);
const list = async (query = '', workspace = shop) =>
  (await workspace.get<{ assets: AssetRecord[] }>(`/assets${query}`)).body.assets;
const faultsOf = ({ body }: Answer<Partial<ErrorBody>>) =>
  Object.fromEntries((body.error?.details ?? []).map(({ path, message }) => [path, message]));
const fileOf = (code: string, id: string) => `/p/${code}/assets/${id}`;
const bytes = (browser: Visitor, path: string, headers = {}) => browser.page(path, headers);

test('affiliates see, copy, and download what their program gives them', async () => {
  const one = await people.affiliate(shop);
  const program_id = one.program.id;
  const image_url = await picture();
  const image = await add({ program_id, type: 'image', name: 'Banner “hälsa” / 1', image_url });
  expect([image.status, image.body]).toMatchObject([
    201,
    { type: 'image', image: { url: image_url, width: 120, height: 60 }, text: null, url: null },
  ]);
  await add({ program_id, type: 'text', name: 'Post', text: 'Two lines,\n<b>bold</b> & "quoted"' });
  await add({ program_id, type: 'link', name: 'Guide', url: 'https://shop.example/brand?a=1&b="2"' });
  const browser = await people.signedIn(one);
  const page = (await browser.page(`/p/${one.program.code}`)).body;
  for (const shown of [
    fileOf(one.program.code, image.body.id),
    '120 × 60',
    `data-copy="${escapeHtml('Two lines,\n<b>bold</b> & "quoted"')}"`,
    'href="https://shop.example/brand?a=1&#38;b=%222%22" target="_blank" rel="noopener noreferrer"',
  ])
    expect(page).toContain(shown);
  expect(page).not.toContain('<b>');
  const file = await bytes(browser, fileOf(one.program.code, image.body.id));
  expect(file.headers).toMatchObject({
    'content-type': 'image/webp',
    'content-disposition':
      'attachment; filename="Banner -h_lsa- - 1.webp"; filename*=UTF-8\'\'Banner%20-h%C3%A4lsa-%20-%201.webp',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cache-control': 'private, no-cache',
  });
  expect((await sharp(file.rawPayload).metadata()).width).toBe(120);
  const known = { 'if-none-match': String(file.headers.etag) };
  expect((await bytes(browser, fileOf(one.program.code, image.body.id), known)).statusCode).toBe(304);

  expect((await list(`?program_id=${program_id}`)).map(({ name }) => name)).toEqual([
    'Guide',
    'Post',
    'Banner “hälsa” / 1',
  ]);
  expect((await list('?type=text')).map(({ text }) => text)).toEqual(['Two lines,\n<b>bold</b> & "quoted"']);
  expect((await shop.delete(`/assets/${image.body.id}`)).status).toBe(200);
  expect((await shop.delete(`/assets/${image.body.id}`)).status).toBe(404);
  expect((await bytes(browser, fileOf(one.program.code, image.body.id))).statusCode).toBe(404);
});

test('nobody but an affiliate of the program sees an asset', async () => {
  const mine = await people.affiliate(shop);
  const other = await api.addWorkspace();
  const theirs = await people.affiliate(other);
  const sister = await openProgram(shop);
  const ofSister = await add({
    program_id: sister.id,
    type: 'image',
    name: 'Sister only',
    image_url: await picture(),
  });
  const ofOther = await add(
    { program_id: theirs.program.id, type: 'image', name: 'Theirs only', image_url: await picture(other, 9) },
    other,
  );
  const browser = await people.signedIn(mine);
  const page = await browser.page(`/p/${mine.program.code}`);
  expect(page.body).not.toMatch(/Sister only|Theirs only/);
  for (const code of [mine.program.code, sister.code, theirs.program.code])
    for (const id of [ofSister.body.id, ofOther.body.id, 'x', "' OR 1=1"]) {
      const path = fileOf(code, encodeURIComponent(id));
      expect([path, (await bytes(browser, path)).statusCode]).toEqual([path, 404]);
    }
  const theirBrowser = await people.signedIn(theirs);
  const path = fileOf(theirs.program.code, ofOther.body.id);
  expect((await bytes(theirBrowser, path)).statusCode).toBe(200);
  expect((await bytes(portalBrowser(api), path)).statusCode).toBe(404);
  await theirBrowser.post('/portal/sign-out', {});
  expect((await bytes(theirBrowser, path)).statusCode).toBe(404);
  // An address of a picture is no way to another workspace's.
  const stolen = await add({
    program_id: mine.program.id,
    type: 'image',
    name: 'Stolen',
    image_url: await picture(other, 9),
  });
  expect([stolen.status, Object.keys(faultsOf(stolen))]).toEqual([400, ['image_url']]);
});

test('nothing that a browser runs is stored, whatever its name and type say', async () => {
  const program = await openProgram(shop);
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  // A picture with a page behind it: only its pixels remain.
  const polyglot = Buffer.concat([plainPng(8, 8, [1, 2, 3, 255]), Buffer.from('<script>alert(1)</script>')]);
  for (const [content, type] of [
    [svg, 'image/svg+xml'],
    [svg, 'image/png'],
    ['<!doctype html><script>alert(1)</script>', 'image/jpeg'],
    ['%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj', 'image/webp'],
  ] as const) {
    const answer = await upload(content, shop, type);
    expect([answer.status, faultsOf(answer)]).toEqual([
      400,
      { body: 'must be a whole JPEG, PNG, WebP, GIF, or AVIF picture' },
    ]);
  }
  const kept = await upload(polyglot, shop, 'text/html');
  expect(kept.status).toBe(201);
  const { rows } = await api.stores.pool.query<{ content: Buffer }>(
    'SELECT content FROM pictures WHERE workspace_id = $1',
    [shop.workspace.id],
  );
  expect(rows.map(({ content }) => content.includes('script'))).toEqual([false]);
  expect((await upload(Buffer.alloc(10 * 1_048_576 + 1))).status).toBe(413);

  const link = { program_id: program.id, type: 'link', name: 'N' };
  for (const url of [
    'javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    ' https://a.example',
    'https://user:secret@a.example/',
    'https://blocked.example/',
    'a.example',
    `https://a.example/${'x'.repeat(2_000)}`,
  ]) {
    const answer = await add({ ...link, url });
    expect([url, answer.status, Object.keys(faultsOf(answer))]).toEqual([url, 400, ['url']]);
  }
});

test('a wrong field is named', async () => {
  const { id: program_id } = await openProgram(shop);
  const other = await api.addWorkspace();
  const text = { program_id, type: 'text', name: 'N', text: 'T' };
  for (const [change, path] of [
    [{ type: 'file' }, 'type'],
    [{ name: ' ' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ text: '' }, 'text'],
    [{ text: undefined }, 'text'],
    [{ text: 'a\u0007' }, 'text'],
    [{ text: 'x'.repeat(10_001) }, 'text'],
    [{ url: 'https://a.example/' }, 'url'],
    [{ type: 'image', text: undefined, image_url: 'https://elsewhere.example/a.png' }, 'image_url'],
    [
      { type: 'image', text: undefined, image_url: `https://hop.example/assets/${'a'.repeat(64)}.jpg` },
      'image_url',
    ],
    [{ program_id: 'x' }, 'program_id'],
  ] as const) {
    const answer = await add({ ...text, ...change });
    expect([change, answer.status, Object.keys(faultsOf(answer))]).toEqual([change, 400, [path]]);
  }
  expect((await add({ ...text, program_id: (await openProgram(other)).id })).status).toBe(404);
  for (const query of ['?type=file', '?program_id=x', '?cursor=x', '?limit=0'])
    expect((await shop.get(`/assets${query}`)).status).toBe(400);
});

test('a program has a hundred assets, also when they are added together', async () => {
  const { id: program_id } = await openProgram(shop);
  const text = (n: number) => add({ program_id, type: 'text', name: `N ${n}`, text: 'T' });
  const statuses: number[] = [];
  for (let n = 0; n < 98; n += 1) statuses.push((await text(n)).status);
  expect(new Set(statuses)).toEqual(new Set([201]));
  const last = await Promise.all([98, 99, 100, 101].map(text));
  expect(last.map(({ status }) => status).toSorted()).toEqual([201, 201, 409, 409]);
  const [refused] = last.filter(({ status }) => status === 409);
  expect(refused && faultsOf(refused)).toEqual({
    program_id: 'has 100 assets, the most: delete one first',
  });
});

test('the picture of an asset stays, and goes a day after the last asset that had it', async () => {
  const { id: program_id } = await openProgram(shop);
  const image_url = await picture();
  const { id } = (await add({ program_id, type: 'image', name: 'N', image_url })).body;
  const age = () =>
    api.stores.pool.query(
      "UPDATE pictures SET used_at = now() - interval '25 hours' WHERE workspace_id = $1",
      [shop.workspace.id],
    );
  const count = async () => {
    await age();
    await deleteUnusedPictures(api.stores.pool, 500);
    const { rowCount } = await api.stores.pool.query('SELECT FROM pictures WHERE workspace_id = $1', [
      shop.workspace.id,
    ]);
    return rowCount;
  };
  expect(await count()).toBe(1);
  await shop.delete(`/assets/${id}`);
  expect(await count()).toBe(0);
});
