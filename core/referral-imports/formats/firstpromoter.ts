import type { ReferralFormat } from '../format.ts';

/**
 * FirstPromoter. Its API's objects (https://docs.firstpromoter.com/api-reference-v2): a promoter has `id`, `cust_id`
 * (the id in your product), `email`, `name`, `ref_token`, `coupon`, `paypal_email`; a referral `id`, `uid` (the id in
 * your product), `email`, `created_at`; a commission `id`, `status` (`pending`, `approved`, `denied`), `amount`,
 * `is_paid`, `unit` (`cash`, or credits and discounts), `created_at`. The lists were also read in
 * https://github.com/dubinc/dub, apps/web/lib/firstpromoter/schemas.ts. `ref_id` is the code of version 1
 * (https://docs.firstpromoter.com/script-docs/concepts).
 *
 * The columns of its CSV (https://docs.firstpromoter.com, `GET /commissions/export`) are not documented: `promoter_id`,
 * `promoter_email` and `first_name` are the fields in plain spelling. Amounts of the API are taken as cents.
 */
export const firstpromoter: ReferralFormat = {
  name: 'FirstPromoter',
  columns: {
    partners: {
      partner_id: ['id', 'promoter_id'],
      partner_email: ['email', 'promoter_email'],
      user_id: ['cust_id'],
      name: ['name'],
      first_name: ['first_name'],
      last_name: ['last_name'],
      codes: ['ref_token', 'ref_id', 'cust_ref', 'default_ref_id', 'ref_link', 'referral_link'],
      coupons: ['coupon', 'promo_code'],
      paypal_email: ['paypal_email'],
      wise_email: ['wise_email'],
      state: ['state', 'status'],
    },
    customers: {
      partner_id: ['promoter_id'],
      partner_email: ['promoter_email', 'promoter'],
      partner_code: ['ref_id', 'ref_token'],
      customer_id: ['uid'],
      customer_key: ['id'],
      customer_email: ['email', 'lead_email', 'customer_email'],
      created_at: ['created_at', 'customer_since'],
    },
    commissions: {
      commission_id: ['id', 'commission_id'],
      partner_id: ['promoter_id'],
      partner_email: ['promoter_email', 'promoter'],
      partner_code: ['ref_id', 'ref_token'],
      amount: ['amount', 'commission_amount', 'reward_amount'],
      currency: ['currency'],
      unit: ['unit'],
      status: ['status'],
      created_at: ['created_at'],
    },
  },
  documented: [
    'id',
    'cust_id',
    'email',
    'name',
    'ref_token',
    'ref_id',
    'coupon',
    'paypal_email',
    'uid',
    'created_at',
    'status',
    'amount',
    'is_paid',
    'unit',
  ],
  marks: [
    { kind: 'commissions', column: 'amount' },
    { kind: 'commissions', column: 'commission_amount' },
    { kind: 'commissions', column: 'reward_amount' },
    { kind: 'customers', column: 'uid' },
  ],
  fates: { pending: 'pending', approved: 'eligible', denied: 'over', paid: 'over' },
  wholeIsMinor: true,
};
