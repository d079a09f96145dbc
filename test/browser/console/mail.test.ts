import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Language } from '../../../core/languages/languages.ts';
import { isOfOwnAccount, MAIL_KINDS, type MailContent, type MailKind } from '../../../core/mail/contents.ts';
import { htmlOf, LOGO_CID, PICTURE_CID } from '../../../core/mail/letter.ts';
import { letterOf } from '../../../core/mail/words.ts';
import { chartPicture } from '../../../core/reports/chart-picture.ts';
import type { ReportContent } from '../../../core/reports/report-content.ts';
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
  await invited.getByText('You get no more invitations and reports of this workspace.').waitFor();
  await invited.close();
});

test('a saved view is sent as a report, paused, and deleted', { timeout: 120_000 }, async () => {
  await site.api('/saved-views', { name: 'Everything', query: { address: 'days=30' } });
  const page = await site.open('/', { role: 'operator' });
  await page.getByRole('button', { name: 'Saved views' }).click();
  await page.getByRole('link', { name: 'Send the view Everything as report' }).click();
  const dialog = page.getByRole('dialog', { name: 'New report' });
  await dialog.getByLabel('Name').waitFor();
  expect(await dialog.getByLabel('Name').inputValue()).toBe('Everything');
  await dialog.getByLabel('How often').selectOption('month');
  await dialog.getByRole('button', { name: 'Add a recipient' }).click();
  await dialog.getByLabel('Address 2').fill('grace');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await dialog.getByText('The address must be an email address.').waitFor();
  await expectGood(page, 'report-refused');
  await dialog.getByLabel('Address 2').fill('grace@friends.example');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByText('not confirmed yet').waitFor();
  await expectGood(page, 'reports');
  const asked = await server.untilMailTo('grace@friends.example');
  const guest = await site.open('/', { role: null });
  await guest.goto('about:blank');
  await guest.goto(linkIn(asked, '/console/confirm-mail'));
  await expectGood(guest, 'confirm-mail');
  await guest.getByRole('button', { name: 'Get the reports' }).click();
  await guest.getByText('You get the reports from now on.').waitFor();
  await guest.close();
  await page.getByRole('button', { name: 'Send now: Everything' }).click();
  const report = () => server.mails.find(({ subject }) => subject?.startsWith('Everything: '))?.text;
  await expect.poll(report).toContain('has no data for this view in the period');
  await page.getByRole('button', { name: 'Pause Everything' }).click();
  await page.getByText('Paused').waitFor();
  await page.getByRole('button', { name: 'Delete Everything' }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).last().click();
  await page.getByText('No reports yet').waitFor();
  await expectGood(page, 'reports-empty');
  // Neither needs a saved view.
  for (const [kind, name] of [
    ['report', 'Each week'],
    ['alert', 'Quiet hours'],
  ] as const) {
    await page.getByRole('button', { name: `New ${kind}` }).click();
    const made = page.getByRole('dialog', { name: `New ${kind}` });
    await made.getByLabel('Name').fill(name);
    expect(await made.getByLabel('View').locator('option:checked').textContent()).toBe('All clicks');
    await made.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name }).first().waitFor();
  }
  const { reports } = await site.api<{ reports: object[] }>('/reports', undefined, 'GET');
  const { alerts } = await site.api<{ alerts: object[] }>('/alerts', undefined, 'GET');
  expect([...reports, ...alerts]).toEqual(
    Array(2).fill(expect.objectContaining({ query: {}, saved_view_id: null })),
  );
  await page.close();
});

const dataUrl = (png: Buffer) => `data:image/png;base64,${png.toString('base64')}`;

/** Of a workspace whose logo is dark on a transparent ground. */
const LOGO =
  'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" width="96" height="32"%3E%3Crect x="2" y="6" width="20" height="20" rx="4" fill="%23123"/%3E%3Ctext x="28" y="23" font-family="sans-serif" font-size="20" fill="%23123"%3Eshop%3C/text%3E%3C/svg%3E';
const AT = '2026-11-29T21:18:00.000Z';
const PLACE = { browser: 'Firefox on Linux', address: '2001:db8:85a3:8d3:1319:8a2e:370:7348' };
const ACCOUNT = 'https://app.hop.example/console/settings?tab=sign-in';
const TOKEN = 'u3Jx8c0vQp5mZt2yKd7Rw1eLh9Bn4sFa6GiTo0XkYcE';
const REPORT: ReportContent = {
  kind: 'report',
  name: 'All of Germany, each month',
  every: 'month',
  from: '2026-10-01',
  to: '2026-10-31',
  timeZone: 'Europe/Berlin',
  currency: 'eur',
  metrics: ['clicks', 'visitors', 'conversions', 'revenue', 'conversion_rate'],
  totals: { clicks: 48_211, visitors: 39_040, conversions: 1_204, revenue: 58_412.5, conversion_rate: 0.025 },
  before: { clicks: 43_900, visitors: 39_101, conversions: 0, revenue: 61_020, conversion_rate: 0.025 },
  chart: {
    unit: 'day',
    values: Array.from({ length: 31 }, (_, n) => 1_200 + 700 * Math.sin(n / 2) + 20 * n),
    before: Array.from({ length: 31 }, (_, n) => 1_300 + 500 * Math.cos(n / 2)),
  },
  tables: [
    {
      dimension: 'channel',
      rows: [
        { name: 'newsletter', value: 21_400, before: 18_000 },
        { name: 'instagram', value: 12_011, before: 14_210 },
        { name: null, value: 911, before: 0 },
      ],
    },
    {
      dimension: 'link',
      rows: [
        {
          name: 'herbst-angebot (A campaign with a long name that wraps on phones)',
          value: 9_001,
          before: 12,
        },
        { name: 'schnell', value: 4_210, before: 4_210 },
      ],
    },
    { dimension: 'country', rows: [{ name: 'DE', value: 48_211, before: 43_900 }] },
  ],
  url: 'https://app.hop.example/console/?f=country%3Ais%3ADE&from=2026-10-01&to=2026-10-31',
  isRequested: false,
};
const CHART = dataUrl(chartPicture(REPORT.chart.values, REPORT.chart.before));
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
  confirmation: {
    kind: 'confirmation',
    url: `https://app.hop.example/console/confirm-mail#${TOKEN}`,
    addedBy: 'maria.hernandez@corner-shop.example',
    of: 'All of Germany, each month',
  },
  application: {
    kind: 'application',
    change: 'approved',
    program: 'Friends of the Corner Shop',
    language: 'fr',
    link: 'https://go.corner-shop.example/x7Kq2',
    portalUrl: 'https://app.hop.example/p/friends',
  },
  portal_sign_in: {
    kind: 'portal_sign_in',
    url: `https://app.hop.example/p/friends/sign-in#${TOKEN}`,
    minutes: 10,
    language: 'pl',
    place: PLACE,
  },
  affiliate_notice: {
    kind: 'affiliate_notice',
    change: 'refund',
    program: 'Friends of the Corner Shop',
    amount: 1_234.5,
    currency: 'EUR',
    count: 3,
    language: 'ar',
    portalUrl: 'https://app.hop.example/p/friends',
  },
  message: {
    kind: 'message',
    subject: 'Higher commission in December <b>',
    text: 'Hello Grace,\n\nuntil the end of the year you earn 30% of each sale: https://go.corner-shop.example/x7Kq2\n\nSee you,\nAda & the Corner Shop',
    program: 'Friends of the Corner Shop',
    language: 'en',
  },
  report: REPORT,
  alert: {
    kind: 'alert',
    name: 'Clicks of all links changed',
    condition: { metric: 'clicks', type: 'change', percent: 50, window_hours: 3 },
    tell: 'firing',
    value: 48,
    expected: 212.5,
    until: '2026-11-20T10:00:00.000Z',
    since: '2026-11-20T10:00:31.000Z',
    currency: 'eur',
    url: 'https://app.hop.example/console/?f=country%3Ais%3ADE&days=7',
  },
  problem: {
    kind: 'problem',
    began: [
      {
        kind: 'webhook_disabled',
        name: 'https://hooks.warehouse.example/secret-path',
        count: null,
        reason: null,
        since: AT,
      },
      {
        kind: 'destination_failing',
        name: 'www.corner-shop.example',
        count: 3,
        reason: 'https://www.corner-shop.example/autumn/sale/a-long-path-that-wraps: 404',
        since: AT,
      },
      { kind: 'plan_limit_near', name: 'events', count: 84, reason: null, since: AT },
    ],
    ended: [{ kind: 'domain_failing', name: 'go.corner-shop.example', count: null, reason: null, since: AT }],
    url: 'https://app.hop.example/console/problems',
  },
};

/** Kinds that are looked at in other languages, one of them from right to left. */
const LOOKED_AT: Partial<Record<MailKind, Language>> = {
  sign_in: 'ar',
  key_change: 'de',
  confirmation: 'ja',
  application: 'fr',
  portal_sign_in: 'pl',
  problem: 'de',
  affiliate_notice: 'ar',
  report: 'fr',
  alert: 'ar',
};

test('mails read well in 390 and 700 pixels, light and dark', async () => {
  const context = await site.browser.newContext();
  const page = await context.newPage();
  for (const [nth, kind] of MAIL_KINDS.entries()) {
    const isOfWorkspace = kind !== 'password_reset';
    const language = LOOKED_AT[kind] ?? 'en';
    const workspaceName = isOfWorkspace ? 'Hernández & Söhne Corner Shop' : null;
    const html = htmlOf(letterOf(CONTENTS[kind], { workspaceName, timeZone: 'America/New_York', language }), {
      language,
      workspaceName,
      hasLogo: isOfWorkspace,
      appUrl: 'https://app.hop.example',
      unsubscribeUrl: isOfOwnAccount(kind)
        ? null
        : `https://app.hop.example/console/unsubscribe#${TOKEN}${TOKEN}`,
    })
      .replace(`cid:${LOGO_CID}`, LOGO.replaceAll('"', '&quot;'))
      .replace(`cid:${PICTURE_CID}`, CHART);
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
