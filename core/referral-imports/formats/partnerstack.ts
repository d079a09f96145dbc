import type { ReferralFormat } from '../format.ts';

/**
 * PartnerStack.
 *
 * | Columns | Source |
 * | --- | --- |
 * | `partner_first`, `partner_last`, `partner_email`, `partner_key` (the end of the link) | https://support.partnerstack.com/hc/en-us/articles/360009012554-Importing-Historical-Data-into-PartnerStack |
 * | `customer_key`, `email`, `created_at`, `key` of customers; `key`, `amount` (cents), `currency`, `reward_status` of rewards | its API, https://docs.partnerstack.com/reference; the lists were also read in https://github.com/dubinc/dub, apps/web/lib/partnerstack/schemas.ts |
 * | `customer_email`, `provider_key`, `reward_key`, `first_name`, `last_name`, `paypal_email` | not documented for its CSV: the API's fields in plain spelling |
 */
export const partnerstack: ReferralFormat = {
  name: 'PartnerStack',
  columns: {
    partners: {
      partner_id: ['partner_key', 'partnership_key', 'key'],
      partner_email: ['partner_email', 'email'],
      name: ['name', 'partner_name'],
      first_name: ['partner_first', 'first_name'],
      last_name: ['partner_last', 'last_name'],
      codes: ['partner_key', 'link_key', 'referral_link'],
      coupons: ['coupon', 'coupon_code'],
      paypal_email: ['paypal_email'],
      state: ['status', 'approved_status'],
    },
    customers: {
      partner_id: ['partner_key', 'partnership_key'],
      partner_email: ['partner_email'],
      customer_id: ['customer_key', 'external_key', 'provider_key'],
      customer_key: ['key'],
      customer_email: ['customer_email', 'email'],
      created_at: ['created_at', 'submitted_on'],
    },
    commissions: {
      commission_id: ['reward_key', 'key', 'id'],
      partner_id: ['partner_key', 'partnership_key'],
      partner_email: ['partner_email'],
      amount: ['amount', 'reward_amount'],
      currency: ['currency'],
      status: ['reward_status', 'status'],
      created_at: ['created_at', 'created'],
    },
  },
  documented: [
    'partner_first',
    'partner_last',
    'partner_email',
    'partner_key',
    'customer_key',
    'email',
    'created_at',
    'key',
    'amount',
    'currency',
    'reward_status',
  ],
  marks: [
    { kind: 'commissions', column: 'reward_status' },
    { kind: 'commissions', column: 'reward_amount' },
    { kind: 'commissions', column: 'amount' },
    { kind: 'customers', column: 'customer_key' },
    { kind: 'customers', column: 'customer_email' },
  ],
  fates: {
    hold: 'pending',
    pending: 'pending',
    approved: 'eligible',
    declined: 'over',
    paid: 'over',
    withdrawn: 'over',
  },
  wholeIsMinor: true,
};
