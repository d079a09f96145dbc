import { expect } from 'vitest';
import { CLICK_FLAGS, type ClickEvent } from '../../core/events/types.ts';
import { bytesToUuid } from '../../core/ids.ts';
import { logoUrl } from '../../core/qr/logo.ts';
import type { TestApi, TestWorkspace } from '../../test/support/api.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { startTestIngest } from '../../test/support/ingest.ts';
import { campaign, createLink } from '../../test/support/links.ts';
import { pixelOf, plainPng, rastered, scannedText } from '../../test/support/scanned-images.ts';
import { visit } from '../../test/support/visitors.ts';
import type { LinkRecord } from './schemas.ts';

let link: LinkRecord;

test.beforeEach(async ({ shop }) => {
  link = (await createLink(shop, campaign({ utm_term: 'poster' }))).first as unknown as LinkRecord;
});

const ORANGE = [230, 110, 0, 255] as const;

/** Requests the code of the link as bytes. */
async function code(api: TestApi, shop: TestWorkspace, query = '') {
  const { statusCode, headers, rawPayload } = await api.app.inject({
    url: `/api/v1/links/${link.id}/qr${query}`,
    headers: { authorization: `Bearer ${shop.secretKey}` },
  });
  return { status: statusCode, headers, body: rawPayload };
}
async function refused(api: TestApi, shop: TestWorkspace, query: string) {
  const { status, body } = await code(api, shop, query);
  const { error } = JSON.parse(body.toString()) as {
    error: { details?: { path: string; message: string }[] };
  };
  return [status, error.details?.[0]?.path];
}

test('the scanned address redirects, is counted as a QR code’s, and does not pass the mark on', async ({
  api,
  shop,
}) => {
  const { status, headers, body } = await code(api, shop, '?format=png');
  expect([status, headers['content-type']]).toEqual([200, 'image/png']);
  const scanned = new URL(scannedText(body) ?? '');
  expect(scanned.href).toBe(`${link.short_url}?qr=1`);
  const ingest = await startTestIngest(api.stores);
  try {
    const { location } = await visit(`${ingest.url}${scanned.pathname}${scanned.search}`);
    expect([...(location?.searchParams.keys() ?? [])]).toEqual([
      'utm_source',
      'utm_medium',
      'utm_campaign',
      'utm_term',
      '_vid',
    ]);
    const clicks = (await ingest.events()).filter(
      (event): event is ClickEvent => event.kind === 'click' && bytesToUuid(event.linkId) === link.id,
    );
    expect(clicks.map(({ flags }) => flags)).toEqual([CLICK_FLAGS.qr]);
  } finally {
    await ingest.close();
    await ingest.remove();
  }
});

test('without parameters it is an SVG of 512 pixels, whose address is in its title', async ({
  api,
  shop,
}) => {
  const { status, headers, body } = await code(api, shop);
  expect([status, headers['content-type']]).toEqual([200, 'image/svg+xml']);
  expect(headers['content-security-policy']).toBe("default-src 'none'; img-src data:");
  expect(headers['cache-control']).toBe('no-store');
  expect(body.toString()).toMatch(/^<svg [^>]*width="512" height="512"/);
  expect(body.toString()).toContain(`<title>QR code that leads to ${link.short_url}?qr=1</title>`);
});

test('size, margin and colors are as asked for', async ({ api, shop }) => {
  const query = '?format=png&size=640&margin=2&color=1a2b3c&background=%23FFEECC';
  const { body } = await code(api, shop, query);
  expect(scannedText(body)).toBe(`${link.short_url}?qr=1`);
  expect([body.readUInt32BE(16), body.readUInt32BE(20)]).toEqual([640, 640]);
  expect(pixelOf(body, 0, 0)).toEqual([255, 238, 204]);
  const svg = (await code(api, shop, query.replace('png', 'svg'))).body.toString();
  expect(svg).toContain('fill="#1a2b3c"');
  expect(svg).toContain('fill="#ffeecc"');
});

test('modules are rounded or dots, and are still scanned', async ({ api, shop }) => {
  for (const shape of ['rounded', 'dots']) {
    const query = `?shape=${shape}&color=1a2b3c&background=ffeecc`;
    const { body } = await code(api, shop, `${query}&format=png`);
    expect([shape, scannedText(body)]).toEqual([shape, `${link.short_url}?qr=1`]);
    expect((await code(api, shop, query)).body.toString()).toContain('geometricPrecision');
    expect(await refused(api, shop, `${query}&size=100`)).toEqual([400, 'size']);
  }
  expect(await refused(api, shop, '?shape=stars')).toEqual([400, 'shape']);
});

test('a PNG says how wide its quiet zone is, which is what whole modules leave', async ({ api, shop }) => {
  for (const size of [512, 777, 1_000]) {
    const { body, headers } = await code(api, shop, `?format=png&margin=0&size=${size}`);
    let blank = 0;
    while (pixelOf(body, blank, blank).join() === '255,255,255') blank++;
    expect([size, headers['x-quiet-zone']]).toEqual([size, String(blank)]);
  }
  expect((await code(api, shop, '')).headers['x-quiet-zone']).toBeUndefined();
});

test('the workspace’s logo is in the middle once it is stored, and the code is still scanned', async ({
  api,
  shop,
}) => {
  expect(await refused(api, shop, '?logo=1')).toEqual([400, 'logo']);
  const logo = logoUrl(plainPng(300, 300, ORANGE));
  const stored = await shop.patch<{ logo: string }>('/workspace', { logo });
  expect([stored.status, stored.body.logo]).toEqual([200, logo]);
  const { body } = await code(api, shop, '?format=png&logo=1&size=600&color=003366');
  expect(scannedText(body)).toBe(`${link.short_url}?qr=1`);
  expect(pixelOf(body, 300, 300)).toEqual([230, 110, 0]);
  const drawn = (await code(api, shop, '?logo=1')).body.toString();
  // Browsers read SVG 2. Tools of print shops read SVG 1.1, whose references have their own namespace.
  expect(drawn).toContain(`<image href="${logo}" xlink:href="${logo}"`);
  expect(drawn).toMatch(/^<svg [^>]*xmlns:xlink="http:\/\/www\.w3\.org\/1999\/xlink"/);
  expect((await code(api, shop, '?logo=0')).body.toString()).not.toContain('<image');
  expect(await refused(api, shop, '?logo=1&level=M')).toEqual([400, 'level']);
  await shop.patch('/workspace', { payout_hold_days: 4 });
  expect((await shop.get<{ logo: string }>('/workspace')).body.logo).toBe(logo);
  expect((await shop.patch<{ logo: null }>('/workspace', { logo: null })).body.logo).toBeNull();
  expect(await refused(api, shop, '?logo=1')).toEqual([400, 'logo']);
});

test('a frame with words of one’s own is around the code, which is still scanned', async ({ api, shop }) => {
  for (const frame of ['line', 'banner', 'bubble']) {
    const query = `?frame=${frame}&frame_text=${encodeURIComponent('Jetzt scannen!')}&size=600`;
    const { body } = await code(api, shop, `${query}&format=png`);
    expect([frame, scannedText(body)]).toEqual([frame, `${link.short_url}?qr=1`]);
    expect([body.readUInt32BE(16), body.readUInt32BE(20) > 650]).toEqual([600, true]);
    const svg = (await code(api, shop, query)).body.toString();
    expect([frame, scannedText(rastered([svg])[0] ?? Buffer.of())]).toEqual([
      frame,
      `${link.short_url}?qr=1`,
    ]);
    // Outlines need no font where the image is printed.
    expect(svg).not.toContain('<text');
    expect(await refused(api, shop, `${query}&margin=1`)).toEqual([400, 'margin']);
  }
});

test('a link keeps how its code looks, with a logo of its own; parameters of an image take its place', async ({
  api,
  shop,
}) => {
  const path = `/links/${link.id}/qr/style`;
  const plain = {
    color: '000000',
    background: 'ffffff',
    shape: 'square',
    frame: 'none',
    frame_text: 'Scan me',
    logo: 'none',
  };
  expect((await shop.get(path)).body).toEqual(plain);
  const logo = logoUrl(plainPng(80, 80, ORANGE));
  const sent = { color: '#1A2B3C', frame: 'banner', frame_text: 'Menü', shape: 'rounded', logo };
  const style = { ...plain, ...sent, color: '1a2b3c' };
  const changed = await shop.patch(path, sent);
  expect([changed.status, changed.body]).toEqual([200, style]);
  expect((await shop.get(path)).body).toEqual(style);

  const { body } = await code(api, shop, '?format=png&size=600');
  expect(scannedText(body)).toBe(`${link.short_url}?qr=1`);
  expect(pixelOf(body, 300, 300)).toEqual([230, 110, 0]);
  expect(body.readUInt32BE(20)).toBeGreaterThan(650);
  const bare = (await code(api, shop, '?format=png&size=600&frame=none&logo=0&color=000000')).body;
  expect([bare.readUInt32BE(20), pixelOf(bare, 300, 300)]).not.toContainEqual([230, 110, 0]);
  expect(bare.readUInt32BE(20)).toBe(600);

  // The workspace's logo, while it has one.
  expect((await shop.patch(path, { logo: 'workspace' })).status).toBe(400);
  await shop.patch('/workspace', { logo: logoUrl(plainPng(80, 80, [0, 90, 200, 255])) });
  expect((await shop.patch<{ logo: string }>(path, { logo: 'workspace' })).body.logo).toBe('workspace');
  expect(pixelOf((await code(api, shop, '?format=png&size=600')).body, 300, 300)).toEqual([0, 90, 200]);
  await shop.patch('/workspace', { logo: null });
  expect(scannedText((await code(api, shop, '?format=png')).body)).toBe(`${link.short_url}?qr=1`);
});

test.for<[body: object, path: string]>([
  [{ color: 'red' }, 'color'],
  [{ color: 'cccccc' }, 'color'],
  [{ background: '333333' }, 'background'],
  [{ shape: 'stars' }, 'shape'],
  [{ frame: 'gold' }, 'frame'],
  [{ frame_text: '' }, 'frame_text'],
  [{ frame_text: '扫一扫' }, 'frame_text'],
  [{ frame_text: 'a\u0000' }, 'frame_text'],
  [{ frame_text: 'x'.repeat(31) }, 'frame_text'],
  [{ logo: 'https://cdn.example/logo.png' }, 'logo'],
  [{ logo: 'data:image/png;base64,AAAA' }, 'logo'],
  [{ logo: 'workspace' }, 'logo'],
  [{ logo: null }, 'logo'],
])('a style of %j is refused at the field %s', async ([body, path], { shop }) => {
  const { status, body: answer } = await shop.patch(`/links/${link.id}/qr/style`, body);
  expect([status, answer.error.details?.[0]?.path]).toEqual([400, path]);
});

test.for<[query: string, path: string]>([
  ['?frame=gold', 'frame'],
  ['?frame=line&frame_text=%F0%9F%9A%80', 'frame_text'],
  ['?frame_text=%20', 'frame_text'],
  ['?frame=line&size=80', 'size'],
  ['?format=gif', 'format'],
  ['?size=63', 'size'],
  ['?size=2049', 'size'],
  ['?size=64', 'size'],
  ['?margin=17', 'margin'],
  ['?level=X', 'level'],
  ['?color=red', 'color'],
  ['?color=cccccc', 'color'],
  ['?color=ffffff&background=000000', 'color'],
  ['?background=333333', 'background'],
  ['?logo=2', 'logo'],
])('%s is refused at the field %s', async ([query, path], { api, shop }) => {
  expect(await refused(api, shop, query)).toEqual([400, path]);
});

test('a logo that is no PNG is a 400 that names it', async ({ shop }) => {
  const { status, body } = await shop.patch('/workspace', { logo: 'https://cdn.example/logo.png' });
  expect([status, body.error.details?.[0]?.path]).toEqual([400, 'logo']);
});

test('a publishable key gets no code', async ({ shop }) => {
  expect((await shop.get(`/links/${link.id}/qr`, { key: shop.publishableKey })).status).toBe(403);
});
