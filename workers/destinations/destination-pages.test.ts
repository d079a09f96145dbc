import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLogger } from '../../core/tier/log.ts';
import {
  destinationIcon,
  destinationPages,
  wantDestinationPages,
} from '../../sql/links/destination-pages.ts';
import { createWorkspace } from '../../sql/workspaces/workspaces.ts';
import { storesTest } from '../../test/support/fixtures.ts';
import { plainPng } from '../../test/support/scanned-images.ts';
import type { TestStores } from '../../test/support/stores.ts';
import { until } from '../../test/support/until.ts';
import { createIdlePause } from '../idle-pause.ts';
import { createWaiting } from '../jobs/waiting.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { type DestinationOptions, startDestinationPages } from './destination-pages.ts';
import { iconType } from './icon-type.ts';
import { readPageHead } from './read-page.ts';

const PNG = plainPng(32, 32, [200, 0, 0, 255]);
const SVG = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');

/** An ICO of one image. */
function ico(image: Buffer): Buffer {
  const head = Buffer.alloc(22);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(1, 4);
  head.writeUInt32LE(image.length, 14);
  head.writeUInt32LE(22, 18);
  return Buffer.concat([head, image]);
}

/** A site with its pages by path; it notes what was requested. */
let site: Server;
let origin: string;
const pages = new Map<string, (response: ServerResponse, request: IncomingMessage) => void>();
const requested: string[] = [];

const html =
  (text: string, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...headers }).end(text);
const file = (content: Buffer, type: string) => (response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': type }).end(content);

beforeAll(async () => {
  site = createServer((request, response) => {
    requested.push(request.url ?? '');
    const page = pages.get(request.url ?? '');
    if (page) page(response, request);
    else response.writeHead(404).end();
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
afterAll(() => {
  site.close();
  site.closeAllConnections();
});

/** Requests pages, lets the job fetch them, and returns what is known then. */
async function fetched(
  { pool }: TestStores,
  workspace: string,
  urls: string[],
  options: Partial<DestinationOptions> = {},
) {
  await wantDestinationPages(pool, workspace, urls);
  const pause = createIdlePause(100);
  const job = startDestinationPages({
    pool,
    log: silentLogger(),
    metrics: createWorkerMetrics(new Registry()),
    pause,
    waits: createWaiting({ pool, pause, now: Date.now }),
    options: { allowPrivate: true, limitMs: 2_000, ...options },
  });
  try {
    await until(
      'no page that is due',
      () => pool.query('SELECT FROM destination_pages WHERE due_at IS NOT NULL'),
      ({ rowCount }) => rowCount === 0,
    );
    const found = await destinationPages(pool, workspace, urls);
    return urls.map((url) => {
      const page = found.find((one) => one.url === url);
      return { title: page?.title ?? null, iconId: page?.iconId ?? null };
    });
  } finally {
    await job.stop();
  }
}

const shopOf = async ({ pool }: TestStores) =>
  (await createWorkspace(pool, { name: 'Shop', plan: 'pro' })).id;

storesTest('title and icon of a destination are fetched, and stored with their type', async ({ stores }) => {
  const workspace = await shopOf(stores);
  pages.set(
    '/sale',
    html('<title>Autumn sale &amp; more</title><link rel="icon" href="/a.png" sizes="32x32">'),
  );
  pages.set('/a.png', file(PNG, 'image/svg+xml'));
  const [page] = await fetched(stores, workspace, [`${origin}/sale`]);
  expect(page?.title).toBe('Autumn sale & more');
  // What the server says of it does not count.
  expect(await destinationIcon(stores.pool, workspace, page?.iconId ?? '')).toEqual({
    type: 'image/png',
    image: PNG,
  });
  expect(await destinationIcon(stores.pool, await shopOf(stores), page?.iconId ?? '')).toBeNull();
});

storesTest('redirects, compression, and character sets are as in a browser', async ({ stores }) => {
  const workspace = await shopOf(stores);
  pages.set('/old', (response) => void response.writeHead(301, { location: '/new?{x}' }).end());
  pages.set(
    '/new?{x}',
    (response) =>
      void response
        .writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' })
        .end(gzipSync('<title>Zipped</title>')),
  );
  pages.set(
    '/latin',
    (response) =>
      void response
        .writeHead(200, { 'content-type': 'text/html; charset=iso-8859-1' })
        .end(Buffer.from('<title>Caf\xe9</title>', 'latin1')),
  );
  pages.set('/macro?v=', html('<title>Macros are empty</title>'));
  const found = await fetched(
    stores,
    workspace,
    ['/old', '/latin', '/macro?v={visitor_id}'].map((path) => origin + path),
  );
  expect(found.map(({ title }) => title)).toEqual(['Zipped', 'Café', 'Macros are empty']);
});

storesTest('an SVG, a large file, and what is no image are not stored', async ({ stores }) => {
  const workspace = await shopOf(stores);
  pages.set('/favicon.ico', file(SVG, 'image/x-icon'));
  const large = Buffer.concat([PNG, Buffer.alloc(65_536)]);
  pages.set('/large.png', file(large, 'image/png'));
  pages.set('/plain', html('<title>Plain</title><link rel="shortcut icon" href="/large.png">'));
  expect(await fetched(stores, workspace, [`${origin}/plain`])).toEqual([{ title: 'Plain', iconId: null }]);
  expect(requested).toEqual(expect.arrayContaining(['/large.png', '/favicon.ico']));
});

storesTest('private addresses are not reached, also not by a redirect', async ({ stores }) => {
  const workspace = await shopOf(stores);
  pages.set('/secret', html('<title>Secret</title>'));
  const urls = [
    `${origin}/secret`,
    `${origin.replace('127.0.0.1', 'localhost')}/secret`,
    'http://rebound.example/',
  ];
  const before = requested.length;
  const resolve = async () => [{ address: '10.0.0.7', family: 4 as const }];
  const found = await fetched(stores, workspace, urls, { allowPrivate: false, resolve });
  expect(found.map(({ title }) => title)).toEqual([null, null, null]);
  expect(requested.slice(before)).toEqual([]);
});

storesTest('a site that never ends delays no other, and what was known stays', async ({ stores }) => {
  const workspace = await shopOf(stores);
  const url = `${origin}/slow`;
  pages.set('/slow', html('<title>Quick once</title>'));
  pages.set('/quick', html('<title>Quick</title>'));
  expect(await fetched(stores, workspace, [url])).toMatchObject([{ title: 'Quick once' }]);
  // Requested again within a week nothing is fetched.
  const times = requested.filter((path) => path === '/slow').length;
  await fetched(stores, workspace, [url]);
  expect(requested.filter((path) => path === '/slow')).toHaveLength(times);
  pages.set('/slow', (response) => void response.writeHead(200, { 'content-type': 'text/html' }).write('<'));
  await stores.pool.query(`UPDATE destination_pages SET fetched_at = now() - interval '8 days'`);
  const found = await fetched(stores, workspace, [url, `${origin}/quick`], { limitMs: 300 });
  expect(found.map(({ title }) => title)).toEqual(['Quick once', 'Quick']);
});

describe('the head of a page', () => {
  test.each([
    ['<svg><title>Logo</title></svg><title> Two\n lines </title>', 'Two lines'],
    ['<meta property="og:title" content="Shared"><title></title>', 'Shared'],
    ['<script>var t = "<title>No</title>"</script><title>Yes</title>', 'Yes'],
    ['<!-- <title>No</title> --><p>Nothing', null],
    [`<title>${'x'.repeat(400)}</title>`, 'x'.repeat(300)],
    ['<title>\u200b</title>', null],
  ])('%s has the title %s', (text, title) => {
    expect(readPageHead(text, 'https://shop.example/').title).toBe(title);
  });

  test('names its icons, the most suitable first, against its base', () => {
    const { icons } = readPageHead(
      `<base href="/assets/"><link rel="apple-touch-icon" href="touch.png" sizes="180x180">
       <link rel="icon" href="large.png" sizes="192x192"><link rel="icon" href="small.png" sizes="16x16">
       <link rel="icon" href="right.png" sizes="32x32"><link rel="icon" href="drawn.svg" type="image/svg+xml">
       <link rel="icon" href="data:image/png;base64,AA"><link rel="stylesheet" href="style.css">`,
      'https://shop.example/a/b',
    );
    const names = ['right.png', 'large.png', 'small.png', 'touch.png'];
    expect(icons).toEqual(names.map((name) => `https://shop.example/assets/${name}`));
  });
});

test.each([
  ['a PNG', PNG, 'image/png'],
  ['a GIF', Buffer.from('GIF89a\x10\0\x10\0\0\0', 'latin1'), 'image/gif'],
  ['an ICO with a PNG', ico(PNG), 'image/x-icon'],
  ['an SVG', SVG, null],
  ['a page', Buffer.from('<!doctype html>'), null],
  ['a wide PNG', plainPng(1_025, 1, [0, 0, 0, 255]), null],
  ['an ICO with a wide PNG', ico(plainPng(1_025, 1, [0, 0, 0, 255])), null],
  ['an ICO of nothing', Buffer.from([0, 0, 1, 0, 0, 0]), null],
  ['an ICO whose image is beyond its end', ico(PNG).fill(255, 18, 22), null],
])('%s is an icon of the type %s', (_, image, type) => {
  expect(iconType(image as Buffer)).toBe(type);
});
