import { afterAll, expect } from 'vitest';
import { inTransaction } from '../../sql/database/pool.ts';
import { domainsNamed } from '../../sql/domains/domains.ts';
import { recordCheck } from '../../sql/domains/record-check.ts';
import type { TestWorkspace } from '../support/api.ts';
import { makeDomain } from '../support/domains.ts';
import { sharedShopTest as test } from '../support/fixtures.ts';
import { startTestIngest, type TestIngest } from '../support/ingest.ts';
import { type Answer, PHONE, visit, visitHost } from '../support/visitors.ts';

type Imported = {
  created: number;
  waiting: number;
  skipped: number;
  errors: { link: string | null; field: string | null; message: string }[];
};

let ingest: TestIngest;

test.beforeAll(async ({ api, shop }) => {
  ingest = await startTestIngest({ ...api.stores, env: { SHORT_URL: 'https://hop.example' } });
  for (const domain of ['go.shop.example', 'x.shop.example', 'xn--mnchen-3ya.shop.example']) {
    await makeDomain(api.stores.pool, shop.workspace.id, domain);
  }
  await makeDomain(api.stores.pool, shop.workspace.id, 'standard.shop.example', { is_default: true });
});
afterAll(async () => {
  await ingest?.close();
  await ingest?.remove();
});

async function imported(
  shop: TestWorkspace,
  text: string | object,
  more: object = {},
  who = shop,
): Promise<Imported> {
  const body = { text: typeof text === 'string' ? text : JSON.stringify(text), ...more };
  const answer = await who.post<Imported>('/links/import', body);
  expect([answer.status, answer.text]).toEqual([200, answer.text]);
  return answer.body;
}

/** Waits until a visitor of an address is led to a path of shop.example; null: to nothing. */
async function expectLed(address: string, path: string | null): Promise<void> {
  const { host, pathname } = new URL(`https://${address}`);
  const led = async () => {
    const { status, location } = await visitHost(ingest.url, host, pathname);
    return status === 302 ? location?.pathname : null;
  };
  await expect.poll(led).toBe(path);
}

test('a link is on the domain that its row names, in the export of each service', async ({ shop }) => {
  const files: [address: string, path: string, text: string | object][] = [
    [
      'go.shop.example/shlink',
      '/shlink',
      'Long URL,Tags,Domain,Short code,Title\nhttps://shop.example/shlink,,go.shop.example,shlink,\n',
    ],
    ['go.shop.example/dub', '/dub', 'domain,key,url\ngo.shop.example,dub,https://shop.example/dub\n'],
    [
      'go.shop.example/reb',
      '/reb',
      {
        slashtag: 'reb',
        destination: 'https://shop.example/reb',
        shortUrl: 'go.shop.example/reb',
        domainName: 'go.shop.example',
        domain: { id: '8f104cc5', ref: '/domains/8f104cc5', fullName: 'go.shop.example' },
      },
    ],
    [
      'x.shop.example/short',
      '/short',
      {
        originalURL: 'https://shop.example/short',
        path: 'short',
        DomainId: 4711,
        shortURL: 'http://x.shop.example/short',
        secureShortURL: 'https://x.shop.example/short',
      },
    ],
    [
      'go.shop.example/port',
      '/port',
      'shorturl,longurl\nhttps://GO.shop.example.:443/port,https://shop.example/port\n',
    ],
    [
      'go.shop.example/slashes',
      '/slashes',
      'shorturl,longurl\n//go.shop.example/slashes,https://shop.example/slashes\n',
    ],
    [
      'xn--mnchen-3ya.shop.example/idn',
      '/idn',
      'domain,slug,url\nmünchen.shop.example,idn,https://shop.example/idn\n',
    ],
    [
      'xn--mnchen-3ya.shop.example/idn2',
      '/idn2',
      'shorturl,longurl\nhttps://MÜNCHEN.shop.example/idn2,https://shop.example/idn2\n',
    ],
    // The console's own export, of a link that is not on the default domain.
    [
      'hop.example/own',
      '/own',
      'destination_url,name,slug,short_url\nhttps://shop.example/own,Own,own,https://hop.example/own\n',
    ],
    [
      'hop.example/null',
      '/null',
      [{ destination_url: 'https://shop.example/null', name: 'N', slug: 'null', domain: null }],
    ],
    ['standard.shop.example/none', '/none', 'slug,url\nnone,https://shop.example/none\n'],
    ['standard.shop.example/empty', '/empty', 'domain,slug,url\n,empty,https://shop.example/empty\n'],
  ];
  for (const [address, path, text] of files) {
    expect([address, await imported(shop, text)]).toMatchObject([address, { created: 1, errors: [] }]);
    await expectLed(address, path);
  }
});

test('a domain is taken under any key, in any nesting, and a row that tells only its id is an error', async ({
  shop,
}) => {
  const to = (slug: string) => `https://shop.example/${slug}`;
  const go = 'go.shop.example';
  const named: [slug: string, file: string | object][] = [
    ['d1', `slashtag,destination,domain.fullName\nd1,${to('d1')},${go}\n`],
    ['d2', `slashtag,destination,DOMAIN.FULLNAME\nd2,${to('d2')},${go}\n`],
    ['d3', `slashtag,destination,Domain Full Name\nd3,${to('d3')},${go}\n`],
    ['d4', [{ slashtag: 'd4', destination: to('d4'), Domain: { id: 'a1', FullName: go } }]],
    ['d5', [{ shortCode: 'd5', longUrl: to('d5'), domain: { id: 3, authority: null, host: { name: go } } }]],
    ['d6', [{ shortCode: 'd6', longUrl: to('d6'), domains: [go] }]],
    ['d7', [{ slug: 'd7', url: to('d7'), link: { domain: go } }]],
    ['d8', [{ key: 'd8', url: to('d8'), domain: { slug: go, verified: true } }]],
    ['d9', [{ slug: 'd9', url: to('d9'), shortLink: { url: `https://${go}/d9` } }]],
    ['d10', `slug,url,vanity_domain,landing_domain\nd10,${to('d10')},${go},shop.example\n`],
    ['d11', `address,target,domain_id,link\nd11,${to('d11')},7,https://${go}/d11\n`],
    ['d14', [{ path: 'd14', originalURL: to('d14'), shortURL: `https://${go}/else` }]],
    ['d13', [{ shortCode: 'd13', longUrl: to('d13'), Domain: { Authority: go } }]],
    ['d12', [{ destination_url: to('d12'), name: 'D', slug: 'd12', Domain: go }]],
  ];
  for (const [slug, file] of named) {
    expect([slug, await imported(shop, file)]).toMatchObject([slug, { created: 1, errors: [] }]);
    await expectLed(`${go}/${slug}`, `/${slug}`);
  }
  const unexplained: [field: string, file: string | object][] = [
    ['domain_id', `id,address,target,domain_id\n1,byid,${to('byid')},7\n`],
    ['domain.id', [{ slashtag: 'byid', destination: to('byid'), domain: { id: 'a1b2' } }]],
    ['domain.label', [{ slug: 'byid', url: to('byid'), domain: { active: true, label: 'Main' } }]],
    ['DomainId', [{ path: 'byid', originalURL: to('byid'), DomainId: 4711 }]],
    ['domains', [{ slug: 'byid', url: to('byid'), domains: [go, 'x.shop.example'] }]],
  ];
  for (const [field, file] of unexplained) {
    for (const more of [{}, { domain: 'x.shop.example' }, { unproven: 'keep' }]) {
      expect(await imported(shop, file, more)).toMatchObject({
        created: 0,
        errors: [{ link: 'byid', field }],
      });
    }
  }
  const kutt = `id,address,target,domain_id\n1,byid,${to('byid')},7\n2,none,${to('none')},\n3,nul,${to('nul')},NULL\n`;
  expect(await imported(shop, kutt, { unproven: 'move', domain: 'x.shop.example' })).toMatchObject({
    created: 3,
  });
  await expectLed('x.shop.example/byid', '/byid');
});

test('a row is skipped the second time, also with another spelling of its domain', async ({ shop }) => {
  const rows = (domain: string) => `domain,slug,url\n${domain},again,https://shop.example/again\n`;
  expect(await imported(shop, rows('xn--mnchen-3ya.shop.example'))).toMatchObject({ created: 1 });
  for (const spelling of ['München.shop.example.', 'https://münchen.shop.example/']) {
    expect(await imported(shop, rows(spelling))).toMatchObject({ created: 0, skipped: 1, errors: [] });
  }
});

test('several names of one link of Bitly are several links, also with one back-half on two domains', async ({
  shop,
}) => {
  const link = {
    id: 'go.shop.example/4aBcDe2',
    link: 'https://go.shop.example/4aBcDe2',
    custom_bitlinks: ['https://go.shop.example/sale', 'https://x.shop.example/sale'],
    long_url: 'https://shop.example/sale',
    tags: [],
  };
  const objects = {
    id: 'go.shop.example/5aBcDe2',
    link: 'https://go.shop.example/5aBcDe2',
    custom_bitlinks: [
      { bitlink: { id: 'x.shop.example/tea' }, custom_bitlink: 'https://x.shop.example/tea' },
    ],
    long_url: 'https://shop.example/tea',
  };
  expect(await imported(shop, { links: [objects] })).toMatchObject({ created: 2, errors: [] });
  for (const address of ['x.shop.example/tea', 'go.shop.example/5aBcDe2']) await expectLed(address, '/tea');
  // The generated name at bit.ly stays there: the others were published.
  const shared = {
    id: 'bit.ly/3SD8bAQ',
    link: 'https://bit.ly/3SD8bAQ',
    custom_bitlinks: ['https://go.shop.example/menu'],
    long_url: 'https://shop.example/menu',
    tags: [],
  };
  expect(await imported(shop, { links: [link, shared] })).toMatchObject({ created: 4, errors: [] });
  for (const address of ['go.shop.example/sale', 'x.shop.example/sale', 'go.shop.example/4aBcDe2']) {
    await expectLed(address, '/sale');
  }
  await expectLed('go.shop.example/menu', '/menu');
  await expectLed('hop.example/3SD8bAQ', null);
});

test('a domain that the workspace has not proven is an error of the row, which names link and column', async ({
  shop,
}) => {
  const text =
    'domain,key,url\ndub.sh,there,https://shop.example/a\nno host,x,https://shop.example/b\n17,y,https://shop.example/c\n';
  const { created, errors } = await imported(shop, text);
  expect(created).toBe(0);
  expect(errors).toMatchObject([
    { link: 'there', field: 'domain', message: expect.stringMatching(/^dub\.sh is not a verified domain/) },
    { link: 'x', field: 'domain', message: 'must be a host name such as go.example.com' },
    { link: 'y', field: 'domain' },
  ]);
  await expectLed('hop.example/there', null);
});

test('rows wait for the proof of their domain with `unproven: keep`, and answer from then on', async ({
  api,
  shop,
}) => {
  const text =
    'domain,key,url\nnew.shop.example,soon,https://shop.example/soon\nnew.shop.example,later,https://shop.example/later\ngo.shop.example,now,https://shop.example/now\n';
  expect(await imported(shop, text, { unproven: 'keep' })).toMatchObject({
    created: 3,
    waiting: 2,
    errors: [],
  });
  await expectLed('go.shop.example/now', '/now');
  await expectLed('new.shop.example/soon', null);
  expect(await imported(shop, text, { unproven: 'keep' })).toMatchObject({
    created: 0,
    skipped: 3,
    errors: [],
  });
  const [domain] = await domainsNamed(api.stores.pool, 'new.shop.example');
  expect(domain).toMatchObject({ status: 'pending', workspace_id: shop.workspace.id });
  await inTransaction(api.stores.pool, (tx) => recordCheck(tx, domain?.id ?? '', 'forced', new Date()));
  await expectLed('new.shop.example/soon', '/soon');
  await expectLed('new.shop.example/later', '/later');
});

test("a domain that can not become the workspace's keeps no row waiting", async ({ api, shop }) => {
  const other = await api.addWorkspace();
  const free = await api.addWorkspace({ plan: 'free' });
  const row = (domain: string) => `domain,key,url\n${domain},w,https://shop.example/w\n`;
  const refused = async (domain: string, who = other) =>
    (await imported(shop, row(domain), { unproven: 'keep' }, who)).errors.map(({ message }) => message);
  expect(await refused('go.shop.example')).toEqual(['another workspace has verified go.shop.example']);
  expect(await refused('co.uk')).toEqual(['must not be a public suffix: anyone can register names below it']);
  expect(await refused('192.0.2.7')).toEqual([expect.stringMatching(/^must be a host name/)]);
  expect(await refused('fresh.shop.example', free)).toEqual([
    'a domain of the workspace requires an active paid plan',
  ]);
});

test('`unproven: move` and `domain` say where rows go that name no domain of the workspace', async ({
  shop,
}) => {
  const text = 'domain,key,url\ndub.sh,moved,https://shop.example/moved\n,plain,https://shop.example/plain\n';
  const more = { unproven: 'move', domain: 'X.shop.example' };
  expect(await imported(shop, text, more)).toMatchObject({ created: 2, errors: [] });
  await expectLed('x.shop.example/moved', '/moved');
  await expectLed('x.shop.example/plain', '/plain');
  expect(await imported(shop, 'slug,url\nbare,https://shop.example/bare\n', { domain: null })).toMatchObject({
    created: 1,
  });
  await expectLed('hop.example/bare', '/bare');
  const wrong = await shop.post('/links/import', { text, domain: 'else.example' });
  expect([wrong.status, wrong.body.error.details?.[0]?.path]).toEqual([400, 'domain']);
});

test('300 links of Short.io on two domains move with passwords, rules, and ends, and each is visited', async ({
  shop,
}) => {
  const long = (n: number) => `https://shop.example/moved/${n}`;
  const hostOf = (n: number) => (n % 2 === 0 ? 'hop.example' : 'go.shop.example');
  const app = 'https://apps.apple.com/app/id1';
  const kinds: ((n: number) => object)[] = [
    () => ({ tags: ['moved'] }),
    (n) => ({ password: `secret ${n}` }),
    () => ({ iphoneURL: app, androidURL: 'https://play.google.com/store/apps/details?id=a' }),
    () => ({ expiresAt: 1_577_880_000_000, expiredURL: 'https://shop.example/over' }),
    (n) => ({ splitURL: `${long(n)}b`, splitPercent: 50 }),
    () => ({ redirectType: 301 }),
  ];
  const links = Array.from({ length: 300 }, (_, n) => ({
    originalURL: long(n),
    path: `moved-${n}`,
    title: `Link ${n}`,
    DomainId: n % 2,
    shortURL: `https://${hostOf(n)}/moved-${n}`,
    ...kinds[n % 12]?.(n),
  }));
  const result = await imported(shop, links);
  expect(result).toMatchObject({ created: 300, skipped: 0, errors: [] });
  expect(await imported(shop, links)).toMatchObject({ created: 0, skipped: 300, errors: [] });
  await expectLed('hop.example/moved-0', '/moved/0');

  const ledTo = ({ status, location }: Answer) => [
    status,
    location && `${location.origin}${location.pathname}`,
  ];
  for (let n = 0; n < links.length; n++) {
    const path = `/moved-${n}`;
    const come = (form?: Record<string, string>, more?: Record<string, string>) =>
      visitHost(ingest.url, hostOf(n), path, form, more);
    const first = await come();
    const kind = n % 12;
    if (kind === 0 || kind > 5) expect(ledTo(first)).toEqual([302, long(n)]);
    if (kind === 1) {
      expect(first.status).toBe(200);
      if (n === 1) expect((await come({ password: 'wrong' })).status).toBe(401);
      const cookie = (await come({ password: `secret ${n}` })).cookies
        .map((one) => one.split(';')[0])
        .join('; ');
      expect(ledTo(await come(undefined, { cookie }))).toEqual([302, long(n)]);
    }
    if (kind === 2) {
      expect(ledTo(first)).toEqual([302, long(n)]);
      const phone = await visit(`${ingest.url}${path}`, { headers: { 'user-agent': PHONE } });
      expect(phone.location?.href).toContain(app);
    }
    if (kind === 3) expect(ledTo(first)).toEqual([302, 'https://shop.example/over']);
    if (kind === 4) expect([long(n), `${long(n)}b`]).toContain(ledTo(first)[1]);
    if (kind === 5) expect(ledTo(first)).toEqual([301, long(n)]);
  }
}, 120_000);
