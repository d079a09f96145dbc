import { expect, test } from 'vitest';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectClean, expectGood } from './console-site.ts';
import { choose, expectRows, LONG, merchantOf, PATIENCE, row } from './referral-shop.ts';

let site: ConsoleSite;
let receiver: Receiver;

inChromium(async () => {
  receiver = await startReceiver();
  site = await consoleSite();
  return async () => {
    await site.close();
    await receiver.close();
  };
});

test('credits are delivered by a call: set up, failed, delivered by hand, deleted', LONG, async () => {
  const merchant = merchantOf(site);
  const program = await merchant.program({
    name: 'Credits for friends',
    credit_enabled: true,
    signup_credit: { free: 5, paid: 5 },
  });
  const page = await site.open('/referrals?tab=fulfilment', { role: 'operator' });
  const card = page.getByRole('article', { name: 'Fulfilment of Credits for friends' });
  await card.getByRole('button', { name: 'Deliver credits' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Deliver credits' }).click();
  const address = dialog.getByRole('textbox', { name: 'Address' });
  await expect.poll(() => address.getAttribute('aria-invalid'), PATIENCE).toBe('true');
  await expectGood(page, 'fulfilment-form');
  await address.fill(receiver.url);
  await dialog.getByRole('button', { name: 'Deliver credits' }).click();
  const made = page.getByRole('dialog', { name: 'The fulfilment is ready' });
  expect(await made.locator('code').textContent()).toMatch(/^whsec_/);
  await made.getByRole('button', { name: 'Done' }).click();

  receiver.answerWith(500);
  const { ref } = await merchant.enroll('ada', program);
  await merchant.signup('grace', ref);
  await card.getByRole('button', { name: 'Show deliveries' }).click();
  const delivery = row(page, 'Deliveries', 'ada');
  await delivery.getByText('Retrying').waitFor();
  await delivery.getByText('responded with 500').waitFor();
  await expectGood(page, 'fulfilment-deliveries');
  // The next attempt is far enough away for the button to be the one that delivers.
  await delivery.getByText(/Next attempt in \d+ minutes/).waitFor();
  receiver.answerWith(200);
  await delivery.getByRole('button', { name: /^Deliver now/ }).click();
  await delivery.getByText('Delivered').waitFor();
  await choose(page, 'State', 'Failed');
  await page.getByText('No matching deliveries').waitFor();
  await choose(page, 'State', 'Delivered');
  await expectRows(page, 'Deliveries', 1);

  await card.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await card.getByRole('button', { name: 'Deliver credits' }).click();
  await page.getByRole('radio', { name: 'Stripe customer balance' }).check();
  await page.getByRole('textbox', { name: 'Restricted key of Stripe' }).fill('rk_test_of_the_shop');
  await expectGood(page, 'fulfilment-stripe-form');
  await page.getByRole('dialog').getByRole('button', { name: 'Deliver credits' }).click();
  await card.getByText(/^1 USD for one credit/).waitFor();
  await expectGood(page, 'fulfilment-stripe');
  expectClean(page);
  await page.close();
});
