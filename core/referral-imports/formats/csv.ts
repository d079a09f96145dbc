import type { ReferralFormat } from '../format.ts';

/** Hoplog's own files, for any other program: the names of the fields. Amounts are major units. */
export const csv: ReferralFormat = {
  name: 'CSV',
  columns: {
    partners: {
      partner_id: ['partner_id'],
      partner_email: ['partner_email', 'email'],
      user_id: ['external_user_id'],
      name: ['name'],
      first_name: ['first_name'],
      last_name: ['last_name'],
      codes: ['codes', 'code'],
      coupons: ['coupons', 'coupon'],
      paypal_email: ['paypal_email'],
      wise_email: ['wise_email'],
      state: ['status'],
    },
    customers: {
      partner_id: ['partner_id'],
      partner_email: ['partner_email'],
      partner_code: ['partner_code'],
      customer_id: ['customer_id'],
      customer_email: ['customer_email'],
      created_at: ['created_at'],
    },
    commissions: {
      commission_id: ['commission_id'],
      partner_id: ['partner_id'],
      partner_email: ['partner_email'],
      partner_code: ['partner_code'],
      amount: ['amount'],
      currency: ['currency'],
      status: ['status'],
      due_at: ['due_at'],
      created_at: ['created_at'],
    },
  },
  marks: [
    { kind: 'commissions', column: 'amount' },
    { kind: 'customers', column: 'customer_id' },
    { kind: 'customers', column: 'customer_email' },
  ],
  fates: { pending: 'pending', eligible: 'eligible', paid: 'over' },
  wholeIsMinor: false,
};
