import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MAIL_KINDS, type MailContent } from '../../../core/mail/contents.ts';
import { htmlOf, LOGO_CID } from '../../../core/mail/letter.ts';
import { letterOf } from '../../../core/mail/words.ts';
import { linkIn, type MailServer, startMailServer } from '../../support/mail-server.ts';
import { inChromium } from '../in-chromium.ts';
import { axeViolations } from '../page-watch.ts';
import { type ConsoleSite, expectGood, PASSWORD, startConsoleSite } from './console-site.ts';

const OTHER_PASSWORD = 'another long phrase 42';

let site: ConsoleSite;
let server: MailServer;

inChromium(async () => {
  server = await startMailServer();
  site = await startConsoleSite({ SMTP_URL: server.url, MAIL_FROM: 'Corner Shop <mail@shop.example>' });
  return async () => {
    await site.close();
    await server.close();
  };
});

test('a member resets a forgotten password by mail, and signs in with the new one', async () => {
  // The member exists once a page was opened.
  await (await site.open('/', { role: 'owner' })).close();
  const email = `owner@${site.mail}`;
  const page = await site.open('/', { role: null });
  await page.getByRole('link', { name: 'Forgot your password?' }).click();
  await page.getByLabel('Email').fill('not an address');
  await page.getByRole('button', { name: 'Send the link' }).click();
  await page.getByText(/^Email must be/).waitFor();
  await expectGood(page, 'forgot-password');
  await page.getByLabel('Email').fill(email);
  await page.getByRole('button', { name: 'Send the link' }).click();
  await page.getByRole('status').getByText(`If ${email} signs in here`).waitFor();
  await expectGood(page, 'forgot-password-sent');

  const link = linkIn(await server.untilMailTo(email, 'Reset your password'), '/console/reset-password');
  await page.goto(link);
  await page.getByLabel('New password').fill('short');
  await page.getByRole('button', { name: 'Set the password' }).click();
  await page.getByText('Password must have at least 8 characters').waitFor();
  await expectGood(page, 'reset-password');
  await page.getByLabel('New password').fill(OTHER_PASSWORD);
  await page.getByRole('button', { name: 'Set the password' }).click();
  await page.getByText('All your sessions have ended').waitFor();
  await expectGood(page, 'reset-password-done');
  await page.goto('about:blank');
  await page.goto(link);
  await page.getByText('This link is not valid').waitFor();
  await expectGood(page, 'reset-password-used');

  await page.getByRole('link', { name: 'Go to the sign-in' }).click();
  await page.getByLabel('Email').fill(email);
  for (const password of [PASSWORD, OTHER_PASSWORD]) {
    await page.getByLabel('Password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    if (password === PASSWORD) await page.getByText('Email or password is wrong').waitFor();
  }
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();

  // An owner invites by mail, and sees the mails that were sent and those that failed.
  await page.goto(`${site.app}/console/settings?tab=members`);
  const invite = async (address: string) => {
    await page.goto(`${site.app}/console/settings?tab=members`);
    await page.getByRole('button', { name: 'Invite' }).click();
    const dialog = page.getByRole('dialog', { name: 'Invite a member' });
    await dialog.getByLabel('Email').fill(address);
    await dialog.getByRole('checkbox', { name: 'Mail the link' }).isChecked();
    await dialog.getByRole('button', { name: 'Send the invitation' }).click();
    await dialog.getByText(`The invitation is on its way to ${address}`).waitFor();
    return dialog;
  };
  const dialog = await invite('ann@shop.example');
  await expectGood(page, 'invite-mailed');
  await dialog.getByRole('button', { name: 'Done' }).click();
  const mail = await server.untilMailTo('ann@shop.example');
  server.behave('refuse_recipient');
  await (await invite('nobody@shop.example')).getByRole('link', { name: 'See how far it is' }).click();
  const row = page.getByRole('row').filter({ hasText: 'nobody@shop.example' });
  await row.getByText('no such user').waitFor();
  await page.getByRole('row').filter({ hasText: 'ann@shop.example' }).getByText('Sent').waitFor();
  await expectGood(page, 'mail-log');
  server.behave('work');
  await page.goto(`${site.app}/console/problems`);
  await page.getByRole('link', { name: /^Open mail: 1 mail could not be sent/ }).waitFor();
  await page.close();

  const invited = await site.open('/', { role: null });
  await invited.goto(linkIn(mail, '/console/welcome'));
  await invited.getByRole('heading', { level: 1, name: /^Welcome to/ }).waitFor();
  await invited.goto('about:blank');
  await invited.goto(linkIn(mail, '/console/unsubscribe'));
  await expectGood(invited, 'unsubscribe');
  await invited.getByRole('button', { name: 'End the mail' }).click();
  await invited.getByText('You get no more invitations of this workspace.').waitFor();
  await invited.close();
});

/** Of a workspace whose logo is dark on a transparent ground. */
const LOGO =
  'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" width="96" height="32"%3E%3Crect x="2" y="6" width="20" height="20" rx="4" fill="%23123"/%3E%3Ctext x="28" y="23" font-family="sans-serif" font-size="20" fill="%23123"%3Eshop%3C/text%3E%3C/svg%3E';
const AT = '2026-11-29T21:18:00.000Z';
const PLACE = { browser: 'Firefox on Linux', address: '2001:db8:85a3:8d3:1319:8a2e:370:7348' };
const ACCOUNT = 'https://app.hop.example/console/settings?tab=sign-in';
const TOKEN = 'u3Jx8c0vQp5mZt2yKd7Rw1eLh9Bn4sFa6GiTo0XkYcE';
const CONTENTS: Record<(typeof MAIL_KINDS)[number], MailContent> = {
  invitation: {
    kind: 'invitation',
    url: `https://app.hop.example/console/welcome#${TOKEN}`,
    role: 'operator',
    invitedBy: 'maria.hernandez@corner-shop.example',
    expiresAt: '2026-12-02T21:18:00.000Z',
  },
  password_reset: {
    kind: 'password_reset',
    url: `https://app.hop.example/console/reset-password#${TOKEN}`,
    minutes: 60,
    place: PLACE,
  },
  sign_in: { kind: 'sign_in', at: AT, place: PLACE, accountUrl: ACCOUNT },
  account_change: {
    kind: 'account_change',
    change: 'two_factor_off',
    at: AT,
    place: PLACE,
    accountUrl: ACCOUNT,
  },
  key_change: {
    kind: 'key_change',
    change: 'key_created',
    label: 'checkout server, warehouse and everything else that reads',
    by: 'maria.hernandez@corner-shop.example',
    at: AT,
    accountUrl: 'https://app.hop.example/console/settings/developers',
  },
  payout_address_change: { kind: 'payout_address_change', at: AT },
};

test('mails read well in 390 and 700 pixels, light and dark', async () => {
  const context = await site.browser.newContext();
  const page = await context.newPage();
  for (const [nth, kind] of MAIL_KINDS.entries()) {
    const isOfWorkspace = kind !== 'password_reset';
    const workspaceName = isOfWorkspace ? 'Hernández & Söhne Corner Shop' : null;
    const html = htmlOf(letterOf(CONTENTS[kind], { workspaceName, timeZone: 'America/New_York' }), {
      workspaceName,
      hasLogo: isOfWorkspace,
      appUrl: 'https://app.hop.example',
      unsubscribeUrl:
        kind === 'invitation' ? `https://app.hop.example/console/unsubscribe#${TOKEN}${TOKEN}` : null,
    }).replace(`cid:${LOGO_CID}`, LOGO.replaceAll('"', '&quot;'));
    const { SCREENSHOT_DIR } = process.env;
    for (const [turn, width] of [390, 700].entries()) {
      for (const colorScheme of ['light', 'dark'] as const) {
        // Half of the looks in a run: each kind in both widths and both schemes of the whole set.
        if (!SCREENSHOT_DIR && (nth + turn) % 2 === (colorScheme === 'dark' ? 0 : 1)) continue;
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 700 });
        await page.setContent(html);
        expect(await axeViolations(page), `${kind}, ${colorScheme}, ${width}`).toEqual([]);
        const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        expect(await page.evaluate(overflow), `${kind}, ${width}`).toBe(0);
        if (!SCREENSHOT_DIR) continue;
        mkdirSync(SCREENSHOT_DIR, { recursive: true });
        await page.screenshot({
          path: join(SCREENSHOT_DIR, `mail-${kind}-${colorScheme}-${width}.png`),
          fullPage: true,
        });
      }
    }
  }
  await context.close();
});
