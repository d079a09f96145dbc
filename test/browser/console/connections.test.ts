import type { Page } from 'playwright-core';
import Stripe from 'stripe';
import { expect, test } from 'vitest';
import { invoice, type StripeEvent, stripeEvent } from '../../../core/connections/stripe/fixtures/events.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectClean, expectGood, expectNotice } from './console-site.ts';

let site: ConsoleSite;
inChromium(async () => {
  site = await consoleSite();
  return () => site.close();
});

const LONG = { timeout: 400_000 };
const SECRET = 'whsec_of_the_console';

const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name }).click();
const textShown = (page: Page, text: string) => page.getByText(text).first().waitFor();
const rows = (page: Page) => page.getByRole('region', { name: 'Received events' }).locator('tbody tr');

async function send(url: string, event: StripeEvent, secret = SECRET): Promise<number> {
  const payload = JSON.stringify(event);
  const signature = Stripe.webhooks.generateTestHeaderString({ payload, secret });
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'stripe-signature': signature },
    body: payload,
  });
  return response.status;
}

test('Stripe is connected in three steps, and an unmatched purchase is assigned', LONG, async () => {
  const program = {
    name: 'Friends',
    code: `friends-${Date.now()}`,
    destination_url: 'https://shop.example/',
  };
  await site.api('/programs', { ...program, commission_rate: 20 });
  await site.api('/referrals/enroll', { external_user_id: 'ada', email: 'ada@mail.example', tier: 'free' });
  const page = await site.open('/connections', { role: 'operator' });
  await textShown(page, 'No connections yet');
  await expectGood(page, 'connections-empty');
  await press(page, 'Connect a provider');
  await page.getByRole('dialog', { name: 'Connect a provider' }).waitFor();
  await expectGood(page, 'connections-new');
  await press(page, 'Continue');
  await page.getByRole('heading', { level: 1, name: 'Connection to Stripe' }).waitFor();
  await textShown(page, 'Not finished');
  const address = (await page.locator('code', { hasText: '/webhook' }).textContent()) ?? '';
  const now = Math.floor(Date.now() / 1_000);
  const event = stripeEvent('invoice.paid', invoice('in_console', 5_000), now);
  expect(await send(address, event)).toBe(503);
  await page.getByRole('textbox', { name: 'Signing secret' }).fill(SECRET);
  await press(page, 'Save the signing secret');
  await textShown(page, 'Waits for an event');
  await expectGood(page, 'connections-steps');

  expect(await send(address, event, 'whsec_of_another_webhook')).toBe(400);
  await textShown(page, 'Wrong signature');
  const steps = page.getByRole('region', { name: 'Steps of the connection' });
  await steps.getByText('A call had a wrong signature').waitFor();
  await expectGood(page, 'connections-refused');
  await page.getByRole('navigation').getByRole('link', { name: 'Connections' }).click();
  await page.getByRole('region', { name: 'Connections' }).getByText('Wrong signature').waitFor();
  await expectGood(page, 'connections-refused-list');
  await page.goto(`${site.app}/console/problems`);
  await page.getByText('Calls of Stripe have a wrong signature').waitFor();
  await page.getByRole('link', { name: 'Open the connection' }).click();
  // The refused calls were signed by another secret than the one that is entered now.
  await page.getByRole('textbox', { name: 'Signing secret' }).fill(SECRET);
  await press(page, 'Replace the signing secret');
  await textShown(page, 'Waits for an event');
  await steps.getByText('A call had a wrong signature').waitFor({ state: 'detached' });

  expect(await send(address, event)).toBe(200);
  await textShown(page, 'No known user has its metadata, customer, or email.');
  await textShown(page, 'stripe:in_console');
  await expectGood(page, 'connections-unmatched');
  await press(page, /^Assign to referrer/);
  const dialog = page.getByRole('dialog', { name: 'Assign to a referrer' });
  await dialog.getByRole('textbox', { name: 'Referrer' }).fill('ada');
  await dialog.getByRole('radio', { name: 'ada' }).check();
  await expectGood(page, 'connections-assign');
  await dialog.getByRole('button', { name: 'Assign' }).click();
  await textShown(page, 'Recorded');
  await expect.poll(() => page.getByRole('button', { name: /^Assign to referrer/ }).count()).toBe(0);
  const { commissions } = await site.api<{ commissions: { amount: number }[] }>('/commissions');
  expect(commissions.map(({ amount }) => amount)).toEqual([10]);

  await press(page, /^Replay /);
  await expectNotice(page, 'Event is processed again');
  await expect.poll(() => rows(page).getByText('Recorded').count()).toBe(1);
  await page.getByRole('combobox', { name: 'Outcome' }).click();
  await page.getByRole('option', { name: 'Failed' }).click();
  await textShown(page, 'No matching events');
  expectClean(page);
  await page.close();
});

test('an analyst sees events and changes nothing', LONG, async () => {
  const page = await site.open('/connections', { role: 'analyst' });
  await page.getByRole('link', { name: 'Stripe' }).first().click();
  await rows(page).first().waitFor();
  expect(await page.getByRole('button', { name: /Save|Replay|Assign|Delete/ }).count()).toBe(0);
  expectClean(page);
  await page.close();
});

test('a connection that cannot be read says so, and is not read again at once', async () => {
  const page = await site.open('/connections');
  await page.clock.install();
  let reads = 0;
  await page.route('**/api/v1/connections/unread', (route) => {
    reads += 1;
    return route.fulfill({ status: 404, json: { error: { code: 'not_found', message: 'no such one' } } });
  });
  await page.goto(`${site.app}/console/connections/unread`);
  await textShown(page, 'Not found');
  await page.clock.runFor(10_000);
  await textShown(page, 'Not found');
  expect(reads).toBe(1);
  await page.close();
});

test(
  'payments without a known buyer are listed among the purchases, and one is assigned there',
  LONG,
  async () => {
    const code = `newsletter-${Date.now()}`;
    const program = {
      name: 'Newsletter',
      code,
      destination_url: 'https://shop.example/',
      commission_rate: 20,
    };
    await site.api('/programs', { ...program, hold_days: 0 });
    const grace = { external_user_id: 'user_grace', email: 'grace@mail.example', name: 'Grace Hopper' };
    await site.api('/referrals/enroll', { ...grace, tier: 'free' });
    const { webhook_url } = await site.api<{ webhook_url: string }>('/connections', {
      provider: 'stripe',
      signing_secret: SECRET,
    });
    const now = Math.floor(Date.now() / 1_000);
    for (const [id, customer, amount] of [
      ['in_1QzR4tLkdIwHu7ixA1b2C3d4', 'cus_RsQ8mT1vYw2Xn4', 2_900],
      ['in_1QzS9wLkdIwHu7ixE5f6G7h8', 'cus_RsQ8mT1vYw2Xn4', 9_900],
      ['in_1QzT2bLkdIwHu7ixJ9k0L1m2', 'cus_RtB3kP7zLq9Dc5', 14_900],
    ] as const) {
      const paid = invoice(id, amount, { customer, subscription: `sub_${customer.slice(4)}` });
      expect(await send(webhook_url, stripeEvent('invoice.paid', paid, now))).toBe(200);
    }
    const page = await site.open('/referrals?tab=purchases&result=unmatched', { role: 'operator' });
    const purchases = page.getByRole('region', { name: 'Purchases' }).getByRole('row');
    const chosen = purchases.filter({ hasText: 'in_1QzS9wLkdIwHu7ixE5f6G7h8' });
    await chosen.getByText('No known user has its metadata, customer, or email.').waitFor();
    await chosen.getByText('cus_RsQ8mT1vYw2Xn4').waitFor();
    await expectGood(page, 'purchases-unmatched');
    await chosen.getByRole('button', { name: /^Assign/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Assign to a referrer' });
    await dialog.getByRole('textbox', { name: 'Referrer' }).fill('grace');
    await dialog.getByRole('radio', { name: 'user_grace' }).check();
    await expectGood(page, 'purchases-assign');
    await dialog.getByRole('button', { name: 'Assign' }).click();
    await expectNotice(page, 'Purchase assigned');
    // The customer is tied: their other payment is no longer without a buyer, and another customer's is.
    await expect.poll(() => purchases.filter({ hasText: 'cus_RsQ8mT1vYw2Xn4' }).count()).toBe(0);
    await purchases
      .filter({ hasText: 'cus_RtB3kP7zLq9Dc5' })
      .getByRole('button', { name: /^Assign/ })
      .waitFor();
    await page.goto(`${site.app}/console/referrals?tab=purchases`);
    for (const id of ['in_1QzR4tLkdIwHu7ixA1b2C3d4', 'in_1QzS9wLkdIwHu7ixE5f6G7h8']) {
      const earning = purchases.filter({ hasText: id });
      await earning.getByText('Earned').waitFor();
      await earning.getByRole('button', { name: 'Grace Hopper' }).waitFor();
    }
    expectClean(page);
    await page.close();
  },
);

test('an analyst sees unmatched payments, and has no button that assigns', LONG, async () => {
  const page = await site.open('/referrals?tab=purchases&result=unmatched', { role: 'analyst' });
  await page.getByText('cus_RtB3kP7zLq9Dc5').waitFor();
  expect(await page.getByRole('button', { name: /^Assign/ }).count()).toBe(0);
  expectClean(page);
  await page.close();
});
