import { gunzipSync } from 'node:zlib';
import { beforeAll, expect } from 'vitest';
import { apiTest as test } from '../../test/support/fixtures.ts';
import { buildDocs } from '../../web/docs/build.ts';

beforeAll(async () => {
  await buildDocs();
});

test('pages name the deployment, forbid what they do not need, and are not sent twice', async ({ api }) => {
  const page = await api.app.inject('/docs/api/links.create');
  expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.body).toContain(`${api.deps.config.baseUrl}/api/v1/links`);
  expect(page.body).not.toContain('base-url.invalid');
  expect(page.headers['content-security-policy']).toContain(
    "default-src 'none'; script-src 'self'; style-src 'self'",
  );
  expect(page.headers['content-security-policy']).not.toMatch(/unsafe|upgrade-insecure-requests/);
  const zipped = await api.app.inject({
    url: '/docs/api/links.create',
    headers: { 'accept-encoding': 'gzip' },
  });
  expect(gunzipSync(zipped.rawPayload).toString()).toBe(page.body);
  const again = await api.app.inject({
    url: '/docs/api/links.create',
    headers: { 'if-none-match': String(page.headers.etag) },
  });
  expect([again.statusCode, again.body]).toEqual([304, '']);
});

test('a page loads files of its own only, which a browser may keep', async ({ api }) => {
  const { body } = await api.app.inject('/docs');
  const assets = [...body.matchAll(/(?:src|href|data-index)="(\/docs\/assets\/[^"]+)"/g)].map(
    ([, path = '']) => path,
  );
  expect(assets.length).toBe(4);
  for (const path of assets) {
    const { statusCode, headers } = await api.app.inject(path);
    expect([path, statusCode, headers['cache-control']]).toEqual([
      path,
      200,
      'public, max-age=31536000, immutable',
    ]);
  }
  expect(body).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
});

test('each page is Markdown at its address with .md, and programs get the list', async ({ api }) => {
  for (const path of [
    '/docs/quickstart.md',
    '/docs/operations/backup.md',
    '/docs/operations/README.md',
    '/docs/api/links.create.md',
  ]) {
    const { statusCode, headers, body } = await api.app.inject(path);
    expect([path, statusCode, headers['content-type']]).toEqual([path, 200, 'text/markdown; charset=utf-8']);
    expect(body.startsWith('# ')).toBe(true);
  }
  const { baseUrl } = api.deps.config;
  const list = await api.app.inject('/llms.txt');
  expect([list.statusCode, list.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(list.body).toContain(`${baseUrl}/docs/quickstart.md`);
  expect((await api.app.inject('/llms-full.txt')).body).toContain(`${baseUrl}/docs/api/links.create.md`);
});

test('the address of an error leads to the page of its code', async ({ api }) => {
  const { body } = await api.app.inject('/api/v1/nowhere').then((response) => ({ body: response.json() }));
  const { pathname } = new URL(body.error.doc_url);
  expect(pathname).toBe('/docs/errors/not_found');
  const page = await api.app.inject(pathname);
  expect(page.statusCode).toBe(200);
  expect(page.body).toContain('What to do');
  // The former address of an error, before each had a page.
  expect((await api.app.inject('/docs/errors')).body).toContain('id="not_found"');
});

test.for(['/docs/nowhere', '/docs/api/none.none', '/docs/..%2f..%2fpackage.json', '/docs/assets/none.js'])(
  '%s is unknown',
  async (path, { api }) => {
    const { statusCode } = await api.app.inject(path);
    expect(statusCode).toBe(404);
  },
);
