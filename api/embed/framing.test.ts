import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApi, type TestWorkspace, testApi } from '../../test/support/api.ts';
import { buildWeb } from '../../web/build.ts';

const SHOP = 'https://shop.example';
const OTHER = 'https://other.example';

let api: TestApi;
let shop: TestWorkspace;
let open: TestWorkspace;
beforeAll(async () => {
  await buildWeb();
  api = await testApi();
  shop = await api.addWorkspace({
    allowed_origins: [SHOP, 'http://localhost:8080', 'capacitor://localhost'],
  });
  open = await api.addWorkspace();
});
afterAll(() => api.close());

function pageFor(
  { publishableKey: key }: { publishableKey: string },
  headers: Record<string, string>,
  more = '',
) {
  const url = `/embed/referrals?key=${key}&uid=u1${more}`;
  return api.app.inject({ method: 'GET', url, headers: { 'sec-fetch-dest': 'iframe', ...headers } });
}
const ancestorsIn = ({ headers }: { headers: Record<string, unknown> }) =>
  /frame-ancestors ([^;]*)/.exec(String(headers['content-security-policy']))?.[1];

test('the page names the allowed origins as its frame-ancestors, and any site where there are none', async () => {
  expect(ancestorsIn(await pageFor(shop, {}))).toBe(`${SHOP} http://localhost:8080 capacitor://localhost`);
  expect(ancestorsIn(await pageFor(open, {}))).toBe('*');
  // The script uses the first of several keys.
  const firstOf = async (...keys: string[]) =>
    ancestorsIn(await pageFor({ publishableKey: keys.join('&key=') }, {}));
  expect(await firstOf(shop.publishableKey, 'x')).toContain(SHOP);
  expect(await firstOf(shop.publishableKey, open.publishableKey)).toContain(SHOP);
  expect(await firstOf(open.publishableKey, shop.publishableKey)).toBe('*');
  const none = `pk_live_00000000_${'0'.repeat(48)}`;
  expect(ancestorsIn(await pageFor({ publishableKey: none }, {}))).toBe('*');
  // The lookup of a key without its secret returns no list.
  const guessed = `${shop.publishableKey.slice(0, -1)}${shop.publishableKey.endsWith('0') ? '1' : '0'}`;
  expect(ancestorsIn(await pageFor({ publishableKey: guessed }, {}))).toBe('*');
  expect(ancestorsIn(await pageFor({ publishableKey: shop.secretKey }, {}))).toBe('*');
});

test('origins that no policy can name are left out, and do not open the page', async () => {
  const odd = await api.addWorkspace({
    allowed_origins: ["https://a;script-src 'unsafe-inline'", 'http://[::1]'],
  });
  const answer = await pageFor(odd, {});
  expect(ancestorsIn(answer)).toBe("'none'");
  expect(answer.headers['content-security-policy']).not.toContain('unsafe-inline');
});

test('a site outside the list gets a sentence instead of the dashboard, in its theme and without a script', async () => {
  const refused = await pageFor(shop, { referer: `${OTHER}/` }, '&theme=dark');
  expect([refused.statusCode, ancestorsIn(refused)]).toEqual([403, '*']);
  expect(refused.body).toContain(`<code>${OTHER}</code> is not in the workspace's allowed origins`);
  expect(refused.body).toContain('data-theme="dark"');
  expect(refused.body).not.toContain('id="root"');
  for (const referer of [`${SHOP}/`, `${api.deps.config.appUrl}/x`]) {
    expect((await pageFor(shop, { referer })).statusCode).toBe(200);
  }
  expect((await pageFor(open, { referer: `${OTHER}/` })).statusCode).toBe(200);
  // A link from that page to the dashboard is not a frame.
  const linked = await pageFor(shop, { referer: `${OTHER}/`, 'sec-fetch-dest': 'document' });
  expect(linked.statusCode).toBe(200);
  const hostile = await pageFor(shop, { referer: "https://a'<b>.example/" });
  expect(hostile.body).not.toContain('<b>');
});

test('the page is in the language of the tag, else of the workspace, else of the browser', async () => {
  const german = await api.addWorkspace({ language: 'de' });
  const langOf = async (...args: Parameters<typeof pageFor>) => {
    const { body } = await pageFor(...args);
    return /<html ([^>]*)>/.exec(body)?.[1];
  };
  const polish = { 'accept-language': 'pl-PL,pl;q=0.9,en;q=0.5' };
  expect(await langOf(open, polish, '&language=ar')).toBe('lang="ar" dir="rtl"');
  expect(await langOf(german, polish, '&language=ar')).toBe('lang="ar" dir="rtl"');
  expect(await langOf(german, polish)).toBe('lang="de" dir="ltr"');
  expect(await langOf(open, polish)).toBe('lang="pl" dir="ltr"');
  expect(await langOf(open, {})).toBe('lang="en" dir="ltr"');
  // The script names an unknown one, in the language that is used instead.
  expect(await langOf(open, polish, '&language=xx&language=de')).toBe('lang="pl" dir="ltr"');
  expect((await pageFor(open, polish)).headers.vary).toContain('Accept-Language');
  const refused = await pageFor(shop, { referer: `${OTHER}/` }, '&language=ja');
  expect(refused.body).toContain('<html lang="ja" dir="ltr" data-theme="light"');
  expect(refused.body).toContain('このサイトでは紹介を表示できません');
});

test('a page in a cache is not taken for one under a changed list', async () => {
  const site = await api.addWorkspace();
  const first = await pageFor(site, {});
  const tag = { 'if-none-match': String(first.headers.etag) };
  expect((await pageFor(site, tag)).statusCode).toBe(304);
  await site.patch('/workspace', { allowed_origins: [SHOP] });
  const changed = await pageFor(site, tag);
  expect([changed.statusCode, ancestorsIn(changed)]).toEqual([200, SHOP]);
});

test('a call of the embed is refused for each page above it that is not allowed', async () => {
  const { appUrl } = api.deps.config;
  const statusIn = async (ancestors: string | null, origin = appUrl) => {
    const headers = { origin, ...(ancestors !== null && { 'embed-ancestors': ancestors }) };
    const { status } = await shop.get('/referrals/stats?external_user_id=u1', {
      key: shop.publishableKey,
      headers,
    });
    return status;
  };
  // 404 means that there is no program, and so that the call was allowed.
  for (const allowed of [null, '', SHOP, `${SHOP} capacitor://localhost`, appUrl]) {
    expect([allowed, await statusIn(allowed)]).toEqual([allowed, 404]);
  }
  for (const other of [OTHER, 'null', `${SHOP} ${OTHER}`, `${OTHER},${SHOP}`]) {
    expect([other, await statusIn(other)]).toEqual([other, 403]);
  }
  // The header does not replace the check of the call's own origin.
  expect(await statusIn(SHOP, OTHER)).toBe(403);
});

test('a preflight allows the header', async () => {
  const { headers } = await api.app.inject({
    method: 'OPTIONS',
    url: '/api/v1/referrals/stats',
    headers: { origin: OTHER, 'access-control-request-method': 'GET' },
  });
  expect(headers['access-control-allow-headers']).toContain('Embed-Ancestors');
});
