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
    url: 'http://127.0.0.1:9/hook',
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
