import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashPassword, LINK_COST } from '../../core/access/passwords.ts';
import type { ClickEvent } from '../../core/events/types.ts';
import { bytesToUuid } from '../../core/ids.ts';
import {
  type LinkColumns,
  makeLink,
  makeWorkspace,
  startTestIngest,
  type TestIngest,
} from '../../test/support/ingest.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { PHONE, visit } from '../../test/support/visitors.ts';

let stores: TestStores;
let ingest: TestIngest;
let workspaceId: string;

beforeAll(async () => {
  stores = await testStores();
  workspaceId = (await makeWorkspace(stores.pool)).id;
  ingest = await startTestIngest(stores);
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
  await stores?.close();
});

const CHANNEL: LinkColumns = { channel: 'newsletter', utm_source: 'newsletter', utm_medium: 'social' };

async function link(destination: string, columns: LinkColumns = {}) {
  const made = await makeLink(stores.pool, workspaceId, destination, { ...CHANNEL, ...columns });
  return { ...made, url: `${ingest.url}/${made.slug}` };
}
const headerOf = async (url: string, headers: Record<string, string> = {}) =>
  (await visit(url, { headers })).headers.get('location');

test.each([301, 302, 307, 308])('a link redirects with its status %i, and is never cached', async (code) => {
  const { url } = await link('https://example.com/', { redirect_status: code });
  const { status, headers } = await visit(url);
  expect([status, headers.get('cache-control')]).toEqual([code, 'no-store']);
});

test('after the password form every status is 302, so that the password is not sent on', async () => {
  const password_hash = await hashPassword('open', LINK_COST);
  const { url } = await link('https://example.com/', { redirect_status: 307, password_hash });
  const body = new URLSearchParams({ password: 'open' });
  expect((await visit(url, { method: 'POST', body })).status).toBe(302);
});

const SIGNED =
  "https://Bucket.s3.eu-central-1.amazonaws.com/a%20b/it's.pdf?response-content-disposition=attachment%3B%20filename%3D%22x.pdf%22&X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA%2F20261125%2Feu-central-1%2Fs3%2Faws4_request&X-Amz-Date=20261125T000000Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature=fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630326f1024";

test('a signed destination whose link forwards no query stays as it is, byte for byte', async () => {
  const { url } = await link(SIGNED, { forward_query: false });
  expect(await headerOf(`${url}?utm_source=mine&x=1`)).toBe(SIGNED);
});

test('with all switches off a destination stays as it is, byte for byte', async () => {
  const destination = "https://Example.com?q=it's&x=<y>#part";
  const { url } = await link(destination, { forward_query: false, append_utm: false, append_visitor: false });
  expect(await headerOf(`${url}?utm_source=mine&x=1`)).toBe(destination);
});

test('each switch leaves out its part, and the click has what the destination got', async () => {
  const given = 'https://example.com/';
  const noQuery = await link(given, { forward_query: false });
  const noUtm = await link(given, { append_utm: false });
  const noVisitor = await link(given, { append_visitor: false });
  const query = 'x=1&utm_term=shoes';
  const parametersOf = async ({ url }: { url: string }) => {
    const { location } = await visit(`${url}?${query}`);
    return [...(location?.searchParams.keys() ?? [])].join(' ');
  };
  expect(await parametersOf(noQuery)).toBe('utm_source utm_medium _vid');
  expect(await parametersOf(noUtm)).toBe('x utm_term _vid');
  expect(await parametersOf(noVisitor)).toBe('utm_source utm_medium x utm_term');
  const events = await ingest.events();
  const labelsOf = ({ id }: { id: string }) =>
    events
      .filter((event): event is ClickEvent => event.kind === 'click' && bytesToUuid(event.linkId) === id)
      .map(({ labels: { utmSource, utmTerm } }) => [utmSource, utmTerm]);
  expect(labelsOf(noQuery)).toEqual([['newsletter', '']]);
  expect(labelsOf(noUtm)).toEqual([['', 'shoes']]);
});

test('a link has utm_term and utm_content of its own, and a Smart Link keeps a given source', async () => {
  const { url } = await link('https://example.com/', { utm_term: 'red shoes', utm_content: 'top' });
  const { location } = await visit(`${url}?utm_term=other`);
  expect(location?.searchParams.get('utm_term')).toBe('red shoes');
  expect(location?.searchParams.get('utm_content')).toBe('top');
  const smart = await link('https://example.com/', {
    channel: null,
    utm_source: 'partner',
    utm_medium: null,
  });
  const { location: there } = await visit(smart.url, { headers: { referer: 'https://t.co/x' } });
  expect(there?.searchParams.get('utm_source')).toBe('partner');
  expect(there?.searchParams.get('utm_medium')).toBe('social');
});

test('a link that has not started is as an unknown slug, and starts by itself', async () => {
  const later = await link('https://example.com/', { starts_at: new Date(Date.now() + 3_600_000) });
  const started = await link('https://example.com/', { starts_at: new Date(Date.now() - 1) });
  const unknown = await visit(`${ingest.url}/unknown`);
  const { status, body } = await visit(later.url);
  expect([status, body]).toEqual([404, unknown.body]);
  expect((await visit(started.url)).status).toBe(302);
});

test('an archived link redirects', async () => {
  const { url } = await link('https://example.com/', { archived: true });
  expect((await visit(url)).status).toBe(302);
});

test('a path behind the slug is appended to whichever web address was decided, and 404 without the switch', async () => {
  const { url } = await link('https://example.com/docs/?v=2#part', {
    forward_path: true,
    append_utm: false,
    append_visitor: false,
    targeting: { ios: 'myapp://docs', desktop: 'https://example.com/desktop' },
  });
  expect(await headerOf(`${url}/a/b%20c/?x=1`)).toBe('https://example.com/desktop/a/b%20c/?x=1');
  expect(await headerOf(`${url}/a/b`, { 'user-agent': PHONE })).toBe('myapp://docs');
  expect(await headerOf(`${url}/a/b`, { 'user-agent': 'unknown' })).toBe(
    'https://example.com/docs/a/b?v=2#part',
  );
  expect(await headerOf(url)).toBe('https://example.com/desktop');
  expect(await headerOf(`${url}/`)).toBe('https://example.com/desktop/');
  const plain = await link('https://example.com/');
  expect((await visit(`${plain.url}/a`)).status).toBe(404);
  expect((await visit(`${plain.url}/`)).status).toBe(302);
});

/** Visits a path as it is: `fetch` resolves dot segments. */
function rawVisit(path: string): Promise<{ status: number | undefined; location: string | undefined }> {
  const { hostname, port } = new URL(ingest.url);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path }, (response) => {
      response.resume();
      resolve({ status: response.statusCode, location: response.headers.location });
    })
      .on('error', reject)
      .end();
  });
}

test.each([
  '/..',
  '/../x',
  '/a/../../x',
  '/%2e%2e/x',
  '/%2E./x',
  '/..%2fx',
  '/a%2f..%2f..%2fx',
  '/..%5cx',
  '/./x',
  '/%E9/%2e%2e/x',
  '/%/..',
])('the path %s never leaves the destination', async (path) => {
  const { slug } = await link('https://example.com/docs/', { forward_path: true });
  expect(await rawVisit(`/${slug}${path}`)).toEqual({ status: 404, location: undefined });
});

test.each(['//evil.example/x', '/@evil.example', '/a%2Fb', '/a\\b', '/:8080'])(
  'the path %s stays on the host and below the path',
  async (path) => {
    const { slug } = await link('https://example.com/docs/', { forward_path: true });
    const { location } = await rawVisit(`/${slug}${path}`);
    const url = new URL(location ?? '');
    expect([url.host, url.pathname.startsWith('/docs/')]).toEqual(['example.com', true]);
  },
);

test.each([
  ['/%E9t%E9', '/%E9t%E9'],
  ['/100%', '/100%'],
  ['/%zz/%', '/%zz/%'],
  ["/a%2fb/it's[1]/%7e", "/a%2fb/it's[1]/%7e"],
  ['/a//', '/a//'],
  ['/', '/'],
  // Bytes that a client did not escape. The server reads them as UTF-8.
  ['/\u00c3\u00a9', '/%C3%A9'],
])('the path %j is passed on byte for byte', async (path, passed) => {
  const switches = { forward_path: true, append_utm: false, append_visitor: false };
  const { slug } = await link('https://example.com/docs', switches);
  expect((await rawVisit(`/${slug}${path}`)).location).toBe(`https://example.com/docs${passed}`);
});
