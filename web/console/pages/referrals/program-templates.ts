import type { Draft } from './program-draft.ts';

type Template = { name: string; description: string; part: Partial<Draft> };

/** Terms to begin with; each part sets all fields that another one sets. */
export const TEMPLATES: readonly Template[] = [
  {
    name: 'Recurring commission',
    description: 'A share of every payment. For subscriptions.',
    part: terms({ commission_rate: '20', commission_months: '12' }),
  },
  {
    name: 'One-time reward',
    description: 'A fixed amount for each new customer.',
    part: terms({ commission_type: 'flat', commission_rate: '20', first_sale_only: true }),
  },
  {
    name: 'Give and get credits',
    description: 'Credits for both sides. For customers who refer friends.',
    part: terms({
      credit_enabled: true,
      signup_free: '10',
      signup_paid: '10',
      purchase_credit: '50',
      referee_credit: '10',
    }),
  },
];

function terms(part: Partial<Draft>): Partial<Draft> {
  return {
    commission_type: 'percent',
    commission_rate: '20',
    commission_months: '',
    first_sale_only: false,
    credit_enabled: false,
    signup_free: '0',
    signup_paid: '0',
    purchase_credit: '0',
    referee_credit: '0',
    ...part,
  };
}
