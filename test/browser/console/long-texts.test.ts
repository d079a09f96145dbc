import { expect, test, vi } from 'vitest';
import { visitNew } from '../../support/visitors.ts';
import { inChromium } from '../in-chromium.ts';
import {
  type ConsolePage,
  type ConsoleSite,
  consoleSite,
  expectCellsFit,
  expectClean,
  expectNoSidewaysScroll,
  PASSWORD,
  screenshot,
} from './console-site.ts';
import { merchantOf, PATIENCE } from './referral-shop.ts';

// Each test looks at several pages in two widths, on a machine that may have other things to do.
vi.setConfig({ testTimeout: 400_000 });

/** As long as the API accepts. */
const SLUG = 'abcdefghij'.repeat(7).slice(0, 64);
const USER = 'user-of-a-long-id-'.repeat(11).replaceAll('-', '').padEnd(195, 'x').slice(0, 195);
const KIND = 'CREDIT'.repeat(7).slice(0, 40);
const ORDER = 'order0123456789'.repeat(13);

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

/** Expects that the page, once `text` is there, fits in both widths with the cells of its tables. */
async function expectFits(page: ConsolePage, name: string, text: string): Promise<void> {
  for (const width of [1_280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    await page.getByText(text).first().waitFor();
    await screenshot(page, `long-${name}-${width}`);
    await expectCellsFit(page);
    const cut =
      '[...document.querySelectorAll(".mantine-Badge-label")].filter((word) => word.scrollWidth > word.clientWidth)';
    await expect.poll(() => page.evaluate(`${cut}.map((word) => word.textContent)`), PATIENCE).toEqual([]);
    await expectNoSidewaysScroll(page);
  }
  expectClean(page);
}

/** Expects that a table does not scroll sideways in a window of 1280 pixels. */
async function expectWhole(page: ConsolePage, table: string): Promise<void> {
  await page.setViewportSize({ width: 1_280, height: 900 });
  const hidden = () =>
    page
      .getByRole('region', { name: table })
      .evaluate(
        ({ scrollWidth, clientWidth }: { scrollWidth: number; clientWidth: number }) =>
          scrollWidth - clientWidth,
      );
  await expect.poll(hidden, { ...PATIENCE, message: table }).toBe(0);
}

test('a long slug stays in its cell wherever links are listed', async () => {
  const made = await site.api<{ links: { id: string; short_url: string }[] }>('/links', {
    destination_url: 'https://shop.example/',
    name: 'A link with a long slug and a name that is not short',
    channel: 'facebook',
    slug: SLUG,
  });
  const [link] = made.links;
  if (!link) throw new Error('no link was created');
  await visitNew(link.short_url);
  await expect
    .poll(async () => (await site.api<{ channels: unknown[] }>('/channels')).channels.length, PATIENCE)
    .toBe(1);
  const page = await site.open('/links');
  await expectFits(page, 'links', SLUG);
  await page.goto(`${site.app}/console/links/${link.id}`);
  await expectFits(page, 'link', SLUG);
  await page.goto(`${site.app}/console/`);
  await page.getByRole('list', { name: 'Links' }).getByText(SLUG).waitFor();
  await expectFits(page, 'overview', SLUG);
  await page.goto(`${site.app}/console/live`);
  await expectFits(page, 'live', SLUG);
  await page.goto(`${site.app}/console/visitors`);
  await expectFits(page, 'visitors', SLUG);
  await page.getByRole('region', { name: 'Visitors' }).getByRole('link').first().click();
  await page.locator('.steps').waitFor();
  await expectFits(page, 'journey', SLUG);
  await page.close();
});

test("a long email leaves enough space for its member's role", async () => {
  const email = `analyst@${'department.'.repeat(12)}example`;
  const page = await site.open('/settings?tab=members');
  const [, token] = (await site.invite('analyst', email)).split('#');
  const response = await fetch(`${site.app}/api/v1/session/invite`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, password: PASSWORD }),
  });
  expect(response.ok).toBe(true);
  await page.reload();
  await expectFits(page, 'members', email);
  await page.setViewportSize({ width: 1_280, height: 900 });
  const role = page.getByRole('combobox', { name: `Role of ${email}` });
  await expect.poll(async () => (await role.boundingBox())?.width, PATIENCE).toBeGreaterThan(90);
  await page.close();
});

test('a long id of a user or an order leaves enough space for the other columns', async () => {
  const shop = merchantOf(site);
  const program = await shop.program({
    name: 'A program whose name fills its card on a phone to the last of its letters',
  });
  const credits = await shop.program({
    name: 'Credits of a long name',
    credit_enabled: true,
    credit_kind: KIND,
    signup_credit: { free: 999_999_999, paid: 1_000_000_000 },
  });
  const earner = await shop.enroll('earner', credits);
  await shop.signup('earned', earner.ref);
  const { partner_id, ref } = await shop.enroll(USER, program, { email: 'long@mail.example' });
  const friend = `${USER.slice(0, -6)}friend`;
  await shop.signup(friend, ref);
  await shop.purchase(friend, ORDER, 80);
  const page = await site.open('/referrals?tab=programs');
  await expectFits(page, 'programs', program.name);
  for (const [tab, table, text] of [
    ['enrollments', 'Enrollments', USER],
    ['signups', 'Signups', friend],
    ['purchases', 'Purchases', ORDER],
    ['ledger', 'Entries of the ledger', ORDER],
    ['payouts', 'Balances that are ready to pay', USER],
  ] as const) {
    await page.goto(`${site.app}/console/referrals?tab=${tab}`);
    await expectFits(page, tab, text);
    await expectWhole(page, table);
  }
  await page.goto(`${site.app}/console/referrals?tab=signups&by=${partner_id}`);
  await expectFits(page, 'signups-of', 'Only by long@mail.example');
  await page.goto(`${site.app}/console/referrals?tab=enrollments&partner=${partner_id}`);
  await expectFits(page, 'enrollment', 'Ledger entries');
  const rightOf = async () => {
    const close = await page.getByRole('button', { name: 'Close' }).boundingBox();
    return (close?.x ?? 390) + (close?.width ?? 0);
  };
  await expect.poll(rightOf, PATIENCE).toBeLessThanOrEqual(390);
  await page.close();
});
