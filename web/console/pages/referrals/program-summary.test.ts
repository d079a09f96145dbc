import { expect, test } from 'vitest';
import { type Draft, newDraft } from './program-draft.ts';
import { summaryOf } from './program-summary.ts';
import { TEMPLATES } from './program-templates.ts';

const of = (part: Partial<Draft>) => summaryOf({ ...newDraft('usd'), ...part });

test('a commission is one sentence with an example', () => {
  expect(of({ commission_months: '12', min_payout: '25' })).toEqual({
    sentence:
      'Referrers earn 20% of every payment for 12 months, paid out from $25.00 by PayPal after 30 days.',
    example: 'A customer who pays $50.00 a month for 12 months brings $120.00.',
  });
  const flat = {
    commission_type: 'flat',
    commission_rate: '30',
    first_sale_only: true,
    hold_days: '0',
  } as const;
  expect(of({ ...flat, payout_methods: ['paypal', 'wise'] })).toEqual({
    sentence: 'Referrers earn $30.00 for the first payment, paid out by PayPal or Wise.',
    example: 'A customer whose first payment is $50.00 brings $30.00.',
  });
});

test('credits are named by their kind, and commission with them is of affiliates', () => {
  const credits = { credit_enabled: true, signup_free: '5', signup_paid: '5', purchase_credit: '20' };
  expect(of(credits)).toEqual({
    sentence: 'Referrers get 5 credits for a signup and 20 credits for each purchase.',
    example: '10 friends who sign up and buy once bring 250 credits.',
  });
  const both = of({ ...credits, referee_credit: '3', allow_affiliate_upgrade: true, hold_days: '1' });
  expect(both?.sentence).toBe(
    'Referrers get 5 credits for a signup and 20 credits for each purchase; new users get 3 credits. ' +
      'Affiliates earn 20% of every payment, paid out by PayPal after 1 day.',
  );
  expect(of({ credit_enabled: true, referee_credit: '3' })?.sentence).toBe('New users get 3 credits.');
  expect(of({ credit_enabled: true })).toEqual({ sentence: 'Referrers earn nothing yet.', example: null });
});

test('there is none while a number or the currency is not complete', () => {
  for (const part of [{ commission_rate: '12,5' }, { hold_days: '-' }, { min_payout: 'x' }]) {
    expect(of(part)).toBeNull();
  }
  expect(of({ currency: 'us', min_payout: '5' })).toBeNull();
});

test('every template has a sentence and an example', () => {
  for (const { part } of TEMPLATES) expect(of(part)?.example).toEqual(expect.any(String));
});
