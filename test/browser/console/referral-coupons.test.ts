import { expect, test } from 'vitest';
import { createPool } from '../../../sql/database/pool.ts';
import { storesOf } from '../../kafka/deployment.ts';
import { inChromium } from '../in-chromium.ts';
import { type ConsoleSite, consoleSite, expectGood } from './console-site.ts';
import { expectRows, LONG, merchantOf, row, type Shop } from './referral-shop.ts';

let site: ConsoleSite;
let shop: Shop;

inChromium(async () => {
  site = await consoleSite();
  shop = merchantOf(site);
  return site.close;
});

test(
  'a coupon is given to a referrer, refused where it is taken, shown at the referrer, and deleted',
  LONG,
  async () => {
    const program = await shop.program({ name: 'Coupons' });
    const ann = await shop.enroll('ann', program);
    await shop.enroll('ben', program);
    const page = await site.open('/referrals?tab=coupons');
    await page.getByText('No coupons').waitFor({ timeout: 120_000 });
    const dialog = page.getByRole('dialog', { name: 'Add a coupon' });
    const add = async (code: string, user: string) => {
      await page.getByRole('button', { name: 'Add a coupon' }).click();
      await dialog.getByLabel('Code').fill(code);
      await dialog.getByLabel('Referrer').fill(user);
      await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    };
    await add('ANNA20', 'ann');
    await dialog.waitFor({ state: 'detached' });
    await row(page, 'Coupons', 'ANNA20')
      .getByRole('button', { name: 'ann@mail.example', exact: true })
      .waitFor();
    await add('anna20', 'ben');
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.getByRole('alert').textContent()).toContain('anna20');
    await expectGood(page, 'referrals-coupon-taken');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await expectGood(page, 'referrals-coupons');

    await row(page, 'Coupons', 'ANNA20')
      .getByRole('button', { name: 'ann@mail.example', exact: true })
      .click();
    const drawer = page.getByRole('dialog', { name: 'Referrer ann' });
    await drawer.getByRole('button', { name: 'Copy the coupon ANNA20' }).waitFor();
    await expectGood(page, 'referrals-drawer-coupons');
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'More parts of referrals' }).selectOption('Coupons');
    await page.getByRole('button', { name: 'Delete the coupon ANNA20' }).click();
    await page
      .getByRole('dialog', { name: 'Delete the coupon ANNA20?' })
      .getByRole('button', { name: 'Delete' })
      .click();
    await page.getByText('No coupons').waitFor();
    expect(await site.api(`/coupons?partner_id=${ann.partner_id}`)).toMatchObject({ coupons: [] });
    await page.close();
  },
);

test('the filter finds a code in any case', LONG, async () => {
  const program = await shop.program({ name: 'Filtered' });
  await shop.enroll('cat', program);
  await site.api('/coupons', { code: 'CAT10', external_user_id: 'cat' });
  await site.api('/coupons', { code: 'CAT20', external_user_id: 'cat' });
  const page = await site.open('/referrals?tab=coupons');
  await expectRows(page, 'Coupons', 2);
  await page.getByLabel('Code').fill('cat20');
  await expectRows(page, 'Coupons', 1);
  await page.close();
});

test('a promotion code is made in Stripe, its failure is shown, and it is tried again', LONG, async () => {
  const program = await shop.program({ name: 'Promoted' });
  await shop.enroll('dan', program);
  await site.api('/connections', { provider: 'stripe', restricted_key: 'rk_test_of_the_console' });
  const pool = createPool(storesOf(site.dataDir).databaseUrl, { max: 1 });
  /** Ends the attempts of the workers, which can't reach Stripe. */
  const end = (status: 'active' | 'failed', error: string | null) =>
    pool.query(
      `UPDATE promotion_codes SET status = $1, error = $2, next_attempt_at = NULL
       FROM coupons WHERE coupons.id = coupon_id AND code = 'DAN10'`,
      [status, error],
    );
  const page = await site.open('/referrals?tab=coupons&code=DAN10');
  await page.getByRole('button', { name: 'Add a coupon' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a coupon' });
  await dialog.getByRole('textbox', { name: 'Code' }).fill('DAN10');
  await dialog.getByLabel('Referrer').fill('dan');
  await dialog.getByLabel('Make the promotion code in Stripe').check();
  await dialog.getByRole('textbox', { name: 'Percent off' }).fill('0');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.getByText(/^must be/i).waitFor();
  await expectGood(page, 'referrals-coupon-promotion');
  await dialog.getByRole('textbox', { name: 'Percent off' }).fill('12.5');
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  const shown = row(page, 'Coupons', 'DAN10');
  await shown.getByText('Being made').waitFor();
  await end('failed', 'An active promotion code with `code: DAN10` already exists.');
  await shown.getByText('Not in Stripe').waitFor();
  await expectGood(page, 'referrals-coupons-promotion');
  await shown.getByRole('button', { name: 'Try again: DAN10' }).click();
  const again = page.getByRole('dialog', { name: 'Make DAN10 in Stripe' });
  await again.getByText('already exists').waitFor();
  expect(await again.getByRole('textbox', { name: 'Percent off' }).inputValue()).toBe('12.5');
  await expectGood(page, 'referrals-promotion-again');
  await again.getByRole('button', { name: 'Make the promotion code' }).click();
  await again.waitFor({ state: 'detached' });
  await shown.getByText('Being made').waitFor();
  await end('active', null);
  await shown.getByText('In Stripe', { exact: true }).waitFor();
  await pool.end();
  await page.close();
});
