import type { ReferralFormat } from '../format.ts';

/**
 * Tolt. Its API's objects (https://docs.tolt.com: partners, customers, commissions, links): a partner has `id`,
 * `email`, `first_name`, `last_name`, `status`; a link `param`, `value`; a customer `customer_id` (the id in your
 * product), `email`, `created_at`; a commission `id`, `amount` (text, in cents), `status`, `created_at`. The field
 * lists were also read in https://github.com/dubinc/dub, apps/web/lib/tolt/schemas.ts.
 *
 * The columns of the dashboard's CSV are not documented: `partner_id`, `partner_email`, `link`, `promotion_code`,
 * `paypal_email` and `paid_at` are the fields in plain spelling.
 */
export const tolt: ReferralFormat = {
  name: 'Tolt',
  columns: {
    partners: {
      partner_id: ['id', 'partner_id'],
      partner_email: ['email', 'partner_email'],
      name: ['name'],
      first_name: ['first_name'],
      last_name: ['last_name'],
      codes: ['value', 'link_value', 'link', 'links', 'referral_link'],
      coupons: ['promotion_code', 'promotion_codes', 'coupon'],
      paypal_email: ['paypal_email'],
      wise_email: ['wise_email'],
      state: ['status'],
    },
    customers: {
      partner_id: ['partner_id'],
      partner_email: ['partner_email', 'partner'],
      customer_id: ['customer_id'],
      customer_key: ['id'],
      customer_email: ['email', 'customer_email'],
      created_at: ['created_at'],
    },
    commissions: {
      commission_id: ['id', 'commission_id'],
      partner_id: ['partner_id'],
      partner_email: ['partner_email', 'partner'],
      amount: ['amount', 'commission'],
      currency: ['currency'],
      status: ['status'],
      created_at: ['created_at'],
    },
  },
  documented: [
    'id',
    'email',
    'first_name',
    'last_name',
    'status',
    'value',
    'customer_id',
    'created_at',
    'amount',
  ],
  marks: [
    { kind: 'commissions', column: 'amount' },
    { kind: 'commissions', column: 'commission' },
    { kind: 'customers', column: 'customer_id' },
  ],
  fates: {
    pending: 'pending',
    approved: 'eligible',
    due: 'eligible',
    unpaid: 'eligible',
    paid: 'over',
    rejected: 'over',
    declined: 'over',
    refunded: 'over',
  },
  wholeIsMinor: true,
};
