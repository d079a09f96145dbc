import { expect, test } from 'vitest';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectGood } from './console-site.ts';

let site: ConsoleSite;
let link: string;
let webhook: string;
let connection: string;
let program: string;

inChromium(async () => {
  site = await consoleSite();
  const made = await site.api<{ links: { id: string }[] }>('/links', {
    destination_url: 'https://shop.example/',
    name: 'Pocket',
    channel: 'other',
  });
  link = made.links[0]?.id ?? '';
  const { id } = await site.api<{ id: string }>('/webhooks', {
    url: `http://127.0.0.1:9/${'a-part-of-a-long-path/'.repeat(4)}`,
    description: 'Orders to the warehouse',
    events: ['click.created'],
  });
  webhook = id;
  connection = (await site.api<{ id: string }>('/connections', { provider: 'stripe' })).id;
  const terms = { name: 'Pocket friends', destination_url: 'https://shop.example/' };
  program = (await site.api<{ id: string }>('/programs', terms)).id;
  return site.close;
});

test.each([
  ['the live list', (): string => '/live?bots=include', 'Filters of clicks', 'Channel'],
  ['the ledger', (): string => '/referrals?tab=ledger&kind=credit', 'Filters of the ledger', 'Program'],
  ['deliveries', (): string => `/webhooks/${webhook}?status=failed`, 'Filters of deliveries', 'Event'],
  ['events', (): string => `/connections/${connection}?status=failed`, 'Filters of events', 'Outcome'],
  ['a program', (): string => `/referrals?program=${program}`, 'Filters of the overview', 'Program'],
  ['balances', (): string => `/referrals?tab=payouts&program=${program}`, 'Filters of balances', 'Program'],
  ['payout files', (): string => '/referrals?tab=payouts&state=open', 'Filters of payout files', 'Status'],
] as const)(
  'a phone folds the filters of %s behind a button with their number',
  async (name, path, label, field) => {
    const page = await site.open(path(), { width: 390 });
    const filters = page.getByRole('search', { name: label });
    const button = filters.getByRole('button', { name: 'Filters (1)' });
    await button.waitFor();
    expect(await filters.getByLabel(field, { exact: true }).first().isVisible()).toBe(false);
    await button.press('Enter');
    await filters.getByLabel(field, { exact: true }).first().waitFor();
    expect(await button.getAttribute('aria-expanded')).toBe('true');
    await expectGood(page, `phone-${name.replaceAll(' ', '-')}`);
    await page.close();
  },
);

test.each([
  ['a link', (): string => `/links/${link}`, 'Delete'],
  ['a webhook', (): string => `/webhooks/${webhook}`, 'Send a test event'],
] as const)('a phone keeps the actions of %s at the bottom of the window', async (name, path, action) => {
  const page = await site.open(path(), { width: 390 });
  const button = page.getByRole('button', { name: action, exact: true });
  await button.waitFor();
  const { y, height } = (await button.boundingBox()) ?? { y: 0, height: 0 };
  expect(900 - y - height).toBeLessThan(100);
  await page.evaluate('scrollTo(0, document.body.scrollHeight)');
  expect((await button.boundingBox())?.y).toBe(y);
  await expectGood(page, `phone-${name.replaceAll(' ', '-')}`);
  await page.close();
});

/** Runs in the page: the labels of lists that have more columns than room. */
const CUT = `[...document.querySelectorAll('main [role=region]:has(table)')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map((region) => region.getAttribute('aria-label'))`;

test.each([
  ['links', '/links', 'Pocket'],
  ['keys', '/settings/developers', 'lk_live_'],
  ['webhooks', '/webhooks', 'Orders to the warehouse'],
])('a tablet shows %s whole, beside the navigation', async (name, path, shown) => {
  const page = await site.open(path, { width: 800 });
  await page.getByText(shown).first().waitFor();
  expect(await page.evaluate(CUT)).toEqual([]);
  await expectGood(page, `tablet-${name}`);
  await page.close();
});

/** Runs in the page: the places of the parts of the first cell. Pixels. */
const PARTS = `(() => {
  const cell = document.querySelector('[data-cards] tbody td');
  const edge = cell.getBoundingClientRect().left;
  return [...cell.children].map((one) => {
    const { left, top, bottom } = one.getBoundingClientRect();
    return { left: left - edge, top, bottom };
  });
})()`;

test('a phone has the parts of referrals in a list to choose from', async () => {
  const page = await site.open('/referrals?tab=payouts', { width: 390 });
  const parts = page.getByRole('combobox', { name: 'Parts of referrals' });
  await parts.waitFor();
  expect(await parts.inputValue()).toBe('payouts');
  expect(await page.getByRole('tab').count()).toBe(0);
  await parts.selectOption('Program');
  await page.getByRole('article').filter({ hasText: 'Pocket friends' }).first().waitFor();
  expect(new URL(page.url()).search).toBe('?tab=programs');
  await expectGood(page, 'phone-referrals-parts');
  await page.close();
});

test('a phone puts the parts of a cell below each other, beside the heading', async () => {
  const page = await site.open('/webhooks', { width: 390 });
  await page.getByText('Orders to the warehouse').waitFor();
  const [address, description] = await page.evaluate<{ left: number; top: number; bottom: number }[]>(PARTS);
  expect(description?.top).toBeGreaterThanOrEqual(address?.bottom ?? 1_000);
  // The heading "Address" is as wide as this.
  expect(Math.min(address?.left ?? 0, description?.left ?? 0)).toBeGreaterThan(50);
  await page.close();
});

test('a phone shows the name of the workspace beside the badge of problems', async () => {
  const page = await site.open('/no-such-page', { width: 390 });
  const problem = { kind: 'webhook_disabled', since: null, id: null, name: null, count: null, reason: null };
  const problems = Array.from({ length: 12 }, (_, nth) => ({ ...problem, id: String(nth) }));
  await page.route('**/api/v1/problems', (route) => route.fulfill({ json: { problems } }));
  await page.reload();
  await page.getByRole('link', { name: '12 problems' }).waitFor();
  const name = page.getByRole('button', { name: 'demo' }).getByText('demo');
  const cut = await name.evaluate(
    ({ scrollWidth, clientWidth }: { scrollWidth: number; clientWidth: number }) => scrollWidth - clientWidth,
  );
  expect(cut).toBe(0);
  await page.close();
});
