import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { NO_CHROMIUM } from '../chromium.ts';
import { type ConsolePage, type ConsoleSite, consoleSite } from './console-site.ts';
import { expectRows, LONG, merchantOf, PATIENCE, type Shop } from './referral-shop.ts';

let site: ConsoleSite;
let shop: Shop;
let receiver: Receiver;

beforeAll(async () => {
  if (NO_CHROMIUM) return;
  receiver = await startReceiver();
  site = await consoleSite();
  shop = merchantOf(site);
});
afterAll(async () => {
  if (NO_CHROMIUM) return;
  await site.close();
  await receiver.close();
});
beforeEach((context) => context.skip(Boolean(NO_CHROMIUM), String(NO_CHROMIUM)));

/** Long enough for a second press to be sent and answered, were it one. Milliseconds. */
const AFTERWARDS = 700;

/**
 * Presses a button twice, so many milliseconds apart: the second press may come before the button is drawn as busy, or
 * after a quick answer while its dialog closes.
 */
const pressTwice = (button: Locator, apart: number) =>
  button.evaluate((element: { click(): void }, ms) => {
    element.click();
    if (ms === 0) element.click();
    else setTimeout(() => element.click(), ms);
  }, apart);

/** What the page sends of changes and payout files while `act` is done, and a while after. */
async function changesOf(page: ConsolePage, act: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith('/api/v1') && (request.method() !== 'GET' || pathname.endsWith('/export'))) {
      sent.push(`${request.method()} ${pathname.replace('/api/v1', '')}`);
    }
  });
  await act();
  await page.waitForTimeout(AFTERWARDS);
  return sent;
}

const button = (within: ConsolePage | Locator, name: string) =>
  within.getByRole('button', { name, exact: true });
const count = async (path: string, key: string) =>
  ((await site.api<Record<string, object[]>>(path))[key] ?? []).length;

describe.each([0, 120])('a double click with %i ms between', (apart) => {
  test('makes one programme, one folder, one bio page and one invitation', LONG, async () => {
    const name = `Pressed ${apart}`;
    const page = await site.open('/referrals');
    await button(page, 'New programme').click();
    const programme = page.getByRole('dialog', { name: 'New programme' });
    await programme.getByLabel('Name').fill(name);
    await programme.getByLabel('Where its links lead').fill('https://shop.example/join');
    expect(
      await changesOf(page, async () => {
        await pressTwice(button(programme, 'Create'), apart);
        await page.getByRole('article', { name }).waitFor();
      }),
    ).toEqual(['POST /programs']);
    const { programs } = await site.api<{ programs: { name: string }[] }>('/programs');
    expect(programs.filter((made) => made.name === name)).toHaveLength(1);

    await page.goto(`${site.app}/console/links/new`);
    const folders = await count('/folders', 'folders');
    await button(page, 'New folder').click();
    const folder = page.getByRole('dialog', { name: 'New folder' });
    await folder.getByLabel('Name').fill(name);
    await pressTwice(button(folder, 'Create'), apart);
    await folder.waitFor({ state: 'detached' });
    await page.waitForTimeout(AFTERWARDS);
    expect(await count('/folders', 'folders')).toBe(folders + 1);

    await page.goto(`${site.app}/console/bio-pages`);
    await button(page, 'New page').click();
    const bio = page.getByRole('dialog', { name: 'New bio page' });
    await bio.getByLabel('Address').fill(`pressed-${apart}-${Date.now()}`);
    await pressTwice(button(bio, 'Create'), apart);
    await page.waitForURL(/bio-pages\/[0-9a-f-]{36}/);
    expect(await page.getByText('is taken').count()).toBe(0);

    await page.goto(`${site.app}/console/settings?tab=members`);
    await button(page, 'Invite').click();
    const invite = page.getByRole('dialog', { name: 'Invite somebody' });
    expect(
      await changesOf(page, async () => {
        await pressTwice(button(invite, 'Make the link'), apart);
        await button(invite, 'Done').waitFor();
      }),
    ).toEqual(['POST /members/invites']);
    await page.close();
  });

  test(
    'sends one test event, puts one new secret in force, and deletes without a failure',
    LONG,
    async () => {
      const { id } = await site.api<{ id: string }>('/webhooks', {
        url: receiver.url,
        events: ['click.created'],
      });
      const page = await site.open(`/webhooks/${id}`);
      await pressTwice(button(page, 'Send a test event'), apart);
      await page.getByRole('dialog', { name: /^Delivery/ }).waitFor();
      await page.waitForTimeout(AFTERWARDS);
      expect(await count(`/webhooks/${id}/deliveries`, 'deliveries')).toBe(1);

      await page.goto(`${site.app}/console/webhooks/${id}`);
      await button(page, 'Replace the secret').click();
      const question = page.getByRole('dialog', { name: 'Replace the signing secret?' });
      expect(
        await changesOf(page, async () => {
          await pressTwice(button(question, 'Replace'), apart);
          await page.getByRole('dialog', { name: 'The secret was replaced' }).waitFor();
        }),
      ).toEqual([`POST /webhooks/${id}/rotate-secret`]);

      await page.goto(`${site.app}/console/webhooks/${id}`);
      await button(page, 'Delete').click();
      await pressTwice(button(page.getByRole('dialog', { name: 'Delete this webhook?' }), 'Delete'), apart);
      await page.getByText('The webhook was deleted').waitFor();
      await page.waitForTimeout(AFTERWARDS);
      expect(await page.locator('.mantine-Notification-root').count()).toBe(1);
      await page.close();
    },
  );

  test('makes one payout file', LONG, async () => {
    const program = await shop.program({ name: `Paying ${apart}` });
    const { ref } = await shop.enroll(`payee-${apart}`, program);
    await shop.signup(`friend-${apart}`, ref);
    await shop.purchase(`friend-${apart}`, `order-${apart}`, 50);
    const page = await site.open(`/referrals?tab=payouts&programme=${program.id}`);
    await expectRows(page, 'Balances that are ready to pay', 1);
    const files = await count('/payouts', 'payouts');
    const download = button(page, 'Download payout file');
    expect(
      await changesOf(page, async () => {
        const saved = page.waitForEvent('download');
        await pressTwice(download, apart);
        await saved;
      }),
    ).toEqual(['GET /payouts/export']);
    expect(await count('/payouts', 'payouts')).toBe(files + 1);
    await expect.poll(() => download.isEnabled(), PATIENCE).toBe(true);
    await page.close();
  });
});
