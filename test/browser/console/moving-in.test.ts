import { expect, test } from 'vitest';
import { visitHost } from '../../support/visitors.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsolePage, type ConsoleSite, consoleSite, expectClean, expectGood } from './console-site.ts';

/** Each visit of 300 links is made, on a machine that may have other things to do. */
const LONG = { timeout: 400_000 };

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

const PROVEN = 'go.moving.example';
const WAITING = 'x.moving.example';
const LINKS = 300;
const to = (slug: string) => `https://shop.example/${slug}`;
const PHONE_TARGET = 'https://apps.apple.com/app/id1';

/**
 * The n-th link as `GET /api/links` of Short.io lists it (https://developers.short.io/reference), with the passwords
 * that its owner added by hand: two thirds on one domain, the others on another one.
 */
function shortIoLink(n: number) {
  const host = n % 3 === 0 ? WAITING : PROVEN;
  const path = `move-${n}`;
  return {
    idString: `lnk_4Kq_${n}`,
    originalURL: to(path),
    path,
    title: n % 2 === 0 ? `Page ${n}` : null,
    DomainId: n % 3 === 0 ? 4711 : 4712,
    shortURL: `https://${host}/${path}`,
    secureShortURL: `https://${host}/${path}`,
    createdAt: '2024-03-01T08:00:00.000Z',
    tags: ['moved'],
    cloaking: false,
    archived: n % 50 === 7,
    expiresAt: n % 20 === 1 ? Date.UTC(2020, 0) : null,
    expiredURL: n % 40 === 1 ? to('over') : null,
    clicksLimit: n % 20 === 2 ? 1 : null,
    iphoneURL: n % 20 === 4 ? PHONE_TARGET : null,
    skipQS: n % 20 === 5,
    hasPassword: n % 30 === 8 || n % 60 === 9,
    password: n % 30 === 8 ? `secret ${n}` : null,
    redirectType: 302,
    integrationGTM: n === 10 ? 'GTM-ABCDEF1' : null,
  };
}

const ALL = Array.from({ length: LINKS }, (_, n) => shortIoLink(n));
/** Those whose password the export only mentions. */
const LOCKED = ALL.filter((link) => link.hasPassword && link.password === null);

async function choose(page: ConsolePage, content: string): Promise<void> {
  await page
    .locator('input[type="file"]')
    .setInputFiles({ name: 'links.json', mimeType: 'application/json', buffer: Buffer.from(content) });
}

const figure = (page: ConsolePage, label: string) =>
  page.locator('.mantine-Paper-root', { hasText: label }).locator('.figure-value').textContent();

const visitLink = (host: string, path: string, form?: Record<string, string>) =>
  visitHost(site.service.short_url, host, path, form);

/** What a visitor of a link gets: where it leads, or a status, or `password`. */
async function outcome(link: ReturnType<typeof shortIoLink>): Promise<string> {
  const { host, pathname } = new URL(link.shortURL);
  const { status, location, body } = await visitLink(host, `${pathname}?from=mail`);
  if (status === 302 && location) {
    location.searchParams.delete('_vid');
    return location.href;
  }
  return status === 200 && body.includes('type="password"') ? 'password' : String(status);
}

function expected(link: ReturnType<typeof shortIoLink>): string {
  if (link.hasPassword) return link.password === null ? '404' : 'password';
  if (link.expiresAt !== null) return link.expiredURL ?? '410';
  return `${link.originalURL}${link.skipQS ? '' : '?from=mail'}`;
}

test(
  '300 links of Short.io on two domains move in: each opens as it did, and none that was locked',
  LONG,
  async () => {
    const workspace = site.service.demo?.workspace_id ?? '';
    const force = (domain: string) =>
      site.hoplog('domain', 'verify', '--force', '--workspace', workspace, domain);
    await site.api('/domains', { domain: PROVEN });
    await force(PROVEN);

    const page = await site.open('/links/import');
    // Two pages of the API, one behind the other.
    const pages = [ALL.slice(0, 150), ALL.slice(150)].map((links, nth) =>
      JSON.stringify({ count: LINKS, links, nextPageToken: nth === 0 ? 'next' : null }),
    );
    await choose(page, pages.join('\n'));
    await page.getByRole('button', { name: 'Check 300 rows' }).click();
    await page.getByText('300 rows were looked at. Nothing was made yet.').waitFor();
    expect(await figure(page, 'Rows refused')).toBe(
      String(100 + LOCKED.filter(({ path }) => Number(path.slice(5)) % 3).length),
    );
    await page.getByLabel('If a row names a domain that is not verified here').selectOption('keep');
    await page.getByRole('button', { name: 'Check 300 rows' }).click();
    const refused = page.getByRole('region', { name: 'Refused rows' });
    await refused
      .getByRole('row', { name: /x.moving.example\/move-\d+ hasPassword: the link has a password/ })
      .first()
      .waitFor();
    expect([await figure(page, 'Links to create'), await figure(page, 'Rows refused')]).toEqual([
      String(LINKS - LOCKED.length),
      String(LOCKED.length),
    ]);
    await page.getByText('because a link here has no such field').waitFor();
    await expectGood(page, 'moving-in-checked');
    await page.getByRole('button', { name: 'Import 300 rows' }).click();
    await page
      .getByRole('button', { name: 'See the links' })
      .or(page.getByRole('link', { name: 'See the links' }))
      .waitFor();
    await page.getByText(/links wait for a domain/).waitFor();
    expect(await figure(page, 'Links created')).toBe(String(LINKS - LOCKED.length));
    await expectGood(page, 'moving-in-result');
    expectClean(page);
    await page.close();

    await force(WAITING);
    await expect.poll(() => outcome(shortIoLink(12))).toBe(expected(shortIoLink(12)));
    for (const link of ALL) {
      await expect.poll(async () => [link.path, await outcome(link)]).toEqual([link.path, expected(link)]);
    }
    // A limit of one visit is used up.
    expect(await outcome(shortIoLink(22))).toBe('410');
    const locked = ALL.filter(({ password }) => password !== null);
    for (const { shortURL, originalURL, password } of locked.slice(0, 3)) {
      const { host, pathname } = new URL(shortURL);
      const opened = await visitLink(host, pathname, { password: password ?? '' });
      expect([opened.status, opened.location?.pathname]).toEqual([302, new URL(originalURL).pathname]);
    }
  },
);
