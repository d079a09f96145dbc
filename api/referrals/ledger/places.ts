import type { Account } from '../../../sql/referrals/ledger.ts';

export const KINDS = ['commission', 'credit'] as const;
export const STATUSES = ['pending', 'eligible', 'paid', 'earned', 'delivered'] as const;

/** Maps the ledger's accounts to the API's `kind` and `status`. */
export type Place = { kind: (typeof KINDS)[number]; status: (typeof STATUSES)[number] };

export const PLACE_OF: Record<Account, Place> = {
  cash_pending: { kind: 'commission', status: 'pending' },
  cash_eligible: { kind: 'commission', status: 'eligible' },
  cash_paid: { kind: 'commission', status: 'paid' },
  credit_earned: { kind: 'credit', status: 'earned' },
  credit_delivered: { kind: 'credit', status: 'delivered' },
};
