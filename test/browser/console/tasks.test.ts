import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import type { ProgramRecord } from '../../../api/referrals/programs/schemas.ts';
import { startReceiver } from '../../support/receiver.ts';
import { scannedText } from '../../support/scanned-images.ts';
import { LIMIT_MS } from '../../support/until.ts';
import { inChromium } from '../in-chromium.ts';
import {
  type ConsolePage,
  type ConsoleSite,
  consoleSite,
  expectClean,
  expectNotice,
  screenshot,
} from './console-site.ts';
import { fillShop } from './dashboard-desk.ts';
import { ask } from './dashboard-page.ts';
import { records } from './link-desk.ts';
import { type Effort, personAt } from './person.ts';
import { merchantOf } from './referral-shop.ts';

/**
 * Five tasks by someone who knows only what is visible. The limits are what each takes today: docs/console.md compares
 * them with the former console.
 */

const PATIENCE = { timeout: LIMIT_MS };
vi.setConfig({ testTimeout: 400_000 });

let site: ConsoleSite;

inChromium(async () => {
  site = await consoleSite();
  return site.close;
});

/** A picture of docs/console.md, with what is at the top of the page. */
async function picture(page: ConsolePage, name: string): Promise<void> {
  await page.evaluate('scrollTo(0, 0)');
  await screenshot(page, name);
}

const atMost = (effort: Effort, limit: Effort) => {
  expect([effort.clicks <= limit.clicks, effort.keys <= limit.keys], JSON.stringify(effort)).toEqual([
    true,
    true,
  ]);
};

test('a campaign on four channels, with its QR codes', async () => {
  const page = await site.open('/');
  const me = personAt(page);
  await me.see('Create your first link');
  await me.paste('https://shop.example/winter-sale');
  await me.see('The QR code follows once the link has a slug.');
  for (const channel of ['Instagram', 'Facebook', 'YouTube', 'Newsletter'])
    await me.press('checkbox', channel);
  await me.write('Slug', 'winter');
  await me.key('Enter');
  await me.see('4 links made');
  const made = await records(site, '&slug=winter');
  expect(made.map(({ channel }) => channel).toSorted()).toEqual([
    'facebook',
    'instagram',
    'newsletter',
    'youtube',
  ]);
  for (const link of made) {
    const download = page.waitForEvent('download');
    await me.press('button', `Download the QR code of ${link.slug}`);
    expect(scannedText(readFileSync(await (await download).path()))).toBe(`${link.short_url}?qr=1`);
  }
  await picture(page, 'task-campaign');
  atMost(me.effort, { clicks: 9, keys: 9 });
  expectClean(page);
  await page.close();
});

test('the country that bought most through Instagram last month', async () => {
  await fillShop(site, { clicks: 3_000, orders: 300, leads: 50, suffix: '-tasks' });
  const page = await site.open('/');
  const me = personAt(page);
  await me.choose('Time range', 'Last month');
  await me.press('button', /^Instagram/, page.getByRole('list', { name: 'Channels' }));
  await me.press('button', /^Conversions/, page.getByRole('region', { name: 'Totals' }));
  const now = new Date();
  const [from, to] = [-1, 0].map((month) =>
    new Date(now.getFullYear(), now.getMonth() + month, 1).toISOString(),
  );
  const { rows } = await ask(site, {
    metrics: ['conversions'],
    dimensions: ['country'],
    filters: [{ dimension: 'channel', operator: 'is', values: ['instagram'] }],
    window: { from, to },
    order_by: [{ by: 'conversions', direction: 'desc' }],
  });
  const [most] = rows;
  const name = new Intl.DisplayNames('en', { type: 'region' }).of(String(most?.dimensions.country));
  await me.press('tab', 'Countries');
  const first = page.getByRole('list', { name: 'Countries' }).getByRole('listitem').first();
  await expect
    .poll(() => first.textContent(), PATIENCE)
    .toMatch(new RegExp(`${name}\\D*${most?.metrics.conversions}`));
  await picture(page, 'task-country');
  atMost(me.effort, { clicks: 5, keys: 0 });
  expectClean(page);
  await page.close();
});

test('a program is started and paid', async () => {
  const page = await site.open('/');
  const me = personAt(page);
  await me.press('link', 'Referrals', page.getByRole('navigation'));
  await me.press('button', 'New program');
  const dialog = page.getByRole('dialog', { name: 'New program' });
  await me.press('button', /^Recurring commission/, dialog);
  await me.write('Name', 'Friends', dialog);
  await me.write('Destination URL', 'shop.example', dialog);
  await me.press('button', /^Next: Rewards/, dialog);
  await me.press('textbox', 'Holding period, in days', dialog);
  await me.key('Control+a');
  await me.type('0');
  await me.press('button', /^Next/, dialog);
  await picture(page, 'task-program');
  await me.press('button', 'Create', dialog);
  await page.getByRole('article', { name: 'Friends' }).waitFor();

  const { programs } = await site.api<{ programs: ProgramRecord[] }>('/programs');
  const [program] = programs;
  if (!program) throw new Error('no program was made');
  const shop = merchantOf(site);
  const { ref } = await shop.enroll('ann', program);
  await shop.signup('ann-friend', ref);
  await shop.purchase('ann-friend', 'first', 100);

  await me.press('tab', 'Payouts');
  await me.press('button', 'Download payout file');
  const download = page.waitForEvent('download');
  await me.press('button', 'Download', page.getByRole('dialog', { name: 'Payout file' }));
  expect(readFileSync(await (await download).path(), 'utf8')).toContain('ann@pay.example');
  await me.press('button', 'Mark as paid');
  await me.press('button', /^Mark .* as paid$/, page.getByRole('dialog'));
  await expectNotice(page, 'Marked paid: 1 referrer');
  atMost(me.effort, { clicks: 14, keys: 22 });
  expectClean(page);
  await page.close();
});

test('a domain is connected', async () => {
  const page = await site.open('/');
  const me = personAt(page);
  await me.press('link', 'Domains', page.getByRole('navigation'));
  await me.press('button', 'Add a domain');
  await me.type('tasks.brand.example');
  await me.key('Enter');
  const card = page.getByRole('article', { name: 'tasks.brand.example' });
  await me.see('Waiting for DNS', card);
  await picture(page, 'task-domain');
  await me.press('button', 'Copy the value of the TXT record', card);
  const workspace = site.service.demo?.workspace_id ?? '';
  await site.hoplog('domain', 'verify', '--force', '--workspace', workspace, 'tasks.brand.example');
  await me.press('button', 'Check now: tasks.brand.example', card);
  await me.see('Verified', card);
  atMost(me.effort, { clicks: 4, keys: 20 });
  expectClean(page);
  await page.close();
});

test('why a webhook fails', async () => {
  const receiver = await startReceiver();
  try {
    receiver.answer((response) => response.writeHead(401).end());
    const { id } = await site.api<{ id: string }>('/webhooks', {
      url: receiver.url,
      events: ['click.created'],
    });
    await site.api(`/webhooks/${id}/test`, {});
    // The badge reads the problems when the page opens, and then every half a minute.
    type Deliveries = { deliveries: { response_status: number | null }[] };
    const tried = () => site.api<Deliveries>(`/webhooks/${id}/deliveries`);
    await expect
      .poll(async () => (await tried()).deliveries.map((one) => one.response_status), PATIENCE)
      .toEqual([401]);
    const page = await site.open('/');
    const me = personAt(page);
    await me.press('link', /problem/, page.getByRole('banner'));
    await me.press('link', /^Open the webhook/);
    await me.see(/responded with 401/);
    await picture(page, 'task-webhook');
    atMost(me.effort, { clicks: 2, keys: 0 });
    expectClean(page);
    await page.close();
  } finally {
    await receiver.close();
  }
});
