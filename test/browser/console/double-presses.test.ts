import type { Locator } from 'playwright-core';
import { expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsolePage, type ConsoleSite, consoleSite, expectNotice, PASSWORD } from './console-site.ts';
import { openSection } from './link-desk.ts';
import { expectRows, LONG, merchantOf, PATIENCE, row, type Shop } from './referral-shop.ts';

let site: ConsoleSite;
let shop: Shop;
let receiver: Receiver;

inChromium(async () => {
  receiver = await startReceiver();
  site = await consoleSite();
  shop = merchantOf(site);
  return async () => {
    await site.close();
    await receiver.close();
  };
});

declare const document: object;
declare const MutationObserver: new (
  seen: () => void,
) => { observe(element: object, what: object): void; disconnect(): void };

/** The time of the second press: before the button is drawn as busy, or once it is idle, while its dialog closes. */
const WHEN = ['at once', 'as soon as the button rests again'] as const;

/**
 * Presses a button twice. A button that disappears with the first response takes no second press. `window.pressedAgain`
 * resolves once either has happened.
 */
const pressTwice = (button: Locator, when: (typeof WHEN)[number] = 'at once') =>
  button.evaluate((element: { click(): void; dataset: object; isConnected: boolean }, again) => {
    element.click();
    if (again === 'at once') return element.click();
    const pressedAgain = new Promise<void>((resolve) => {
      let wasBusy = false;
      const watch = new MutationObserver(() => {
        const isBusy = 'loading' in element.dataset;
        if (element.isConnected && (isBusy || !wasBusy)) {
          wasBusy ||= isBusy;
          return;
        }
        watch.disconnect();
        element.click();
        resolve();
      });
      watch.observe(document, { attributes: true, childList: true, subtree: true });
    });
    Object.assign(globalThis, { pressedAgain });
  }, when);

/** Returns the changes and payout files that the page requests while `act` runs, the second press included. */
async function changesOf(page: ConsolePage, act: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    // Reads that are sent as POST.
    const isRead = pathname.endsWith('/preview') || pathname.endsWith('/analytics/query');
    const isChange = request.method() !== 'GET' && !isRead;
    if (pathname.startsWith('/api/v1') && (isChange || pathname.endsWith('/export'))) {
      sent.push(`${request.method()} ${pathname.replace('/api/v1', '')}`);
    }
  });
  await act();
  await page.evaluate('globalThis.pressedAgain');
  // The page reports its requests in order: after this one, each that a press has caused was reported.
  await page.evaluate("new Promise(requestAnimationFrame).then(() => fetch('/api/v1/me'))");
  return sent;
}

const button = (within: ConsolePage | Locator, name: string) =>
  within.getByRole('button', { name, exact: true });

const NAME = 'Pressed twice';

test('a second press at once creates no second program, folder, bio page or invitation', LONG, async () => {
  const page = await site.open('/referrals?tab=programs');
  await button(page, 'New program').click();
  const program = page.getByRole('dialog', { name: 'New program' });
  await program.getByLabel('Name').fill(NAME);
  await program.getByLabel('Destination URL').fill('https://shop.example/join');
  expect(
    await changesOf(page, async () => {
      await pressTwice(button(program, 'Create'));
      await page.getByRole('article', { name: NAME }).waitFor();
    }),
  ).toEqual(['POST /programs']);

  await page.goto(`${site.app}/console/links/new`);
  await openSection(page, 'Campaign and UTM');
  await button(page, 'New folder').click();
  const folder = page.getByRole('dialog', { name: 'New folder' });
  await folder.getByLabel('Name').fill(NAME);
  expect(
    await changesOf(page, async () => {
      await pressTwice(button(folder, 'Create'));
      await folder.waitFor({ state: 'detached' });
    }),
  ).toEqual(['POST /folders']);

  await page.goto(`${site.app}/console/bio-pages`);
  await button(page, 'New page').click();
  const bio = page.getByRole('dialog', { name: 'New bio page' });
  await bio.getByLabel('Address').fill(`pressed-${Date.now()}`);
  expect(
    await changesOf(page, async () => {
      await pressTwice(button(bio, 'Create'));
      await page.waitForURL(/bio-pages\/[0-9a-f-]{36}/);
    }),
  ).toEqual(['POST /bio-pages']);

  await page.goto(`${site.app}/console/settings?tab=members`);
  await button(page, 'Invite').click();
  const invite = page.getByRole('dialog', { name: 'Invite a member' });
  expect(
    await changesOf(page, async () => {
      await pressTwice(button(invite, 'Create the link'));
      await button(invite, 'Done').waitFor();
    }),
  ).toEqual(['POST /members/invites']);
  await page.close();
});

test('a second press at once creates no second link, webhook or key', LONG, async () => {
  const page = await site.open('/links/new');
  await page.getByLabel('Destination URL').fill('https://shop.example/');
  await page.getByLabel('Name').fill(NAME);
  expect(
    await changesOf(page, async () => {
      await pressTwice(button(page, 'Create'));
      await page.waitForURL(/links\/[0-9a-f-]{36}/);
    }),
  ).toEqual(['POST /links']);

  await page.goto(`${site.app}/console/webhooks`);
  await button(page, 'New webhook').click();
  const webhook = page.getByRole('dialog', { name: 'New webhook' });
  await webhook.getByLabel('Address').fill(receiver.url);
  await webhook.getByRole('checkbox', { name: 'Sales', exact: true }).check();
  expect(
    await changesOf(page, async () => {
      await pressTwice(button(webhook, 'Create'));
      await page.getByRole('dialog', { name: 'The webhook is ready' }).waitFor();
    }),
  ).toEqual(['POST /webhooks']);

  await page.goto(`${site.app}/console/settings/developers`);
  await button(page, 'New key').click();
  const key = page.getByRole('dialog', { name: 'New key' });
  await key.getByLabel('Name').fill(NAME);
  expect(
    await changesOf(page, async () => {
      await pressTwice(button(key, 'Create'));
      await page.getByRole('dialog', { name: 'The key is ready' }).waitFor();
    }),
  ).toEqual(['POST /keys']);
  await page.close();
});

test.each(WHEN)(
  'a second press %s sends no second test event, activates no second secret, and deletes once',
  LONG,
  async (when) => {
    const { id } = await site.api<{ id: string }>('/webhooks', {
      url: receiver.url,
      events: ['click.created'],
    });
    const page = await site.open(`/webhooks/${id}`);
    expect(
      await changesOf(page, async () => {
        await pressTwice(button(page, 'Send a test event'), when);
        await page.getByRole('dialog', { name: /^Delivery/ }).waitFor();
      }),
    ).toEqual([`POST /webhooks/${id}/test`]);

    await page.goto(`${site.app}/console/webhooks/${id}`);
    await button(page, 'Replace the secret').click();
    const question = page.getByRole('dialog', { name: 'Replace the signing secret?' });
    expect(
      await changesOf(page, async () => {
        await pressTwice(button(question, 'Replace'), when);
        await page.getByRole('dialog', { name: 'The secret was replaced' }).waitFor();
      }),
    ).toEqual([`POST /webhooks/${id}/rotate-secret`]);

    await page.goto(`${site.app}/console/webhooks/${id}`);
    await button(page, 'Delete').click();
    const deletion = page.getByRole('dialog', { name: 'Delete this webhook?' });
    const steps = await page.evaluate('history.length');
    expect(
      await changesOf(page, async () => {
        await pressTwice(button(deletion, 'Delete'), when);
        await expectNotice(page, 'Webhook deleted');
      }),
    ).toEqual([`DELETE /webhooks/${id}`]);
    expect(await page.evaluate('noticesSeen')).toEqual([expect.stringContaining('Webhook deleted')]);
    // The back button skips the page of the deleted item.
    expect(await page.evaluate('history.length')).toBe(steps);
    await page.close();
  },
);

test('a second press at once accepts no invitation twice, nor signs in twice', LONG, async () => {
  const email = `pressed@${site.mail}`;
  const page = await site.open('/', { role: null });
  await page.goto(await site.invite('analyst', email));
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  expect(
    await changesOf(page, async () => {
      await pressTwice(button(page, 'Set the password and sign in'));
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    }),
  ).toEqual(['POST /session/invite']);

  await page.context().clearCookies();
  await page.goto(`${site.app}/console`);
  await page.getByLabel('Email').fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  expect(
    await changesOf(page, async () => {
      await pressTwice(button(page, 'Sign in'));
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    }),
  ).toEqual(['POST /session']);
  await page.close();
});

test('a second press at once creates no second payout file', LONG, async () => {
  const program = await shop.program({ name: 'Paying' });
  const { ref } = await shop.enroll('payee', program);
  await shop.signup('friend', ref);
  await shop.purchase('friend', 'order', 50);
  const page = await site.open(`/referrals?tab=payouts&program=${program.id}`);
  await expectRows(page, 'Balances that are ready to pay', 1);
  const open = button(page, 'Download payout file');
  await open.click();
  const download = button(page.getByRole('dialog', { name: 'Payout file' }), 'Download');
  expect(
    await changesOf(page, async () => {
      const saved = page.waitForEvent('download');
      await pressTwice(download);
      await saved;
    }),
  ).toEqual(['GET /payouts/export']);
  await download.waitFor({ state: 'detached' });
  // Its only balance waits for that file now.
  await row(page, 'Balances that are ready to pay', 'payee').getByText('In an open file').waitFor(PATIENCE);
  await expect.poll(() => open.isDisabled(), PATIENCE).toBe(true);
  await page.close();
});
