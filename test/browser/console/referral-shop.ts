import type { Locator } from 'playwright-core';
import { expect } from 'vitest';
import type { ProgramRecord } from '../../../api/referrals/programs/schemas.ts';
import type { ConsolePage, ConsoleSite } from './console-site.ts';

/** Each test looks at several states in both themes and widths, on a machine that may have other things to do. */
export const LONG = { timeout: 240_000 };
/** Timeout of one expectation on such a machine. */
export const PATIENCE = { timeout: 60_000 };

export type Shop = ReturnType<typeof merchantOf>;
/** The response of `GET /ledger/balances`. */
export type Sums = {
  balances: { status: string; currency: string | null; amount: number; entries: number }[];
};

/** The calls that the merchant's server makes. */
export function merchantOf({ api }: ConsoleSite) {
  return {
    program: (fields: object) =>
      api<ProgramRecord>('/programs', {
        name: 'Friends',
        destination_url: 'https://shop.example/join',
        commission_rate: 10,
        hold_days: 0,
        ...fields,
      }),
    /** With a payout address where the program offers PayPal. */
    async enroll(user: string, program: { id: string; payout_methods?: string[] }, fields: object = {}) {
      const enrolled = await api<{ partner_id: string; referral_link: string }>('/referrals/enroll', {
        external_user_id: user,
        email: `${user}@mail.example`,
        tier: 'free',
        program_id: program.id,
        ...fields,
      });
      const payout_method = { method: 'paypal', email: `${user.slice(0, 20)}@pay.example` };
      if (program.payout_methods?.includes('paypal')) {
        await api(`/enrollments/${enrolled.partner_id}`, { payout_method }, 'PATCH');
      }
      return { ...enrolled, ref: enrolled.referral_link.split('/').at(-1) ?? '' };
    },
    signup: (user: string, ref: string, fields: object = {}) =>
      api('/referrals/report-signup', { new_user_external_user_id: user, ref_code: ref, ...fields }),
    purchase: (user: string, order: string, amount: number, currency = 'usd') =>
      api('/referrals/report-purchase', { external_user_id: user, order_id: order, amount, currency }),
  };
}

/** Formats money as the page does for a viewer from Britain. */
export const money = (amount: number, currency = 'usd') =>
  new Intl.NumberFormat('en-GB', { style: 'currency', currency: currency.toUpperCase() }).format(amount);

/** Returns the row of a table with this text. */
export const row = (page: ConsolePage, table: string, text: string): Locator =>
  page.getByRole('region', { name: table }).getByRole('row').filter({ hasText: text });

/** Waits until a table has this many rows, header excluded. */
export async function expectRows(page: ConsolePage, table: string, count: number): Promise<void> {
  const rows = page.getByRole('region', { name: table }).locator('tbody tr');
  await expect.poll(() => rows.count(), PATIENCE).toBe(count);
}

/** Chooses an option of a filter. */
export async function choose(page: ConsolePage, filter: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: filter, exact: true }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}
