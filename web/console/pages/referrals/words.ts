import { formatCount, formatMoney } from '../../formats.ts';
import type { LedgerStatus, Totals } from './responses.ts';

/** Labels of API values. Unknown values are shown as they are. */

const BLOCK_REASONS: Record<string, string> = {
  same_user: 'Self-referral: same user',
  same_email: 'Self-referral: same mailbox',
  same_device: 'Self-referral: same device',
  same_visitor: 'Self-referral: same browser',
  same_ip: 'Self-referral: same IP address',
  duplicate_referee: 'The same person signed up before',
  mutual_referral: 'The two users referred each other',
  suspended: 'The referrer is suspended',
  cap: "Over the referrer's daily limit",
  rejected: 'Rejected in a review',
};

/** Why a signup earned nothing. */
export const blockReason = (reason: string) => BLOCK_REASONS[reason] ?? reason;

/** Block reasons that a list can be filtered by. */
export const BLOCK_REASON_CHOICES = Object.entries(BLOCK_REASONS).map(([value, label]) => ({ value, label }));

const PURCHASE_REASONS: Record<string, string> = {
  plan_has_no_commission_tracking: 'Your plan does not include commission tracking',
  renewal_not_covered: 'Renewals earn nothing in this program',
  not_first_sale: 'Only the first purchase earns a reward',
  self_referral: 'The signup was blocked',
  suspended: 'The referrer is suspended',
  program_paused: 'The program was paused',
  no_currency_rate: 'No exchange rate for the currency',
  no_reward_configured: 'The program does not reward purchases',
  amount_too_small: 'The reward rounds to nothing',
  before_signup: 'Made more than 72 hours before the signup',
  duplicate_referee: 'The buyer signed up before under another id',
  mutual_referral: 'Buyer and referrer referred each other',
  cap: "The signup was over the referrer's daily limit",
  rejected: 'The signup was rejected in a review',
  same_payment: 'An older purchase of the same payment counts',
};

/** Why a purchase earned nothing. */
export const purchaseReason = (reason: string) => PURCHASE_REASONS[reason] ?? reason;

const CAUSES: Record<string, string> = {
  sale: 'Commission of a sale',
  hold_over: 'Holding period ended',
  manual: 'Bonus or claw-back',
  imported: 'Earned at an earlier program',
  payout: 'Paid out',
  payout_failed: 'Payment failed',
  refund: 'Refund',
  rejection: 'Commission rejected',
  signup: 'Credit for a signup',
  referee: 'Credit for the new user',
  purchase: 'Credit for a purchase',
  delivery: 'Credit delivered',
  revocation: 'Credit revoked',
  correction: 'Referrer corrected',
};

/** Causes of ledger entries. */
export const causeName = (cause: string) => CAUSES[cause] ?? cause;

export const CAUSE_CHOICES = Object.entries(CAUSES).map(([value, label]) => ({ value, label }));

const STATUSES: Record<string, string> = {
  pending: 'On hold',
  eligible: 'Ready to pay',
  paid: 'Paid',
  earned: 'Not delivered',
  delivered: 'Delivered',
  reversed: 'Reversed',
  rejected: 'Rejected',
  revoked: 'Revoked',
};

/** Statuses of an amount. */
export const statusName = (status: string) => STATUSES[status] ?? status;

const LEDGER_STATUSES: LedgerStatus[] = ['pending', 'eligible', 'paid', 'earned', 'delivered'];
export const STATUS_CHOICES = LEDGER_STATUSES.map((value) => ({ value, label: statusName(value) }));

/** An amount of the ledger: money, or credits of a kind. */
export const amountText = (amount: number, currency: string | null, creditKind: string | null) =>
  currency === null ? `${formatCount(amount)} ${creditKind ?? ''}`.trim() : formatMoney(amount, currency);

/**
 * `$12.00 and ¥500`.
 *
 * @param currency of the workspace: without any amount the text is its zero, such as `$0.00`
 */
export function totalsText(totals: Totals, currency: string): string {
  const amounts = Object.entries(totals).map(([own, amount]) => formatMoney(amount, own));
  return amounts.length === 0 ? formatMoney(0, currency) : new Intl.ListFormat(undefined).format(amounts);
}

const FORMATS = { csv: 'CSV with all fields', paypal: 'PayPal mass payment', wise: 'Wise batch payment' };
/** A format of payout files. */
export type PayoutFormat = keyof typeof FORMATS;

export const formatName = (format: PayoutFormat): string => FORMATS[format];

/** Returns the format of this name; our own for an unknown one. */
export const payoutFormat = (name: string | null): PayoutFormat =>
  name === 'paypal' || name === 'wise' ? name : 'csv';

/** Formats to choose from. */
export const FORMAT_CHOICES = Object.entries(FORMATS).map(([value, label]) => ({ value, label }));
