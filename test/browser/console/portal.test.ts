import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { ApplicationRecord } from '../../../api/applications/schemas.ts';
import { linkIn, type MailServer, startMailServer } from '../../support/mail-server.ts';
import { NIGHTLY } from '../../support/nightly.ts';
import { plainPng } from '../../support/scanned-images.ts';
import { inChromium } from '../in-chromium.ts';
import { axeViolations } from '../page-watch.ts';
import { type ConsoleSite, expectGood, expectNotice, startConsoleSite } from './console-site.ts';
import { LONG, merchantOf, PATIENCE } from './referral-shop.ts';

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

const LOOKS = [
  { width: 1_440, colorScheme: 'light' },
  { width: 390, colorScheme: 'dark' },
  { width: 1_440, colorScheme: 'dark' },
  { width: 390, colorScheme: 'light' },
] as const;
const { SCREENSHOT_DIR } = process.env;
const SEEN = NIGHTLY || SCREENSHOT_DIR ? LOOKS : LOOKS.slice(0, 2);

/** Expects that a page of the portal fits and is accessible on a phone and a desktop, light and dark. */
async function expectPortalGood(page: Page, name: string): Promise<void> {
  for (const { width, colorScheme } of SEEN) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    expect(await axeViolations(page), `${name}, ${colorScheme}, ${width}`).toEqual([]);
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate(overflow), `${name}, ${width}`).toBe(0);
    if (!SCREENSHOT_DIR) continue;
    mkdirSync(SCREENSHOT_DIR, { recursive: true });
    await page.screenshot({
      path: join(SCREENSHOT_DIR, `${name}-${colorScheme}-${width}.png`),
      fullPage: true,
    });
  }
}

const visitor = (locale: string): Promise<BrowserContext> => site.browser.newContext({ locale });

test(
  'a program runs from application to the affiliate’s own page, with mails, and no page of a developer',
  LONG,
  async () => {
    await site.api(
      '/workspace',
      {
        name: 'Corner Shop',
        logo: `data:image/png;base64,${plainPng(96, 32, [23, 114, 69, 255]).toString('base64')}`,
      },
      'PATCH',
    );
    const program = await merchantOf(site).program({
      name: 'Friends of the shop',
      code: 'friends',
      min_payout: 50,
      hold_days: 30,
      commission_months: 12,
    });
    const owner = await site.open('/referrals?tab=programs');
    await owner.getByRole('button', { name: `Portal of ${program.name}` }).click();
    const dialog = owner.getByRole('dialog', { name: `Portal of ${program.name}` });
    await dialog.getByLabel('People can apply').check();
    await dialog.getByLabel('Affiliates can link to pages').check();
    await dialog.getByLabel('Welcome').fill('We pay for every friend who buys.\nApply in a minute.');
    await dialog.getByRole('button', { name: 'Add a question' }).click();
    await dialog.getByLabel('Question 1', { exact: true }).fill('Where will you share the link?');
    await dialog.getByLabel('Question 1 is required').check();
    await dialog.getByLabel('Terms', { exact: true }).selectOption('text');
    await dialog.getByLabel('Text of the terms').fill('Be kind.\nDo not bid on our name.');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('The version is required with terms').waitFor(PATIENCE);
    await dialog.getByLabel('Version of the terms').fill('2026-11');
    await expectGood(owner, 'portal-settings');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await expectNotice(owner, 'Portal saved');

    await owner.getByRole('button', { name: 'Add an asset' }).click();
    const asset = owner.getByRole('dialog', { name: 'Add an asset' });
    await asset.getByLabel('Name').fill('Banner for a sidebar');
    const [chooser] = await Promise.all([
      owner.waitForEvent('filechooser'),
      asset.getByRole('button', { name: 'Upload the picture of the asset' }).click(),
    ]);
    const buffer = plainPng(600, 314, [230, 110, 0, 255]);
    await chooser.setFiles({ name: 'banner.png', mimeType: 'image/png', buffer });
    await asset.getByText('Uploaded. Press “Add” to show it in the portal.').waitFor(PATIENCE);
    await expectGood(owner, 'asset-dialog');
    await asset.getByRole('button', { name: 'Add', exact: true }).click();
    await expectNotice(owner, 'Asset added');
    const material = { program_id: program.id };
    const post = 'I drink their coffee each morning.\nTen percent off your first order with my link:';
    await site.api('/assets', { ...material, type: 'text', name: 'Post for Instagram', text: post });
    const guide = { type: 'link', name: 'Brand guide', url: 'https://shop.example/brand' };
    await site.api('/assets', { ...material, ...guide });
    await owner.reload();
    await owner.getByText('https://shop.example/brand').waitFor(PATIENCE);
    await expectGood(owner, 'referrals-assets');

    const url = `${site.app}/p/friends`;
    const context = await visitor('en-US');
    const page = await context.newPage();
    await page.goto(url);
    await expectPortalGood(page, 'portal-apply');
    await page.getByLabel('Your name').fill('Grace Hopper');
    await page.getByLabel('Email').first().fill('grace@friends.example');
    await page.getByLabel('Where will you share the link?').fill('grace.example');
    await page.getByRole('checkbox', { name: /I accept the terms/ }).check();
    await page.getByRole('button', { name: 'Send the application' }).click();
    await page.getByRole('heading', { name: 'Thank you' }).waitFor(PATIENCE);
    await expectPortalGood(page, 'portal-applied');
    expect((await server.untilMailTo('grace@friends.example')).subject).toBe(
      'Your application to Friends of the shop',
    );
    await context.close();

    const arabic = await visitor('ar');
    const right = await arabic.newPage();
    await right.goto(url);
    expect(await right.getAttribute('html', 'dir')).toBe('rtl');
    await expectPortalGood(right, 'portal-apply-ar');
    const missing = await right.goto(`${site.app}/p/nothing`);
    expect(missing?.status()).toBe(404);
    await expectPortalGood(right, 'portal-missing-ar');
    await arabic.close();

    await owner.goto(`${site.app}/console/referrals?tab=applications`);
    await owner.getByText('grace@friends.example').waitFor(PATIENCE);
    await expectGood(owner, 'referrals-applications');
    await owner.getByRole('button', { name: 'Approve Grace Hopper' }).click();
    await expectNotice(owner, 'Grace Hopper approved');
    const { applications } = await site.api<{ applications: ApplicationRecord[] }>('/applications');
    expect(applications[0]).toMatchObject({
      status: 'approved',
      answers: { where_will_you_share_the_link: 'grace.example' },
    });
    const welcome = await server.untilMailTo('grace@friends.example', 'Welcome to Friends of the shop');
    expect(welcome.text).toContain(applications[0]?.referral_link);

    // One whom the owner added by hand before applies, and gets the account of that referrer.
    const added = await merchantOf(site).enroll('alan', program, { email: 'Alan@friends.example' });
    const another = await visitor('en-US');
    const applying = await another.newPage();
    await applying.goto(url);
    await applying.getByLabel('Your name').fill('Alan Turing');
    await applying.getByLabel('Email').first().fill('alan@friends.example');
    await applying.getByLabel('Where will you share the link?').fill('alan.example');
    await applying.getByRole('checkbox', { name: /I accept the terms/ }).check();
    await applying.getByRole('button', { name: 'Send the application' }).click();
    await applying.getByRole('heading', { name: 'Thank you' }).waitFor(PATIENCE);
    await another.close();
    await owner.reload();
    await owner.getByRole('button', { name: 'Approve Alan Turing' }).click();
    const asked = owner.getByRole('dialog', { name: /^alan@friends\.example is a referrer already$/i });
    await asked.waitFor(PATIENCE);
    await expectGood(owner, 'referrals-application-known');
    await asked.getByRole('button', { name: 'Give them this account' }).click();
    await expectNotice(owner, 'Alan Turing approved');
    const ofAlan = await site.api<{ applications: ApplicationRecord[] }>('/applications?status=approved');
    expect(ofAlan.applications[0]).toMatchObject({
      name: 'Alan Turing',
      partner_id: added.partner_id,
      referral_link: added.referral_link,
    });
    await owner.close();

    // What the affiliate brings.
    const shop = merchantOf(site);
    const user = applications[0]?.external_user_id;
    for (const [n, amount] of [120, 49.9, 310].entries()) {
      await shop.signup(`friend-${n}`, '', {
        ref_code: undefined,
        referrer_external_user_id: user,
        email: `friend-${n}@mail.example`,
      });
      await shop.purchase(`friend-${n}`, `order-${n}`, amount);
    }
    await site.api('/coupons', { code: 'GRACE20', external_user_id: user });

    const affiliate = await visitor('en-US');
    const own = await affiliate.newPage();
    await own.goto(url);
    const card = own.locator('section', { has: own.getByRole('heading', { name: 'Sign in' }) });
    await card.getByLabel('Email').fill('grace@friends.example');
    await card.getByRole('button', { name: 'Send me a link' }).click();
    await own.getByRole('heading', { name: 'Look in your mail' }).waitFor(PATIENCE);
    const mail = await server.untilMailTo('grace@friends.example', 'Sign in to the portal of Corner Shop');
    const link = linkIn(mail, '/sign-in');

    // Another browser gets nowhere with the link.
    const stranger = await visitor('en-US');
    const lost = await stranger.newPage();
    await lost.goto(link);
    await lost.getByRole('heading', { name: 'This link no longer works' }).waitFor(PATIENCE);
    await expectPortalGood(lost, 'portal-link-ended');
    await stranger.close();

    await own.goto(link);
    await own.getByRole('heading', { name: 'Your link' }).waitFor(PATIENCE);
    expect(own.url()).toBe(url);
    await own.getByText('$12.00').first().waitFor(PATIENCE);
    expect(await own.getByText(/^on hold until \w+ \d+, 20\d\d$/).count()).toBe(3);
    await own.getByLabel('Email at the payment service').fill('grace@pay.example');
    await own.getByRole('button', { name: 'Save' }).click();
    await own.getByText('PayPal: \u2068g***@pay.example').waitFor(PATIENCE);
    await own.getByRole('button', { name: 'Turn off' }).click();
    await own.getByText('You get no mails about sales').waitFor(PATIENCE);
    await own.getByRole('button', { name: 'Turn on' }).click();
    await own.getByText('gets a mail about your first sale').waitFor(PATIENCE);
    await own.locator('#assets img').scrollIntoViewIfNeeded();
    const width = "document.querySelector('#assets img').naturalWidth";
    await expect.poll(() => own.evaluate(width), PATIENCE).toBe(600);
    const [file] = await Promise.all([
      own.waitForEvent('download'),
      own.getByRole('link', { name: 'Download: Banner for a sidebar' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('Banner for a sidebar.webp');
    await own.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await own.getByLabel('Post for Instagram').locator('+ button').click();
    await own.getByRole('button', { name: 'Copied' }).waitFor(PATIENCE);
    expect(await own.evaluate('navigator.clipboard.readText()')).toBe(post);
    await own.getByLabel('Address of the page').fill(`${program.destination_url}/shoes?color=red`);
    await own.getByRole('button', { name: 'Make the link' }).click();
    const made = own.getByRole('status').getByRole('textbox', { name: 'Your link' });
    await made.waitFor(PATIENCE);
    const deepLink = `${applications[0]?.referral_link}/shoes?color=red`;
    expect(await made.inputValue()).toBe(deepLink);
    await expect
      .poll(async () => (await fetch(deepLink, { redirect: 'manual' })).headers.get('location'))
      .toContain(`${program.destination_url}/shoes?`);
    await own.getByLabel('Address of the page').fill('https://elsewhere.example/shoes');
    await own.getByRole('button', { name: 'Make the link' }).click();
    await own.getByText('Check what you entered.').waitFor(PATIENCE);
    await expectPortalGood(own, 'portal-account');

    // The terms change: the affiliate is asked, and loses nothing.
    await site.api(`/programs/${program.id}/terms`, {
      text: 'Be kind.\nDo not bid on our name.\nDo not send mails to strangers.',
      version: '2026-12',
    });
    await own.reload();
    await own.getByRole('heading', { name: 'New terms' }).waitFor(PATIENCE);
    await own.getByText('$12.00').first().waitFor(PATIENCE);
    await expectPortalGood(own, 'portal-new-terms');
    const rightTerms = await site.browser.newContext({
      locale: 'ar',
      storageState: await affiliate.storageState(),
    });
    const termsRight = await rightTerms.newPage();
    await termsRight.goto(url);
    await termsRight.getByRole('heading', { name: 'شروط جديدة' }).waitFor(PATIENCE);
    await expectPortalGood(termsRight, 'portal-new-terms-ar');
    await rightTerms.close();
    await own.getByRole('checkbox', { name: /I accept the terms/ }).check();
    await own.getByRole('button', { name: 'Accept' }).click();
    await own.getByRole('heading', { name: 'New terms' }).waitFor({ state: 'detached', ...PATIENCE });
    await own.getByText('Terms', { exact: true }).click();
    await own.getByText('You accepted version').waitFor(PATIENCE);
    await expectPortalGood(own, 'portal-accepted-terms');
    const terms = await site.open('/referrals?tab=programs');
    await terms.getByRole('button', { name: `Portal of ${program.name}` }).click();
    await terms.getByText('Versions', { exact: true }).click();
    const versions = terms.getByRole('list', { name: 'Versions of the terms' });
    await versions.getByText('accepted by 1').first().waitFor(PATIENCE);
    await versions.getByRole('button', { name: 'Read version 2026-12' }).click();
    await versions.getByText('Do not send mails to strangers.').waitFor(PATIENCE);
    await expectGood(terms, 'portal-versions');
    await terms.close();
    await own
      .getByRole('link', { name: /20\d\d$/ })
      .first()
      .click();
    await own.getByRole('button', { name: 'Print' }).waitFor(PATIENCE);
    await expectPortalGood(own, 'portal-statement');
    await own.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await own.getByRole('button', { name: 'Print' }).isVisible()).toBe(false);
    await own.emulateMedia({ media: 'screen' });
    const asArabic = await site.browser.newContext({
      locale: 'ar',
      storageState: await affiliate.storageState(),
    });
    const ownRight = await asArabic.newPage();
    await ownRight.goto(url);
    await ownRight.getByRole('heading', { name: 'رابطك' }).waitFor(PATIENCE);
    expect(await ownRight.getAttribute('html', 'dir')).toBe('rtl');
    await expectPortalGood(ownRight, 'portal-account-ar');
    await asArabic.close();
    await own.goto(url);
    await own.getByRole('button', { name: 'Sign out' }).click();
    await own.getByRole('heading', { name: 'Apply' }).waitFor(PATIENCE);
    await affiliate.close();
  },
);
