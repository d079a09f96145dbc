import { afterAll, beforeAll, expect, test } from 'vitest';
import { CLICK_FLAGS, type ClickEvent } from '../../core/events/types.ts';
import { bytesToUuid, isUuid, uuidToBytes } from '../../core/ids.ts';
import { createVisitorIds } from '../../core/tracking/visitors.ts';
import { readSecrets } from '../../sql/database/secrets.ts';
import {
  type LinkColumns,
  makeLink,
  makeWorkspace,
  startTestIngest,
  type TestIngest,
} from '../../test/support/ingest.ts';
import { type TestStores, testStores } from '../../test/support/stores.ts';
import { CRAWLER, PHONE, PREVIEW, TABLET, visit, visitHost } from '../../test/support/visitors.ts';

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

const FACEBOOK: LinkColumns = {
  channel: 'facebook',
  utm_source: 'facebook',
  utm_medium: 'social',
  utm_campaign: 'Spring sale',
};

async function link(destination: string, columns: LinkColumns = FACEBOOK) {
  const made = await makeLink(stores.pool, workspaceId, destination, columns);
  return { ...made, url: `${ingest.url}/${made.slug}` };
}

async function clicksOf(linkId: string): Promise<ClickEvent[]> {
  const events = await ingest.events();
  return events.filter(
    (event): event is ClickEvent => event.kind === 'click' && bytesToUuid(event.linkId) === linkId,
  );
}

test('a link is 302, uncached, with the referrer policy and its parameters on the destination', async () => {
  const { url } = await link('https://example.com/page');
  const { status, headers, location } = await visit(url);
  expect(status).toBe(302);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('referrer-policy')).toBe('no-referrer-when-downgrade');
  expect(location?.origin).toBe('https://example.com');
  const query = Object.fromEntries(location?.searchParams ?? []);
  expect(query).toMatchObject({ utm_source: 'facebook', utm_medium: 'social', utm_campaign: 'Spring sale' });
  expect(isUuid(query._vid ?? '')).toBe(true);
});

test('a click has the UTM parameters that the destination got, its slug, its trigger and the visitor’s language', async () => {
  const { url, id, slug } = await link('https://example.com/?utm_content=own');
  const headers = { 'accept-language': 'en;q=0.5, de-AT' };
  const first = await visit(url, { headers });
  const second = await visit(`${url}/?utm_term=red+shoes&utm_source=evil&qr=1&utm_content=evil`);
  const clicks = await clicksOf(id);
  const labels = {
    domain: '',
    slug,
    utmSource: 'facebook',
    utmMedium: 'social',
    utmCampaign: 'Spring sale',
    utmTerm: '',
    utmContent: 'own',
    ruleId: '',
    variantId: '',
  };
  expect(clicks.map((click) => [{ ...click.labels }, click.language, click.flags])).toEqual([
    [labels, 'de', 0],
    [{ ...labels, utmTerm: 'red shoes' }, '', CLICK_FLAGS.qr],
  ]);
  for (const [click, { location }] of [
    [clicks[0], first],
    [clicks[1], second],
  ] as const) {
    expect(location?.searchParams.get('utm_term') ?? '').toBe(click?.labels.utmTerm);
    expect(location?.searchParams.get('utm_content')).toBe(click?.labels.utmContent);
    expect(location?.searchParams.has('qr')).toBe(false);
  }
});

test('a scan of the QR code is a visit of a person, with a cookie', async () => {
  const { url } = await link('https://example.com/');
  expect((await visit(`${url}?qr=1`)).cookies).toHaveLength(1);
});

test('a parameter of the destination stays, and so does the fragment', async () => {
  const { url } = await link('https://example.com/?utm_source=mine&_vid=theirs&a=1#part');
  const { location } = await visit(`${url}?a=2&b=3`);
  expect(location?.search).toBe(
    '?utm_source=mine&_vid=theirs&a=1&utm_medium=social&utm_campaign=Spring%20sale&b=3',
  );
  expect(location?.hash).toBe('#part');
});

test('the visitor’s query is passed through, except _vid and ref', async () => {
  const { url } = await link('https://example.com/');
  const { location } = await visit(`${url}?q=a%20b&_vid=evil&ref=evil&utm_source=evil&q=2`);
  expect(location?.searchParams.getAll('q')).toEqual(['a b', '2']);
  expect(location?.searchParams.get('utm_source')).toBe('facebook');
  expect(location?.searchParams.get('ref')).toBeNull();
  expect(isUuid(location?.searchParams.get('_vid') ?? '')).toBe(true);
});

test('a referral link adds its own ref, whatever the visitor brings', async () => {
  const { url, slug } = await link('https://example.com/', {
    slug: 'Refer-me',
    channel: 'referral',
    extra_query: 'ref=Refer-me',
  });
  const { location } = await visit(`${url}?ref=evil`);
  expect(location?.searchParams.getAll('ref')).toEqual([slug]);
});

test('a new visitor gets a cookie of one year that scripts cannot read, and is the same visitor with it', async () => {
  const { url, id } = await link('https://example.com/');
  const first = await visit(url);
  expect(first.cookies).toHaveLength(1);
  expect(first.cookies[0]).toMatch(/^_vid=[0-9a-f-]{36}; Path=\/; Max-Age=31536000; HttpOnly; SameSite=Lax$/);
  const cookie = first.cookies[0]?.split(';')[0] ?? '';
  const second = await visit(url, { headers: { cookie } });
  expect(second.cookies).toEqual([]);
  expect(second.location?.searchParams.get('_vid')).toBe(first.location?.searchParams.get('_vid'));
  const clicks = await clicksOf(id);
  expect(clicks.map((click) => bytesToUuid(click.visitorId))).toEqual([
    first.location?.searchParams.get('_vid'),
    first.location?.searchParams.get('_vid'),
  ]);
});

test('the visitor id is derived from cookie and workspace, so two workspaces see two visitors', async () => {
  const other = await makeWorkspace(stores.pool);
  const own = await link('https://example.com/');
  const theirs = await makeLink(stores.pool, other.id, 'https://example.org/');
  const uuid = '9c5f8d1e-3b0a-4c6d-8e2f-112233445566';
  const headers = { cookie: `a=b; _vid=${uuid}; c=d` };
  const a = (await visit(own.url, { headers })).location?.searchParams.get('_vid');
  const b = (await visit(`${ingest.url}/${theirs.slug}`, { headers })).location?.searchParams.get('_vid');
  const ids = createVisitorIds((await readSecrets(stores.pool)).visitor);
  expect(a).toBe(bytesToUuid(ids.visitorIdOf(uuidToBytes(uuid), uuidToBytes(workspaceId))));
  expect(b).toBe(bytesToUuid(ids.visitorIdOf(uuidToBytes(uuid), uuidToBytes(other.id))));
  expect(a).not.toBe(b);
});

test.each(['nonsense', '', '9c5f8d1e-3b0a-4c6d-8e2f-11223344556', '9C5F8D1E-3B0A-4C6D-8E2F-112233445566'])(
  'a malformed cookie (%j) is replaced',
  async (value) => {
    const { url } = await link('https://example.com/');
    const { cookies } = await visit(url, { headers: { cookie: `_vid=${value}` } });
    expect(cookies[0]).toMatch(/^_vid=[0-9a-f]{8}-/);
    expect(cookies[0]).not.toContain(`_vid=${value};`);
  },
);

test('on an https origin the cookie is Secure, whatever a proxy header says', async () => {
  const https = await startTestIngest({ ...stores, env: { SHORT_URL: 'https://go.example' } });
  try {
    const { slug } = await link('https://example.com/');
    expect((await visit(`${https.url}/${slug}`)).cookies[0]).toMatch(/; Secure$/);
    const plain = await visit(`${ingest.url}/${slug}`, { headers: { 'x-forwarded-proto': 'https' } });
    expect(plain.cookies[0]).not.toContain('Secure');
  } finally {
    await https.close();
    await https.remove();
  }
});

test('with Sec-GPC no cookie is set, an existing one is ignored and cleared, and every click is a new visitor', async () => {
  const { url } = await link('https://example.com/');
  const fresh = await visit(url, { headers: { 'sec-gpc': '1' } });
  expect(fresh.cookies).toEqual([]);
  const headers = { 'sec-gpc': '1', cookie: '_vid=9c5f8d1e-3b0a-4c6d-8e2f-112233445566' };
  const [one, two] = [await visit(url, { headers }), await visit(url, { headers })];
  expect(one.cookies).toEqual(['_vid=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax']);
  const ids = [fresh, one, two].map(({ location }) => location?.searchParams.get('_vid'));
  expect(new Set(ids).size).toBe(3);
});

test('targeting redirects phones and tablets to the mobile address and desktops to theirs, with parameters', async () => {
  const { url } = await link('https://example.com/all', {
    ...FACEBOOK,
    targeting: { mobile: 'https://m.example.com/', desktop: 'https://d.example.com/' },
  });
  const hosts: (string | undefined)[] = [];
  for (const agent of [PHONE, TABLET, undefined]) {
    const { location } = await visit(url, agent === undefined ? {} : { headers: { 'user-agent': agent } });
    hosts.push(location?.host);
    expect(location?.searchParams.get('utm_source')).toBe('facebook');
    expect(location?.searchParams.has('_vid')).toBe(true);
  }
  expect(hosts).toEqual(['m.example.com', 'm.example.com', 'd.example.com']);
});

test('an expired link is 410, or 302 to its expired address without parameters; neither is a click', async () => {
  const expires_at = new Date(Date.now() - 1_000);
  const gone = await link('https://example.com/', { ...FACEBOOK, expires_at });
  const page = await visit(gone.url);
  expect(page.status).toBe(410);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const moved = await link('https://example.com/', {
    ...FACEBOOK,
    expires_at,
    expired_redirect_url: 'https://example.com/over?a=1',
  });
  const answer = await visit(`${moved.url}?b=2`);
  expect([answer.status, answer.location?.href]).toEqual([302, 'https://example.com/over?a=1']);
  expect(answer.cookies).toEqual([]);
  expect([...(await clicksOf(gone.id)), ...(await clicksOf(moved.id))]).toEqual([]);
});

test('a link that expires in the future redirects until then', async () => {
  const { url } = await link('https://example.com/', { expires_at: new Date(Date.now() + 3_600_000) });
  expect((await visit(url)).status).toBe(302);
});

test.each([
  ['https://www.facebook.com/some/page', undefined, 'facebook', 'social'],
  ['https://t.co/abc', undefined, 'twitter', 'social'],
  ['', `${PHONE} Instagram 300.0`, 'instagram', 'social'],
  ['', undefined, 'other', 'social'],
])(
  'a Smart Link infers the channel from referer %j and user agent %j',
  async (referer, agent, channel, medium) => {
    const { url, id } = await link('https://example.com/', { channel: null, utm_campaign: 'c' });
    const headers = { ...(referer && { referer }), ...(agent && { 'user-agent': agent }) };
    const { location } = await visit(url, { headers });
    expect(location?.searchParams.get('utm_source')).toBe(channel);
    expect(location?.searchParams.get('utm_medium')).toBe(medium);
    expect((await clicksOf(id)).map((click) => click.channel)).toEqual([channel]);
  },
);

test('HEAD gets the same headers without a body, no cookie, and is recorded as such', async () => {
  const { url, id } = await link('https://example.com/');
  const answer = await visit(url, { method: 'HEAD' });
  expect([answer.status, answer.location?.host, answer.cookies]).toEqual([302, 'example.com', []]);
  expect((await clicksOf(id)).map((click) => click.flags)).toEqual([1]);
});

test.each([
  ['sec-purpose', 'prefetch'],
  ['sec-purpose', 'prefetch;prerender'],
  ['purpose', 'prefetch'],
])('a prefetch (%s: %s) gets the same redirect, no cookie, and is recorded as such', async (name, value) => {
  const { url, id } = await link('https://example.com/');
  const answer = await visit(url, { headers: { [name]: value } });
  expect([answer.status, answer.cookies]).toEqual([302, []]);
  expect((await clicksOf(id)).map((click) => click.flags)).toEqual([2]);
});

test.each([CRAWLER, PREVIEW, ''])(
  'a crawler or preview (%j) is redirected and never gets a cookie',
  async (agent) => {
    const { url, id } = await link('https://example.com/');
    const headers = { 'user-agent': agent, 'sec-gpc': '1', cookie: '_vid=x' };
    const answer = await visit(url, { headers });
    expect([answer.status, answer.cookies]).toEqual([302, []]);
    expect((await clicksOf(id)).map((click) => click.userAgent)).toEqual([agent]);
  },
);

test('a click has the visitor’s data of the request', async () => {
  const { url, id } = await link('https://example.com/');
  // The stream's clock may differ from the wall clock by a step of less than a second.
  const before = (Date.now() - 1_000) * 1_000;
  const { location } = await visit(url, { headers: { referer: 'https://news.example/p?q=1' } });
  const [click] = await clicksOf(id);
  expect(click).toMatchObject({ channel: 'facebook', referer: 'https://news.example/p?q=1', flags: 0 });
  expect(bytesToUuid(click?.workspaceId ?? new Uint8Array(16))).toBe(workspaceId);
  expect(bytesToUuid(click?.visitorId ?? new Uint8Array(16))).toBe(location?.searchParams.get('_vid'));
  expect(Buffer.from(click?.address ?? []).toString('hex')).toBe('00000000000000000000ffff7f000001');
  expect(click?.ts).toBeGreaterThanOrEqual(before);
});

test('a referer is recorded up to 2,048 characters and a user agent up to 1,024; headers of 12 KiB are accepted', async () => {
  const { url, id } = await link('https://example.com/');
  const { status } = await visit(`${url}?q=${'q'.repeat(4_000)}`, {
    headers: { referer: `https://e.example/${'r'.repeat(4_000)}`, 'user-agent': 'u'.repeat(3_000) },
  });
  expect(status).toBe(302);
  const [click] = await clicksOf(id);
  expect([click?.referer.length, click?.userAgent.length]).toEqual([2_048, 1_024]);
});

test.each([
  ['UTF-8', 'utf8', 'https://a.example/ä€😀/p'],
  ['Latin-1', 'latin1', 'https://a.example/ä/p'],
] as const)('a referer in %s is recorded as sent', async (_, encoding, referer) => {
  const { url, id } = await link('https://example.com/');
  // The client writes each character as one byte.
  const bytes = Buffer.from(referer, encoding).toString('latin1');
  expect((await visit(url, { headers: { referer: bytes } })).status).toBe(302);
  expect((await clicksOf(id))[0]?.referer).toBe(referer);
});

test('an unknown slug and a deleted link are a 404 page', async () => {
  const { slug, id } = await link('https://example.com/', { ...FACEBOOK, slug: 'Exact-Case' });
  expect((await visit(`${ingest.url}/${slug}`)).status).toBe(302);
  await stores.pool.query('UPDATE links SET deleted_at = now() WHERE id = $1', [id]);
  for (const path of ['/nothing-here', '/a/b', '/%00', '/...', `/${'x'.repeat(65)}`]) {
    const { status, headers, body } = await visit(ingest.url + path);
    expect([path, status, headers.get('content-type')]).toEqual([path, 404, 'text/html; charset=utf-8']);
    expect(body).toContain('Link not found');
  }
  await expect.poll(async () => (await visit(`${ingest.url}/${slug}`)).status).toBe(404);
});

test('a trailing slash and unnecessary escapes name the same link', async () => {
  const { slug, id } = await link('https://example.com/', { ...FACEBOOK, slug: 'Spring-Sale_1' });
  const spellings = ['Spring-Sale_1', 'Spring-Sale_1/', 'Spring%2DSale%5f1', '%53pring-Sale_1/'];
  for (const spelling of spellings) {
    const { status, location } = await visit(`${ingest.url}/${spelling}?a=1`);
    expect([spelling, status, location?.searchParams.get('a')]).toEqual([spelling, 302, '1']);
  }
  expect(await clicksOf(id)).toHaveLength(spellings.length);
  for (const other of [`/${slug}`, `${slug}%`, `${slug}%zz`, `${slug}/a`, `${slug}/.a`, '%ff']) {
    expect([other, (await visit(`${ingest.url}/${other}`)).status]).toEqual([other, 404]);
  }
});

/** Forms that texts and chats give to the address of the link `menu`. */
const TYPED =
  "MENU menu. menu, MENU) menu); menu] menu} menu> menu' menu! menu: menu… menu’ menu” menu» menu。 menu） menu%20 menu%0A \
menu%C2%A0 menu%E2%80%8B menu%EF%BB%BF menu%22 menu%2F menu%3F menu&x=1 menu&utm_source=a menu%26x=1 menu%3Fx=1 menu// \
menu/) menu/%20 %6DENU.".split(' ');

test('an address as people type it leads to its link, in memory or not, and the click has the link’s slug', async () => {
  const made = await link('https://example.com/', { slug: 'Menu' });
  const statuses = async (paths: string[]) =>
    Promise.all(paths.map(async (path) => [path, (await visit(`${ingest.url}/${path}`)).status]));
  const led = TYPED.map((path) => [path, 302]);
  // The first visits: only PostgreSQL knows the link.
  expect(await statuses(TYPED)).toEqual(led);
  expect(await statuses(TYPED)).toEqual(led);
  const unescaped = visitHost(ingest.url, '127.0.0.1', '/menu\u00e2\u0080\u00a6');
  expect((await unescaped).status).toBe(302);
  const clicks = await clicksOf(made.id);
  expect(clicks.map(({ labels }) => labels.slug)).toEqual(Array(2 * TYPED.length + 1).fill('Menu'));
  for (const other of ['menu/a', 'men', 'menu-', '.menu', 'me.nu', '%26menu']) {
    expect([other, (await visit(`${ingest.url}/${other}`)).status]).toEqual([other, 404]);
  }
});

test('a slug that ends with a hyphen is another one than the same without it', async () => {
  await link('https://example.com/plain', { slug: 'dash' });
  await link('https://example.com/hyphen', { slug: 'dash-' });
  const pathOf = async (path: string) => (await visit(`${ingest.url}/${path}`)).location?.pathname;
  expect(await Promise.all(['dash', 'dash.', 'dash-', 'Dash-,'].map(pathOf))).toEqual([
    '/plain',
    '/plain',
    '/hyphen',
    '/hyphen',
  ]);
});

test('health responds, icons are 404 and other methods 405', async () => {
  expect((await visit(`${ingest.url}/health/live`)).status).toBe(200);
  const ready = async () => {
    const { status, body } = await visit(`${ingest.url}/health/ready`);
    return [status, JSON.parse(body)];
  };
  // Anyone may call it, so only the metrics port has the details.
  await expect.poll(ready).toEqual([200, { status: 'ready' }]);
  await expect.poll(ingest.details).toMatchObject({ ready: true, body: { postgres: 'up' } });
  expect((await visit(`${ingest.url}/favicon.ico`)).status).toBe(404);
  expect((await visit(`${ingest.url}/metrics`)).status).toBe(404);
  const { url } = await link('https://example.com/');
  const put = await visit(url, { method: 'PUT', body: 'x' });
  expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  const post = await visit(url, { method: 'POST', body: 'x' });
  expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  expect((await visit(`${ingest.url}/robots.txt`, { method: 'POST' })).status).toBe(405);
});

test('outcomes, misses and the table’s size are metrics', async () => {
  await visit(`${ingest.url}/never-made`);
  const text = await ingest.registry.metrics();
  expect(text).toMatch(/hoplog_ingest_redirects_total\{outcome="redirected"\} [1-9]/);
  expect(text).toMatch(/hoplog_ingest_misses_total\{result="absent"\} [1-9]/);
  expect(text).toMatch(/hoplog_ingest_links [1-9]/);
  expect(text).toMatch(/hoplog_ingest_lost_total\{kind="click"\} 0/);
});
