import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, expect } from 'vitest';
import type { TestApi } from '../../test/support/api.ts';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { buildWeb } from '../../web/build.ts';

/** Maximum weight of the page: everything that a browser loads for it, compressed. Bytes. */
const MOST_BYTES = 46_000;

beforeAll(async () => {
  await buildWeb();
});

const get = (api: TestApi, url: string, headers: Record<string, string> = {}) =>
  api.app.inject({ method: 'GET', url, headers });

/** The addresses in the page, in order: style, script. */
async function filesOfPage(api: TestApi): Promise<string[]> {
  const { body } = await get(api, '/embed/referrals');
  return [...body.matchAll(/(?:href|src)="(\/[^"]+)"/g)].map(([, path]) => path ?? '');
}

test('loader, page, script and style together are under 46 KB compressed', async ({ api }) => {
  const paths = ['/embed.js', '/embed/referrals', ...(await filesOfPage(api))];
  expect(paths).toHaveLength(4);
  const sizes = await Promise.all(
    paths.map(async (path) => (await get(api, path, { 'accept-encoding': 'gzip' })).rawPayload.length),
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST_BYTES);
});

test('the page has no inline script or style, and its policy allows none', async ({ api }) => {
  const page = await get(api, '/embed/referrals?key=pk_live_1&uid=u1');
  expect(page.statusCode).toBe(200);
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.body).not.toMatch(/<style|style=|<script>|\son\w+=/);
  // No part of the query gets into it either.
  expect(page.body).not.toContain('pk_live_1');
  const policy = String(page.headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain('frame-ancestors *');
  expect(policy).toMatch(/connect-src 'self'(;| http)/);
  expect(policy).not.toMatch(/unsafe/);
  expect(page.headers['referrer-policy']).toBe('no-referrer');
  expect(page.headers['x-frame-options']).toBeUndefined();
});

test('files have their hash in the name and are cached forever; the page and the loader are revalidated', async ({
  api,
}) => {
  const files = await filesOfPage(api);
  for (const path of files) {
    const file = await get(api, path);
    expect(file.statusCode).toBe(200);
    expect(file.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(file.headers['access-control-allow-origin']).toBe('*');
  }
  expect((await get(api, '/embed/referrals')).headers['cache-control']).toBe('no-cache');
  expect((await get(api, '/embed.js')).headers['cache-control']).toMatch(/^public, max-age=300/);
  expect((await get(api, '/embed/assets/page-0000000000000000.js')).statusCode).toBe(404);
});

test('a client with the current version gets a 304', async ({ api }) => {
  for (const path of ['/embed.js', '/embed/referrals', ...(await filesOfPage(api))]) {
    const first = await get(api, path, { 'accept-encoding': 'gzip, br' });
    const again = await get(api, path, {
      'accept-encoding': 'gzip, br',
      'if-none-match': `"other", W/${first.headers.etag}`,
    });
    expect(again.statusCode, path).toBe(304);
    expect(again.body).toBe('');
    expect(again.headers.vary).toContain('Accept-Encoding');
  }
});

test('each encoding holds the same bytes', async ({ api }) => {
  const plain = await get(api, '/embed.js');
  const zipped = await get(api, '/embed.js', { 'accept-encoding': 'gzip, br;q=0' });
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(zipped.headers['content-encoding']).toBe('gzip');
  expect(gunzipSync(zipped.rawPayload)).toEqual(plain.rawPayload);
  expect(zipped.rawPayload.length).toBeLessThanOrEqual(gzipSync(plain.rawPayload).length);
  expect((await get(api, '/embed.js', { 'accept-encoding': 'br' })).headers['content-encoding']).toBe('br');
});

test('a framed page may connect to the given API, unless it is not an origin', async ({ api }) => {
  const policyFor = async (apiBase: string, destination: string) => {
    const answer = await get(api, `/embed/referrals?api_base=${encodeURIComponent(apiBase)}`, {
      'sec-fetch-dest': destination,
    });
    return String(answer.headers['content-security-policy']);
  };
  expect(await policyFor('https://api.example.com/', 'iframe')).toContain(
    "connect-src 'self' https://api.example.com;",
  );
  // In the policy the host is in punycode, as browsers send it.
  expect(await policyFor('https://früh.example:8443', 'iframe')).toContain(
    "connect-src 'self' https://xn--frh-ioa.example:8443;",
  );
  // A top-level page has this deployment's name.
  expect(await policyFor('https://api.example.com', 'document')).not.toContain('api.example.com');
  for (const hostile of [
    "https://a;script-src 'unsafe-inline'",
    'https://a,b',
    'https://*',
    'data:',
    'https://a\r\nx: y',
    "'unsafe-eval'",
    'https://*.example',
    'https://a/;script-src *',
    'https://u:p@a',
    // Browsers ignore a policy's source with these.
    'https://my_api.example',
    'https://[::1]:3000',
    'https://a.',
  ]) {
    expect(await policyFor(hostile, 'iframe'), hostile).toContain("connect-src 'self';");
  }
  // A repeated parameter is not an origin either.
  expect((await get(api, '/embed/referrals?api_base=a&api_base=b')).statusCode).toBe(200);
});

test('other methods are refused, HEAD is accepted', async ({ api }) => {
  expect((await api.app.inject({ method: 'HEAD', url: '/embed.js' })).statusCode).toBe(200);
  expect((await api.app.inject({ method: 'POST', url: '/embed/referrals' })).statusCode).toBe(405);
});
