import { connect } from 'node:net';
import { afterAll, expect } from 'vitest';
import type { LinkRecord } from '../../api/links/schemas.ts';
import type { TestWorkspace } from '../support/api.ts';
import { makeDomain } from '../support/domains.ts';
import { sharedShopTest as test } from '../support/fixtures.ts';
import { startTestIngest, type TestIngest } from '../support/ingest.ts';
import { type Answer, visit, visitHost } from '../support/visitors.ts';

type Imported = { created: number; skipped: number; errors: { link: string | null; message: string }[] };

let ingest: TestIngest;

test.beforeAll(async ({ api, shop }) => {
  ingest = await startTestIngest({ ...api.stores, env: { SHORT_URL: 'https://hop.example' } });
  await makeDomain(api.stores.pool, shop.workspace.id, 'go.shop.example');
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
});

const to = (path: string) => `https://shop.example/${path}`;
const forwarding = (path: string) => ({ destination_url: to(path), name: path, forward_path: true });

/** Imports links by slug and destination. */
async function imported(
  shop: TestWorkspace,
  links: Record<string, object | string>,
  more: object = {},
  who = shop,
) {
  const rows = Object.entries(links).map(([slug, row]) => ({
    slug,
    ...(typeof row === 'string' ? { url: row } : row),
  }));
  const answer = await who.post<Imported>('/links/import', { text: JSON.stringify(rows), ...more });
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body;
}

/** Where an address leads, or its status. */
const ledTo = ({ status, location }: Answer) => (status === 302 ? `${location?.pathname}` : status);
const led = async (path: string) => ledTo(await visit(`${ingest.url}/${path}`));

/** The status of a request whose path has its bytes as they are. */
function ledRaw(slug: string): Promise<number> {
  const { hostname, port } = new URL(ingest.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET /${slug} HTTP/1.1\r\nHost: hop.example\r\nConnection: close\r\n\r\n`),
    );
    socket.once('data', (data) => {
      resolve(Number(data.toString('latin1').split(' ')[1]));
      socket.destroy();
    });
    socket.once('error', reject);
  });
}

async function linkOf(shop: TestWorkspace, slug: string): Promise<LinkRecord> {
  const { body } = await shop.get<{ links: LinkRecord[] }>('/links?view=records&limit=100');
  const found = body.links.find((link) => link.slug === slug);
  if (found === undefined) throw new Error(`no link ${slug} among ${body.links.map((link) => link.slug)}`);
  return found;
}

test('slugs with slashes and other letters are kept, and each way to write them leads to the link', async ({
  shop,
}) => {
  const slugs = ['guide/Start', 'a/b/c/d/e', 'Café', 'меню/чай', 'straße', '日本/東京', 'ΟΔΟΣ'];
  const links = Object.fromEntries(slugs.map((slug, nth) => [slug, to(`p${nth}`)]));
  expect(await imported(shop, links)).toMatchObject({ created: slugs.length, errors: [] });
  expect(await imported(shop, links)).toMatchObject({ created: 0, skipped: slugs.length });
  await expect.poll(() => led('guide/Start')).toBe('/p0');
  for (const [nth, slug] of slugs.entries()) {
    const { short_url } = await linkOf(shop, slug);
    expect(short_url).toBe(`https://hop.example/${encodeURI(slug)}`);
    const { pathname } = new URL(short_url);
    const ways = [
      pathname.slice(1),
      encodeURI(slug.toUpperCase()),
      encodeURI(slug.normalize('NFD')),
      encodeURIComponent(slug),
      `${encodeURI(slug)}.`,
      `${encodeURI(slug)}/`,
    ];
    for (const way of ways) expect([slug, way, await led(way)]).toEqual([slug, way, `/p${nth}`]);
  }
  expect(await led('STRASSE')).toBe('/p4');
  // As sent by clients that escape nothing.
  for (const raw of ['CAFÉ', 'straße']) expect(await ledRaw(raw)).toBe(302);
  for (const miss of [
    'caf%C3',
    '%ff',
    'caf%E9',
    'guide/%ff',
    'guide/caf%C3',
    'guide/other',
    'guide',
    'caf',
    'a/b/c',
    'a/b/c/d/e/f',
    'guide%252FStart',
    '%00',
  ]) {
    expect([miss, await led(miss)]).toEqual([miss, 404]);
  }
  const clicks = (await ingest.events()).flatMap((event) =>
    event.kind === 'click' ? [event.labels.slug] : [],
  );
  expect(new Set(clicks)).toEqual(new Set(slugs));
});

test('the longest slug gets a visit, and a shorter one with forward_path what is left', async ({ shop }) => {
  await imported(shop, {
    shop: forwarding('shop'),
    'shop/tea': { destination_url: to('tea'), name: 'Tea' },
    'shop/tea/green': forwarding('green'),
  });
  await expect.poll(() => led('shop/tea')).toBe('/tea');
  expect(await led('shop')).toBe('/shop');
  expect(await led('shop/coffee/black')).toBe('/shop/coffee/black');
  expect(await led('SHOP/TEA')).toBe('/tea');
  expect(await led('shop/tea/green/big')).toBe('/green/big');
  // `shop/tea` takes no path.
  expect(await led('shop/tea/black')).toBe('/shop/tea/black');
  expect(await led('shop/tea/../x')).not.toBe('/tea');
});

test('slugs below another workspace’s slug are taken on the own domain; on a domain of its own each workspace has them', async ({
  api,
  shop,
}) => {
  const other = await api.addWorkspace();
  await imported(shop, { mine: forwarding('mine') });
  const { created, errors } = await imported(shop, { 'Mine/login': to('stolen') }, {}, other);
  expect([created, errors]).toMatchObject([0, [{ link: 'Mine/login', message: '"Mine/login" is taken' }]]);
  const text = `domain,slug,url\ngo.shop.example,5/five,${to('five')}\nhop.example,5/five,${to('own-five')}\n`;
  const both = await shop.post<Imported>('/links/import', { text });
  expect(both.body).toMatchObject({ created: 2, errors: [] });
  const onDomain = async () => ledTo(await visitHost(ingest.url, 'go.shop.example', '/5/five'));
  await expect.poll(onDomain).toBe('/five');
  expect(await led('5/five')).toBe('/own-five');
});

test('reserved words, too many segments, and other characters are errors in words; a create takes none of these slugs', async ({
  shop,
}) => {
  const wrong = ['api/v1', 'a/b/c/d/e/f', 'q?x', '😀'];
  const { created, errors } = await imported(shop, Object.fromEntries(wrong.map((slug) => [slug, to('x')])));
  expect([created, errors.map(({ message }) => message)]).toEqual([
    0,
    [
      'must not be "api/v1": this slug is reserved',
      'must be 1 to 64 letters, digits, - and _, with at most 4 slashes between them, not "a/b/c/d/e/f"',
      'must be 1 to 64 letters, digits, - and _, with at most 4 slashes between them, not "q?x"',
      'must be 1 to 64 letters, digits, - and _, with at most 4 slashes between them, not "😀"',
    ],
  ]);
  for (const slug of ['new/slug', 'café']) {
    const body = { destination_url: to('x'), name: 'x', channel: 'other', slug, external: true };
    expect((await shop.post('/links', body)).status).toBe(400);
  }
});

test('a link with such a slug is changed, protected by a password, shown as a QR code, blocked, and deleted', async ({
  shop,
}) => {
  await imported(shop, {
    'vip/Zürich': { url: to('vip'), password: 'open sesame' },
    'vip/basel': to('basel'),
  });
  const { id, short_url } = await linkOf(shop, 'vip/Zürich');
  const path = new URL(short_url).pathname.slice(1);
  await expect.poll(() => led(path)).toBe(200);
  const sent = await visit(`${ingest.url}/${path}`, {
    method: 'POST',
    body: new URLSearchParams({ password: 'open sesame' }),
  });
  expect(ledTo(sent)).toBe(`/${path}`);
  const pass = sent.cookies.find((cookie) => cookie.startsWith('_pass='));
  expect(pass).toContain(`; Path=/${path};`);
  const qr = await shop.get(`/links/${id}/qr?format=svg`);
  expect(qr.status).toBe(200);
  expect((await shop.patch(`/links/${id}`, { password: null, destination_url: to('vip2') })).status).toBe(
    200,
  );
  await expect.poll(() => led(path)).toBe('/vip2');
  expect((await shop.patch(`/links/${id}`, { slug: 'vip/other' })).status).toBe(400);
  expect((await shop.patch<LinkRecord>(`/links/${id}`, { slug: 'zurich' })).body.slug).toBe('zurich');
  await expect.poll(() => led('zurich')).toBe('/vip2');
  expect(await led(path)).toBe(404);
  const basel = await linkOf(shop, 'vip/basel');
  expect((await shop.delete(`/links/${basel.id}`)).status).toBe(200);
  await expect.poll(() => led('vip/basel')).toBe(404);
});
