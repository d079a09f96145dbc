import { crc32 } from 'node:zlib';
import { Registry } from 'prom-client';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { picturesOf } from '../../../core/bio/pictures.ts';
import {
  type Answer,
  type ErrorBody,
  type TestApi,
  type TestWorkspace,
  testApi,
} from '../../../test/support/api.ts';
import { bioPage, changeBioPage, makeBioPage } from '../../../test/support/bio.ts';
import { startTestIngest, type TestIngest } from '../../../test/support/ingest.ts';
import { pruneOld } from '../../../workers/jobs/prune.ts';
import { createWorkerMetrics } from '../../../workers/metrics.ts';

type Uploaded = { url: string; width: number; height: number; bytes: number };

const MIB = 1_048_576;

let api: TestApi;
let shop: TestWorkspace;
let ingest: TestIngest;

beforeAll(async () => {
  api = await testApi(({ config }) => ({ config: { ...config, picturesPerWorkspaceBytes: 0.2 * MIB } }));
  shop = await api.addWorkspace();
  ingest = await startTestIngest({ ...api.stores, env: { SHORT_URL: 'https://hop.example' } });
});
afterAll(async () => {
  await ingest.close();
  await ingest.remove();
  await api.close();
});

const upload = (picture: Uint8Array | string, workspace = shop, type = 'image/png') =>
  workspace.call<Uploaded & ErrorBody>('POST', '/bio-pages/pictures', {
    headers: { 'content-type': type },
    body: typeof picture === 'string' ? picture : Buffer.from(picture),
  });

/** A picture of one color: red, green, blue, and opacity. */
const plain = (width: number, height: number, [r = 0, g = 0, b = 0, alpha]: number[]) =>
  sharp({
    create: {
      width,
      height,
      channels: alpha === undefined ? 3 : 4,
      background: { r, g, b, alpha: alpha ?? 1 },
    },
  });

const detailOf = ({ body }: Answer<Partial<ErrorBody>>) => body.error?.details?.[0];
const pathOf = (url: string) => new URL(url).pathname;
const served = (path: string, init: RequestInit = {}) =>
  fetch(`${ingest.url}${path}`, { redirect: 'manual', ...init });
const prune = () => pruneOld({ pool: api.stores.pool, metrics: createWorkerMetrics(new Registry()) });
const age = (url: string) =>
  api.stores.pool.query("UPDATE pictures SET used_at = now() - interval '25 hours' WHERE name = $1", [
    pathOf(url).replace('/assets/', ''),
  ]);

test('a photo is turned upright, scaled down, and stripped of its metadata', async () => {
  const photo = await plain(3_000, 2_000, [200, 30, 30])
    .withMetadata({ orientation: 6 })
    .withExifMerge({ IFD0: { Copyright: 'Ada' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
    .jpeg()
    .toBuffer();
  expect((await sharp(photo).metadata()).exif).toBeDefined();
  const { status, body } = await upload(photo);
  expect([status, body.width, body.height]).toEqual([201, 1_067, 1_600]);
  expect(body.url).toMatch(/^https:\/\/hop\.example\/assets\/[0-9a-f]{64}\.jpg$/);
  const response = await served(pathOf(body.url));
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(bytes.length).toBe(body.bytes);
  const { format, exif, icc, xmp, width } = await sharp(bytes).metadata();
  expect([format, exif, icc, xmp, width]).toEqual(['jpeg', undefined, undefined, undefined, 1_067]);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'image/jpeg',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
  });
});

test('a picture that may be transparent stays so, and the same picture has one address', async () => {
  const logo = await plain(20, 20, [0, 90, 0, 0.5]).png().toBuffer();
  const first = await upload(logo);
  const again = await upload(logo);
  expect([first.status, again.status]).toEqual([201, 200]);
  expect(again.body).toEqual(first.body);
  const head = await served(pathOf(first.body.url), { method: 'HEAD' });
  expect([head.status, head.headers.get('content-type')]).toEqual([200, 'image/webp']);
  const known = { headers: { 'if-none-match': head.headers.get('etag') ?? '' } };
  expect((await served(pathOf(first.body.url), known)).status).toBe(304);
});

test('the type is that of the content, whatever the header says', async () => {
  const gif = await plain(4, 4, [0, 0, 200]).gif().toBuffer();
  expect((await upload(gif, shop, 'text/html')).status).toBe(201);
  const wrong = [
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>',
    '<!doctype html><script>alert(1)</script>',
    '%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj',
    gif.subarray(0, 12),
    (await plain(600, 600, [1, 2, 3]).jpeg().toBuffer()).subarray(0, 400),
    await plain(4, 4, [0, 0, 0]).tiff().toBuffer(),
  ];
  for (const picture of wrong) {
    const answer = await upload(picture, shop, 'image/png');
    expect([answer.status, detailOf(answer)], answer.text).toEqual([
      400,
      { path: 'body', message: 'must be a whole JPEG, PNG, WebP, GIF, or AVIF picture' },
    ]);
  }
  expect(detailOf(await upload(''))?.message).toBe('must be the bytes of a picture');
});

test('a picture of too many bytes or pixels, and one over the workspace’s quota, is refused with the limit', async () => {
  const large = await upload(Buffer.alloc(5 * MIB + 1));
  expect([large.status, large.text]).toEqual([413, expect.stringContaining('at most 5 MiB')]);
  const wide = declaring(8_000, 7_000, await plain(4, 4, [9, 9, 9]).png().toBuffer());
  expect(detailOf(await upload(wide))?.message).toBe('must be a picture of at most 50 million pixels');

  const full = await api.addWorkspace();
  const noise = (seed: number) =>
    sharp(noiseOf(seed, 3 * 300 * 300), { raw: { width: 300, height: 300, channels: 3 } })
      .png()
      .toBuffer();
  let last = await upload(await noise(1), full);
  for (let n = 2; last.status === 201 && n < 20; n++) last = await upload(await noise(n), full);
  expect(last.status).toBe(409);
  expect(detailOf(last)).toMatchObject({
    path: 'body',
    message: expect.stringMatching(/^takes 0\.\d MiB, and .* take 0\.\d of 0\.2 MiB/),
  });
  expect((await upload(await noise(1), full)).status).toBe(200);
});

test('pages show uploaded pictures in every place, also when the public address changes', async () => {
  const urls: string[] = [];
  for (const n of [1, 2, 3, 4]) {
    urls.push(
      (
        await upload(
          await plain(8, 8 + n, [0, 0, 0])
            .png()
            .toBuffer(),
        )
      ).body.url,
    );
  }
  const [avatar_url = '', image_url = '', canvasValue = '', footerImage = ''] = urls;
  const page = await makeBioPage(shop, 'pictured', {
    avatar_url,
    links: [{ id: 'a', label: 'A', url: 'https://a.example/', image_url }],
    theme: { canvasMode: 'image', canvasValue, footerImage },
  });
  expect(page).toMatchObject({ avatar_url, theme: { canvasValue, footerImage }, links: [{ image_url }] });
  expect(await bioPage(shop, 'pictured')).toMatchObject({ avatar_url, links: [{ image_url }] });
  const text = async (at: TestIngest) => (await fetch(`${at.url}/pictured`)).text();
  const there = await text(ingest);
  for (const url of urls) expect(there).toContain(url);
  const elsewhere = await startTestIngest({ ...api.stores, env: { SHORT_URL: 'https://new.example' } });
  const moved = await text(elsewhere);
  for (const url of urls) expect(moved).toContain(url.replace('hop.example', 'new.example'));
  await elsewhere.close();
  await elsewhere.remove();
  const preview = await shop.post('/bio-pages/preview', { avatar_url });
  expect(preview.text).toContain(`src="${avatar_url}"`);
});

test('a page takes no picture that its workspace has not uploaded', async () => {
  const other = await api.addWorkspace();
  const { url } = (await upload(await plain(6, 6, [0, 7, 0]).png().toBuffer(), other)).body;
  const fields = {
    avatar_url: url,
    theme: { footerImage: url },
    links: [{ label: 'A', url: 'https://a.example/' }],
  };
  const answer = await shop.post('/bio-pages', { slug: 'strange', ...fields });
  expect([answer.status, detailOf(answer)]).toEqual([
    400,
    { path: 'avatar_url', message: 'must be a picture of the workspace: upload it again' },
  ]);
});

test('a picture that no page uses for a day is deleted; one in use stays', async () => {
  const urls: string[] = [];
  for (const n of [1, 2, 3, 4, 5]) {
    urls.push(
      (
        await upload(
          await plain(9, 9 + n, [0, 0, 0])
            .png()
            .toBuffer(),
        )
      ).body.url,
    );
  }
  const [avatar_url = '', image_url = '', footerImage = '', unused = '', fresh = ''] = urls;
  await makeBioPage(shop, 'kept', {
    avatar_url,
    theme: { footerImage },
    links: [{ label: 'A', url: 'https://a.example/', image_url }],
  });
  for (const url of [avatar_url, image_url, footerImage, unused]) await age(url);
  expect(await prune()).toBe(false);
  const statuses = async () => Promise.all(urls.map(async (url) => (await served(pathOf(url))).status));
  expect(await statuses()).toEqual([200, 200, 200, 404, 200]);
  const gone = await changeBioPage(shop, 'kept', { title: 'Kept' });
  expect(gone.avatar_url).toBe(avatar_url);
  await shop.delete('/bio-pages/kept');
  for (const url of [avatar_url, fresh]) await age(url);
  await prune();
  const { rows } = await api.stores.pool.query<{ name: string }>(
    'SELECT name FROM pictures WHERE name = ANY ($1)',
    [urls.map((url) => pathOf(url).replace('/assets/', ''))],
  );
  expect(rows).toHaveLength(2);
});

test('pictures of a suspended workspace are not found', async () => {
  const banned = await api.addWorkspace();
  const { url } = (await upload(await plain(7, 7, [1, 1, 1]).png().toBuffer(), banned)).body;
  await api.stores.pool.query('UPDATE workspaces SET suspended_at = now() WHERE id = $1', [
    banned.workspace.id,
  ]);
  expect((await served(pathOf(url))).status).toBe(404);
});

test('the database refuses other bytes under a picture’s name', async () => {
  const { url } = (await upload(await plain(5, 5, [3, 3, 3]).png().toBuffer())).body;
  const changed = api.stores.pool.query("UPDATE pictures SET content = '\\x00' WHERE name = $1", [
    pathOf(url).replace('/assets/', ''),
  ]);
  await expect(changed).rejects.toThrow('violates check constraint');
});

test('a page names each field of its pictures', () => {
  const name = `${'a'.repeat(64)}.jpg`;
  const other = `${'b'.repeat(64)}.webp`;
  const found = picturesOf({
    avatar_url: 'https://img.example/a.png',
    theme: { footerImage: `/assets/${name}` },
    buttons: [{ image_url: null }, { image_url: `/assets/${other}` }],
  });
  expect([...found]).toEqual([
    [name, 'theme.footerImage'],
    [other, 'links.1.image_url'],
  ]);
});

/** Returns a PNG whose header declares another size. */
function declaring(width: number, height: number, png: Buffer): Buffer {
  const changed = Buffer.from(png);
  changed.writeUInt32BE(width, 16);
  changed.writeUInt32BE(height, 20);
  changed.writeUInt32BE(crc32(changed.subarray(12, 29)), 29);
  return changed;
}

/** Bytes that do not compress, the same for a seed. */
function noiseOf(seed: number, length: number): Buffer {
  let state = seed;
  return Buffer.from(
    Array.from({ length }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return state >>> 24;
    }),
  );
}
