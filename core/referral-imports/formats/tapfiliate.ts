import type { ReferralFormat } from '../format.ts';

/**
 * Tapfiliate.
 *
 * | Columns | Source |
 * | --- | --- |
 * | `affiliate_email`, `customer_id`, `created_at`, `currency`, `commission_amount`, `commission_status` | the CSV of https://support.tapfiliate.com/en/articles/2446220-manually-creating-a-conversion-or-a-customer |
 * | first name, last name, email, coupon of affiliates | https://support.tapfiliate.com/en/articles/1426640-importing-your-affiliates |
 * | `id`, `firstname`, `lastname`, `referral_code`, `coupon`; `id`, `amount` (major units), `approved`, `created_at` of commissions | its API 1.6, https://tapfiliate.com/docs/rest/ |
 * | `affiliate_id`, `paypal_email`, `paid_at` | not documented for its CSV: the API's nested fields in plain spelling |
 */
export const tapfiliate: ReferralFormat = {
  name: 'Tapfiliate',
  columns: {
    partners: {
      partner_id: ['id', 'affiliate_id'],
      partner_email: ['email', 'affiliate_email'],
      first_name: ['firstname', 'first_name'],
      last_name: ['lastname', 'last_name'],
      codes: ['referral_code', 'referral_link'],
      coupons: ['coupon', 'coupons'],
      paypal_email: ['paypal_email'],
      state: ['status', 'state'],
    },
    customers: {
      partner_id: ['affiliate_id'],
      partner_email: ['affiliate_email', 'affiliate'],
      partner_code: ['referral_code'],
      customer_id: ['customer_id'],
      customer_key: ['id'],
      customer_email: ['customer_email', 'email'],
      created_at: ['created_at'],
    },
    commissions: {
      commission_id: ['commission_id', 'id'],
      partner_id: ['affiliate_id'],
      partner_email: ['affiliate_email', 'affiliate'],
      amount: ['commission_amount', 'amount'],
      currency: ['currency'],
      status: ['commission_status', 'approved', 'status'],
      created_at: ['created_at'],
    },
  },
  documented: [
    'affiliate_email',
    'customer_id',
    'created_at',
    'currency',
    'commission_amount',
    'commission_status',
    'first_name',
    'last_name',
    'email',
    'coupon',
    'id',
    'firstname',
    'lastname',
    'referral_code',
    'amount',
    'approved',
  ],
  marks: [
    { kind: 'commissions', column: 'commission_amount' },
    { kind: 'commissions', column: 'amount' },
    { kind: 'customers', column: 'customer_id' },
  ],
  fates: {
    pending: 'pending',
    false: 'pending',
    '': 'pending',
    approved: 'eligible',
    true: 'eligible',
    disapproved: 'over',
    paid: 'over',
  },
  wholeIsMinor: false,
};
