import type { ReferralFormat } from '../format.ts';

/**
 * Rewardful.
 *
 * | Columns | Source |
 * | --- | --- |
 * | `first_name`, `last_name`, `email`, `paypal_email`, `wise_email`, `token`, `stripe_customer_id` | the CSV of https://help.rewardful.com/en/articles/1988486-how-do-i-import-data-into-rewardful |
 * | `Affiliate First Name`, `Affiliate Last Name`, `Affiliate Email`, `Affiliate PayPal Email`, `Imported ID` (of Stripe) | earlier editions of the same page |
 * | `id`, `state`, `coupon`, `links` | the affiliate object, https://developers.rewardful.com/rest-api/affiliates/object |
 * | `amount` (cents), `currency`, `state`, `due_at`, `paid_at`, `voided_at` | the commission object, https://developers.rewardful.com/rest-api/commissions/object |
 * | `customer_id`, `customer_email`, `affiliate_id`, `affiliate_token` | not documented for its CSV: the API's nested fields in plain spelling |
 */
export const rewardful: ReferralFormat = {
  name: 'Rewardful',
  columns: {
    partners: {
      partner_id: ['id', 'affiliate_id'],
      partner_email: ['email', 'affiliate_email'],
      first_name: ['first_name', 'affiliate_first_name'],
      last_name: ['last_name', 'affiliate_last_name'],
      codes: ['token', 'link_token', 'links'],
      coupons: ['coupon', 'coupon_code', 'coupon_token'],
      paypal_email: ['paypal_email', 'affiliate_paypal_email'],
      wise_email: ['wise_email'],
      state: ['state', 'status'],
    },
    customers: {
      partner_id: ['affiliate_id'],
      partner_email: ['affiliate_email', 'email'],
      partner_code: ['affiliate_token', 'token', 'link_token'],
      customer_id: ['stripe_customer_id', 'customer_id', 'imported_id'],
      customer_email: ['customer_email'],
      created_at: ['created_at'],
    },
    commissions: {
      commission_id: ['id', 'commission_id'],
      partner_id: ['affiliate_id'],
      partner_email: ['affiliate_email'],
      partner_code: ['affiliate_token', 'token'],
      amount: ['amount', 'commission_amount'],
      amount_minor: ['amount_cents', 'commission_amount_cents'],
      currency: ['currency'],
      status: ['state', 'status'],
      due_at: ['due_at'],
      created_at: ['created_at'],
    },
  },
  documented: [
    'first_name',
    'last_name',
    'affiliate_first_name',
    'affiliate_last_name',
    'affiliate_email',
    'affiliate_paypal_email',
    'imported_id',
    'email',
    'paypal_email',
    'wise_email',
    'token',
    'stripe_customer_id',
    'id',
    'state',
    'coupon',
    'links',
    'amount',
    'currency',
    'due_at',
    'paid_at',
    'voided_at',
    'created_at',
  ],
  alsoPartners: ['first_name', 'last_name', 'paypal_email', 'wise_email'],
  marks: [
    { kind: 'commissions', column: 'amount' },
    { kind: 'commissions', column: 'amount_cents' },
    { kind: 'commissions', column: 'commission_amount' },
    { kind: 'customers', column: 'stripe_customer_id' },
    { kind: 'customers', column: 'customer_id' },
    { kind: 'customers', column: 'imported_id' },
  ],
  fates: { pending: 'pending', due: 'eligible', paid: 'over', voided: 'over' },
  wholeIsMinor: true,
};
