import { afterAll, beforeAll, expect, test } from 'vitest';
import { bytesToUuid } from '../../core/ids.ts';
import type { Retargeting } from '../../sql/links/link-settings.ts';
import { makeLink, makeWorkspace, startTestIngest, type TestIngest } from '../../test/support/ingest.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { BROWSER, CRAWLER, PREVIEW, visit } from '../../test/support/visitors.ts';
import { createInterstitial } from './interstitial.ts';

const ALL: Required<Retargeting> = {
  facebook: '1234567890',
  google: 'AW-123456789',
  tiktok: 'C4ABCDEFGHIJKLMNOPQR',
  linkedin: '12345',
  x: 'o1abc',
  pinterest: '2612345678901',
};

function hostsIn(policy: string): string[] {
  return [...new Set(policy.match(/https:\/\/[^\s;]+/g) ?? [])].map((origin) => new URL(origin).host).sort();
}

function render(pixels: Retargeting, url = 'https://example.com/?a=1&b=%22') {
  const page = createInterstitial()('en', pixels, url);
  const policy = page.headers.find(([name]) => name === 'Content-Security-Policy')?.[1] ?? '';
  return { html: page.body.toString('utf8'), policy };
}

test.each([
  ['facebook', '1234567890', ['www.facebook.com']],
  ['google', 'AW-123456789', ['googleads.g.doubleclick.net']],
  ['google', 'G-ABCDEF1234', ['www.google-analytics.com', 'www.googletagmanager.com']],
  ['tiktok', 'C4ABCDEFGHIJKLMNOPQR', ['analytics.tiktok.com']],
  ['linkedin', '12345', ['px.ads.linkedin.com']],
  ['x', 'o1abc', ['t.co']],
  ['pinterest', '2612345678901', ['ct.pinterest.com']],
] as const)('the page with a %s pixel (%s) names its hosts only, and fires it', (network, id, hosts) => {
  const { html, policy } = render({ [network]: id });
  expect(hostsIn(policy)).toEqual(hosts);
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe');
  const [images = '', scripts = ''] = ['images', 'scripts'].map(
    (name) => new RegExp(`data-${name}="([^"]*)"`).exec(html)?.[1] ?? '',
  );
  const loaded = `${images} ${scripts}`
    .trim()
    .split(' ')
    .map((src) => new URL(src).host);
  expect(loaded.length).toBeGreaterThan(0);
  for (const host of loaded) expect(hosts).toContain(host);
  expect(html).toContain(id.replace('AW-', ''));
});

test('the destination cannot break out of the page', () => {
  const { html } = render(ALL, `https://example.com/?x="><script>alert(1)</script>'`);
  expect(html).not.toContain('<script>alert');
  expect(html.match(/<meta http-equiv="refresh" content="([^"]*)">/)?.[1]).toContain('&#60;script&#62;');
});

test('the policy allows the page’s script', async () => {
  const { html, policy } = render(ALL);
  const [, script = ''] = /<script>([\s\S]*?)<\/script>/.exec(html) ?? [];
  const digest = await crypto.subtle.digest('SHA-256', Buffer.from(script));
  expect(policy).toContain(`'sha256-${Buffer.from(digest).toString('base64')}'`);
});

let stores: TestStores;
let ingest: TestIngest;
beforeAll(async () => {
  stores = await testStores();
  ingest = await startTestIngest(stores);
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
  await stores?.close();
});

test('a link with retargeting shows the page, with a click, a cookie, and an immediate refresh without JavaScript', async () => {
  const { id } = await makeWorkspace(stores.pool);
  const { slug } = await makeLink(stores.pool, id, 'https://example.com/page', {
    channel: 'facebook',
    utm_source: 'facebook',
    retargeting: ALL,
  });
  const { status, headers, cookies, body } = await visit(`${ingest.url}/${slug}?a=1`);
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(headers.get('referrer-policy')).toBe('no-referrer-when-downgrade');
  expect(cookies).toHaveLength(1);
  expect(body).toMatch(
    /<noscript><meta http-equiv="refresh" content="0;url=https:\/\/example\.com\/page\?utm_source=facebook&#38;a=1&#38;_vid=[0-9a-f-]{36}"><\/noscript>/,
  );
  expect(body).toContain('setTimeout(go, 800)');
  expect(await ingest.events()).toHaveLength(1);
});

test.each<[who: string, init: RequestInit]>([
  ['Facebook', { headers: { 'user-agent': PREVIEW } }],
  ['WhatsApp', { headers: { 'user-agent': 'WhatsApp/2.23.20.0' } }],
  ['Slack', { headers: { 'user-agent': 'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)' } }],
  ['X', { headers: { 'user-agent': 'Twitterbot/1.0' } }],
  [
    'LinkedIn',
    {
      headers: {
        'user-agent': 'LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)',
      },
    },
  ],
  [
    'Discord',
    { headers: { 'user-agent': 'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)' } },
  ],
  [
    'iMessage',
    {
      headers: {
        'user-agent':
          'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0',
      },
    },
  ],
  ['a crawler', { headers: { 'user-agent': CRAWLER } }],
  ['curl', { headers: { 'user-agent': 'curl/8.11.0' } }],
  ['a client without a user agent', { headers: { 'user-agent': '' } }],
  ['a HEAD of a browser', { method: 'HEAD', headers: { 'user-agent': BROWSER } }],
  ['a prefetch', { headers: { 'sec-purpose': 'prefetch' } }],
  ['a prerender', { headers: { 'sec-purpose': 'prefetch;prerender' } }],
])('%s has no pixel to fire: a link with retargeting redirects, and it is a click', async (_, init) => {
  const { id } = await makeWorkspace(stores.pool);
  const { slug } = await makeLink(stores.pool, id, 'https://example.com/page', { retargeting: ALL });
  const answer = await visit(`${ingest.url}/${slug}`, init);
  expect([answer.status, answer.body, answer.cookies]).toEqual([302, '', []]);
  expect(answer.location?.origin).toBe('https://example.com');
  const clicks = (await ingest.events()).filter(
    (event) => event.kind === 'click' && bytesToUuid(event.workspaceId) === id,
  );
  expect(clicks).toHaveLength(1);
});

test('a preview bot gets the card of a link with retargeting and a preview', async () => {
  const { id } = await makeWorkspace(stores.pool);
  const { slug } = await makeLink(stores.pool, id, 'https://example.com/page', {
    retargeting: ALL,
    preview: { title: 'A card' },
  });
  const answer = await visit(`${ingest.url}/${slug}`, { headers: { 'user-agent': PREVIEW } });
  expect(answer.status).toBe(200);
  expect(answer.body).toContain('<meta property="og:title" content="A card">');
});

test('with Sec-GPC no pixel fires: a link with retargeting redirects at once, and it is a click', async () => {
  const { id } = await makeWorkspace(stores.pool);
  const { id: linkId, slug } = await makeLink(stores.pool, id, 'https://example.com/page', {
    channel: 'facebook',
    utm_source: 'facebook',
    retargeting: ALL,
  });
  const answer = await visit(`${ingest.url}/${slug}?a=1`, { headers: { 'sec-gpc': '1' } });
  expect([answer.status, answer.body, answer.cookies]).toEqual([302, '', []]);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('referrer-policy')).toBe('no-referrer-when-downgrade');
  const query = Object.fromEntries(answer.location?.searchParams ?? []);
  expect(query).toMatchObject({
    utm_source: 'facebook',
    a: '1',
    _vid: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  const click = (await ingest.events()).at(-1);
  expect(click).toMatchObject({ kind: 'click', channel: 'facebook', flags: 0 });
  expect(click?.kind === 'click' && bytesToUuid(click.linkId)).toBe(linkId);
  const told = await visit(`${ingest.url}/${slug}`, { headers: { 'sec-gpc': '0' } });
  expect(told.status).toBe(200);
});
