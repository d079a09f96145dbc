import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashPassword, LINK_COST } from '../core/access/passwords.ts';
import type { ClickEvent } from '../core/events/types.ts';
import { bytesToUuid } from '../core/ids.ts';
import { inTransaction } from '../sql/database/pool.ts';
import { recordCheck } from '../sql/domains/record-check.ts';
import { claimSlugs, leaveAlias } from '../sql/links/slugs.ts';
import { makeDomain } from '../test/support/domains.ts';
import {
  isCurrent,
  makeLink,
  makeWorkspace,
  startTestIngest,
  type TestIngest,
} from '../test/support/ingest.ts';
import { type TestStores, testStores } from '../test/support/stores.ts';
import { visitHost } from '../test/support/visitors.ts';

let stores: TestStores;
/** `whole` has every link in memory. `small` keeps two, and reads the others from its file or PostgreSQL. */
let whole: TestIngest;
let small: TestIngest;
let brand: string;
let rival: string;

beforeAll(async () => {
  stores = await testStores();
  brand = (await makeWorkspace(stores.pool)).id;
  rival = (await makeWorkspace(stores.pool)).id;
  whole = await startTestIngest(stores);
  small = await startTestIngest({ ...stores, env: { INGEST_LINKS_IN_MEMORY: '2' } });
});
afterAll(async () => {
  for (const ingest of [whole, small]) {
    await ingest?.close();
    await ingest?.remove();
  }
  await stores?.close();
});

const both = () => [whole, small];

/** Returns the path that a visitor of `host` is redirected to, or the status. */
async function answer(ingest: TestIngest, host: string, path: string): Promise<string> {
  const { status, location } = await visitHost(ingest.url, host, path);
  return status === 302 ? (location?.pathname ?? '') : String(status);
}

/** Waits until both ingests respond to visitors of the host as expected. */
async function expectSoon(host: string, path: string, expected: string): Promise<void> {
  for (const ingest of both()) await expect.poll(() => answer(ingest, host, path)).toBe(expected);
}

const linkOn = (domain_number: number, slug: string, path: string, workspaceId = brand) =>
  makeLink(stores.pool, workspaceId, `https://example.com${path}`, { domain_number, slug });

/** Moves a link as `PATCH /links/:id` does. */
function move(link: { id: string; slug: string }, from: number, to: number) {
  return inTransaction(stores.pool, async (tx) => {
    await claimSlugs(tx, [
      { domainNumber: to, slug: link.slug, kind: 'link', targetId: link.id, workspaceId: brand },
    ]);
    await tx.query('UPDATE links SET domain_number = $2 WHERE id = $1', [link.id, to]);
    await leaveAlias(tx, { domainNumber: from, slug: link.slug, linkId: link.id });
  });
}

async function clicksOf(ingest: TestIngest, linkId: string): Promise<ClickEvent[]> {
  const events = await ingest.events();
  return events.filter(
    (event): event is ClickEvent => event.kind === 'click' && bytesToUuid(event.linkId) === linkId,
  );
}

test('a slug stands for another link on each domain, and a click has the domain that was asked for', async () => {
  const go = await makeDomain(stores.pool, brand, 'go.brand.example');
  const to = await makeDomain(stores.pool, rival, 'to.rival.example');
  await linkOn(0, 'Sale', '/deployment');
  const ours = await linkOn(go.number, 'Sale', '/brand');
  await linkOn(to.number, 'Sale', '/rival', rival);
  await expectSoon('go.brand.example', '/Sale', '/brand');
  await expectSoon('to.rival.example', '/Sale', '/rival');
  for (const host of ['short.test', 'unknown.example', '127.0.0.1:8080', 'x.go.brand.example']) {
    await expectSoon(host, '/Sale', '/deployment');
  }
  // The host in any case, with a port and with the final dot; the slug in any case too.
  for (const host of ['GO.Brand.example', 'go.brand.example:8443', 'go.brand.example.']) {
    await expectSoon(host, '/Sale', '/brand');
  }
  await expectSoon('go.brand.example', '/sale.', '/brand');
  for (const ingest of both()) {
    const clicks = await clicksOf(ingest, ours.id);
    expect(new Set(clicks.map(({ labels }) => `${labels.domain} ${labels.slug}`))).toEqual(
      new Set(['go.brand.example Sale']),
    );
    expect(clicks.length).toBeGreaterThanOrEqual(4);
  }
});

test('cookies of a domain are secure where the visitor’s browser used https, whatever short links use', async () => {
  const domain = await makeDomain(stores.pool, brand, 'tls.brand.example');
  const password_hash = await hashPassword('open', LINK_COST);
  await linkOn(domain.number, 'tls', '/tls');
  await makeLink(stores.pool, brand, 'https://example.com/', {
    domain_number: domain.number,
    slug: 'kept',
    password_hash,
  });
  await expectSoon('tls.brand.example', '/tls', '/tls');
  const cookieOf = async (scheme: string, path: string, form?: Record<string, string>) => {
    const { cookies } = await visitHost(whole.url, 'tls.brand.example', path, form, {
      'x-forwarded-proto': scheme,
    });
    return cookies.map((cookie) => [cookie.slice(0, 5), cookie.includes('; Secure')]);
  };
  expect(await cookieOf('https', '/tls')).toEqual([['_vid=', true]]);
  expect(await cookieOf('http', '/tls')).toEqual([['_vid=', false]]);
  expect(await cookieOf('https', '/kept', { password: 'open' })).toContainEqual(['_pass', true]);
});

test('the name of a link on a domain leads nowhere on another host', async () => {
  const domain = await makeDomain(stores.pool, brand, 'inner.brand.example');
  await linkOn(domain.number, 'inner', '/inner');
  await expectSoon('inner.brand.example', '/inner', '/inner');
  for (const path of [`/${domain.number}/inner`, `/${domain.number}%2Finner`, '/@inner.brand.example']) {
    await expectSoon('short.test', path, '404');
    await expectSoon('inner.brand.example', path, '404');
  }
});

test('a moved link redirects at its old address until that is given to another link or the link is deleted', async () => {
  const old = await makeDomain(stores.pool, brand, 'old.brand.example');
  const fresh = await makeDomain(stores.pool, brand, 'new.brand.example');
  const kept = await linkOn(old.number, 'Kept', '/kept');
  const given = await linkOn(old.number, 'Given', '/given');
  const gone = await linkOn(old.number, 'Gone', '/gone');
  await expectSoon('old.brand.example', '/Kept', '/kept');
  for (const link of [kept, given, gone]) await move(link, old.number, fresh.number);
  for (const path of ['/Kept', '/Given', '/Gone']) {
    await expectSoon('new.brand.example', path, path.toLowerCase());
    await expectSoon('old.brand.example', path, path.toLowerCase());
  }
  await stores.pool.query('UPDATE links SET slug = $2 WHERE id = $1', [kept.id, 'Renamed']);
  await inTransaction(stores.pool, async (tx) => {
    const claim = { domainNumber: old.number, slug: 'Given', kind: 'link' as const };
    const other = await claimSlugs(tx, [{ ...claim, targetId: gone.id, workspaceId: rival }]);
    expect(other).toEqual([]);
  });
  await stores.pool.query('UPDATE links SET deleted_at = now() WHERE id = $1', [gone.id]);
  await expectSoon('old.brand.example', '/Kept', '/kept');
  await expectSoon('old.brand.example', '/Gone', '404');
  await expectSoon('new.brand.example', '/Gone', '404');
  for (const ingest of both()) {
    const labels = (await clicksOf(ingest, kept.id)).map(
      ({ labels: { domain, slug } }) => `${domain}/${slug}`,
    );
    expect(new Set(labels)).toEqual(new Set(['old.brand.example/Kept', 'new.brand.example/Kept']));
  }
  // Moving back turns the alias into the link's own address again.
  await move({ ...given }, fresh.number, old.number);
  await expectSoon('old.brand.example', '/Given', '/given');
  await expectSoon('new.brand.example', '/Given', '/given');
});

test('the domains and aliases of an earlier run serve a start without PostgreSQL', async () => {
  const domain = await makeDomain(stores.pool, brand, 'disk.brand.example');
  const moved = await linkOn(domain.number, 'Moved', '/moved');
  await linkOn(domain.number, 'Stays', '/stays');
  await move(moved, domain.number, 0);
  const first = await startTestIngest(stores);
  await expect.poll(() => isCurrent(first)).toBe(true);
  await expect.poll(() => answer(first, 'disk.brand.example', '/Moved')).toBe('/moved');
  await first.close();
  const url = new URL(stores.databaseUrl);
  url.port = '1';
  const second = await startTestIngest({ ...stores, databaseUrl: url.href, dataDir: first.dataDir });
  try {
    expect(await answer(second, 'disk.brand.example', '/Stays')).toBe('/stays');
    expect(await answer(second, 'disk.brand.example', '/Moved')).toBe('/moved');
  } finally {
    await second.close();
    await second.remove();
  }
});

test('a domain is served while it is proven, and its links lead nowhere once it is removed', async () => {
  const waiting = await makeDomain(stores.pool, brand, 'waits.brand.example', { status: 'pending' });
  await linkOn(waiting.number, 'Wait', '/wait');
  await linkOn(0, 'Wait', '/deployment');
  await expectSoon('waits.brand.example', '/Wait', '/deployment');
  await stores.pool.query(`UPDATE domains SET status = 'verified' WHERE id = $1`, [waiting.id]);
  await expectSoon('waits.brand.example', '/Wait', '/wait');
  // A failing domain redirects as before. Once the other link works, ingest has read the change.
  await stores.pool.query(`UPDATE domains SET status = 'failing' WHERE id = $1`, [waiting.id]);
  await linkOn(waiting.number, 'Since', '/since');
  await expectSoon('waits.brand.example', '/Since', '/since');
  await expectSoon('waits.brand.example', '/Wait', '/wait');
  // Visitors click meanwhile. Each reaches one of the two destinations, and none sees an error.
  let removed = false;
  const seen = new Set<string>();
  const visitors = (async () => {
    while (!removed)
      for (const ingest of both()) seen.add(await answer(ingest, 'waits.brand.example', '/Wait'));
  })();
  await stores.pool.query('DELETE FROM domains WHERE id = $1', [waiting.id]);
  await expectSoon('waits.brand.example', '/Wait', '/deployment');
  removed = true;
  await visitors;
  expect([...seen].filter((path) => !['/wait', '/deployment'].includes(path))).toEqual([]);
});

test('a domain that another workspace takes over leads to the links of that workspace alone', async () => {
  const host = 'taken.brand.example';
  const ours = await makeDomain(stores.pool, brand, host);
  const theirs = await makeDomain(stores.pool, rival, host, { status: 'pending' });
  await linkOn(ours.number, 'Ours', '/ours');
  await linkOn(ours.number, 'Both', '/ours');
  await linkOn(theirs.number, 'Both', '/theirs', rival);
  await expectSoon(host, '/Both', '/ours');
  await inTransaction(stores.pool, (tx) => recordCheck(tx, theirs.id, 'forced', new Date()));
  await expectSoon(host, '/Both', '/theirs');
  await expectSoon(host, '/Ours', '404');
  // And back: the links of the first are where they were.
  await inTransaction(stores.pool, (tx) => recordCheck(tx, ours.id, 'forced', new Date()));
  await expectSoon(host, '/Both', '/ours');
  await expectSoon(host, '/Ours', '/ours');
});

/** Visits `host` in the first ingest and returns the status, the address it leads to, and the body. */
async function shown(host: string, path: string) {
  const { status, location, body, headers } = await visitHost(whole.url, host, path);
  return { status, to: location?.href ?? null, body, type: headers.get('content-type') };
}

test('visits of the root and of unknown slugs are clicks without a link, and lead where the domain says', async () => {
  const domain = await makeDomain(stores.pool, brand, 'orphan.brand.example');
  await linkOn(domain.number, 'Known', '/known');
  await expectSoon('orphan.brand.example', '/Known', '/known');
  for (const path of ['/', '/Gone', '/a/b?x=1', '/not-known.', `/${'x'.repeat(80)}`]) {
    expect([path, (await shown('orphan.brand.example', path)).status]).toEqual([path, 404]);
  }
  await stores.pool.query('UPDATE domains SET root_url = $2, not_found_url = $3 WHERE id = $1', [
    domain.id,
    'https://brand.example/?a=b',
    'https://brand.example/not-found',
  ]);
  await expect
    .poll(async () => (await shown('orphan.brand.example', '/')).to)
    .toBe('https://brand.example/?a=b');
  expect(await shown('orphan.brand.example', '/Gone')).toMatchObject({
    status: 302,
    to: 'https://brand.example/not-found',
  });
  // Requests that browsers, crawlers, and scanners send to every host are not clicks.
  for (const path of [
    '/apple-touch-icon.png',
    '/apple-touch-icon-120x120-precomposed.png',
    '/ios/apple-touch-icon.png',
    '/favicon-32x32.png',
    '/sitemap.xml',
    '/sitemap_index.xml',
    '/ads.txt',
    '/app-ads.txt',
    '/security.txt',
    '/site.webmanifest',
    '/manifest',
    '/sw.js',
    '/service-worker.js',
    '/wp-sitemap.xml',
    '/news-sitemap.xml',
    '/sitemap.txt',
    '/mstile-150x150.png',
    '/android-chrome-192x192.png',
    '/safari-pinned-tab.svg',
    '/manifest.webmanifest',
    '/opensearch.xml',
    '/Autodiscover/Autodiscover.json',
    '/apple-app-site-association',
    '/autodiscover/autodiscover.xml',
  ]) {
    expect([path, (await shown('orphan.brand.example', path)).status]).toEqual([path, 404]);
  }
  // People may have such addresses of the site that was here before.
  for (const path of [
    '/index.php',
    '/shop/produkt.php',
    '/.env',
    '/.git/config',
    '/wp-login.php',
    '/wp-admin/setup.php',
    '/blog/wp-admin/',
    '/wordpress/wp-admin/',
    '/vendor/phpunit/phpunit/src/Util/PHP/eval-stdin.php',
    '/cgi-bin/luci',
    '/blog/wp-includes/wlwmanifest.xml',
    '/server-status',
    '/login.action',
    '/solr/admin/info/system',
    '/boaform/admin/formLogin',
    '/backup.zip',
    '/docker-compose.yml',
    '/package.json',
    '/composer.json',
    '/credentials.json',
    '/id_rsa',
    '/config.json',
    '/telescope/requests',
    '/api/v1/pods',
    '/v2/_catalog',
    '/manager/html',
    '/remote/login',
    '/geoserver/web/',
    '/GponForm/diag_Form',
    '/_profiler/phpinfo',
    '/debug/default/view',
    '/druid/index.html',
    '/ecp/x.js',
    '/swagger.json',
    '/web.config',
    '/appsettings.json',
    '/terraform.tfstate',
    '/phpinfo',
  ]) {
    const { status, to } = await shown('orphan.brand.example', path);
    expect([path, status, to]).toEqual([path, 302, 'https://brand.example/not-found']);
  }
  const events = async () =>
    (await whole.events()).filter((event): event is ClickEvent => event.kind === 'click');
  const orphans = (await events()).filter(({ labels }) => labels.domain === 'orphan.brand.example');
  const slugs = new Set(
    orphans.filter(({ linkId }) => linkId.every((byte) => byte === 0)).map(({ labels }) => labels.slug),
  );
  expect(slugs).toEqual(new Set(['', 'Gone', 'a/b', 'not-known.', 'x'.repeat(64)]));
  expect(new Set(orphans.map(({ workspaceId }) => bytesToUuid(workspaceId)))).toEqual(new Set([brand]));
  // Nothing changes on the deployment's own domain.
  const before = (await events()).length;
  expect((await shown('short.test', '/')).status).toBe(200);
  expect((await shown('short.test', '/Nowhere')).status).toBe(404);
  expect((await events()).length).toBe(before);
});

test('an expired link without its own address leads where its domain says', async () => {
  const domain = await makeDomain(stores.pool, brand, 'over.brand.example', {
    expired_url: 'https://brand.example/over',
  });
  const expires_at = new Date(0);
  const on = (slug: string, columns: object = {}) =>
    makeLink(stores.pool, brand, 'https://example.com/', {
      domain_number: domain.number,
      slug,
      expires_at,
      ...columns,
    });
  await on('plain');
  await on('own', { expired_redirect_url: 'https://example.com/own' });
  await makeLink(stores.pool, brand, 'https://example.com/', { slug: 'elsewhere', expires_at });
  await expect
    .poll(async () => (await shown('over.brand.example', '/plain')).to)
    .toBe('https://brand.example/over');
  expect((await shown('over.brand.example', '/own')).to).toBe('https://example.com/own');
  expect((await shown('short.test', '/elsewhere')).status).toBe(410);
});

test('the app files of a domain are served as stored, on that domain only', async () => {
  const text = '{"b":1,  "a": {"applinks":[]}}';
  await makeDomain(stores.pool, brand, 'app.brand.example', {
    apple_app_site_association: text,
    not_found_url: 'https://brand.example/not-found',
  });
  const path = '/.well-known/apple-app-site-association';
  await expect
    .poll(() => shown('app.brand.example', path))
    .toEqual({
      status: 200,
      to: null,
      body: text,
      type: 'application/json',
    });
  expect((await shown('app.brand.example', '/.well-known/assetlinks.json')).status).toBe(404);
  expect((await shown('short.test', path)).status).toBe(404);
  const clicks = (await whole.events()).filter(
    (event) => event.kind === 'click' && event.labels.domain === 'app.brand.example',
  );
  expect(clicks).toEqual([]);
});
