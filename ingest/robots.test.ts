import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashPassword, LINK_COST } from '../core/access/passwords.ts';
import { type TestApi, type TestWorkspace, testApi } from '../test/support/api.ts';
import { makeBioPage } from '../test/support/bio.ts';
import { type LinkColumns, makeLink, startTestIngest, type TestIngest } from '../test/support/ingest.ts';
import { BROWSER } from '../test/support/visitors.ts';

let api: TestApi;
let shop: TestWorkspace;
let ingest: TestIngest;

beforeAll(async () => {
  api = await testApi();
  shop = await api.addWorkspace();
  ingest = await startTestIngest(api.stores);
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
  await api?.close();
});

const visit = (path: string, userAgent = BROWSER) =>
  fetch(`${ingest.url}${path}`, { redirect: 'manual', headers: { 'User-Agent': userAgent } });

const link = async (columns: LinkColumns) =>
  `/${(await makeLink(api.stores.pool, shop.workspace.id, 'https://example.com/', columns)).slug}`;

test('robots.txt lets everyone read everything but /collect', async () => {
  const response = await visit('/robots.txt');
  expect([response.status, await response.text()]).toEqual([200, 'User-agent: *\nDisallow: /collect\n']);
});

test('with ROBOTS=none it lets no one read anything', async () => {
  const closed = await startTestIngest({ ...api.stores, env: { ROBOTS: 'none' } });
  const response = await fetch(`${closed.url}/robots.txt`);
  expect(await response.text()).toBe('User-agent: *\nDisallow: /\n');
  await closed.close();
  await closed.remove();
});

test.each<[what: string, status: number, path: () => Promise<string>, userAgent?: string]>([
  ['an unknown slug', 404, async () => '/nothing-here'],
  ['an expired link', 410, () => link({ expires_at: new Date(0) })],
  ['a password form', 200, async () => link({ password_hash: await hashPassword('x', LINK_COST) })],
  ['a page with pixels', 200, () => link({ retargeting: { facebook: '1234567890' } })],
  ['a card', 200, () => link({ preview: { title: 'Autumn sale' } }), 'Twitterbot/1.0'],
])('the page of %s is not indexed', async (_, status, path, userAgent) => {
  const response = await visit(await path(), userAgent);
  expect([
    response.status,
    response.headers.get('content-type'),
    response.headers.get('x-robots-tag'),
  ]).toEqual([status, 'text/html; charset=utf-8', 'noindex']);
});

test('a bio page is indexed', async () => {
  const { slug } = await makeBioPage(shop, 'found-by-all');
  const response = await visit(`/${slug}`);
  expect([response.status, response.headers.get('x-robots-tag')]).toEqual([200, null]);
});
