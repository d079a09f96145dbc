import { type ArchivedTable, slugHere } from '../archived-table.ts';

const HASHED = 'hashes of addresses use the deployment’s own key';
const OF_ENROLLMENT = 't.enrollment_id IN (SELECT id FROM enrollments WHERE workspace_id = $1)';

/** Programs with their terms, referrers, their codes and coupons, and who signed up. */
export const PROGRAM_TABLES: readonly ArchivedTable[] = [
  { name: 'programs', order: 'id', read: { code: slugHere('r.id', 'r.code') } },
  { name: 'partner_groups', order: 'id' },
  { name: 'enrollments', order: 'id', without: { address_hash: HASHED } },
  {
    name: 'enrollment_changes',
    rows: OF_ENROLLMENT,
    order: 'id',
    numbers: { id: 'enrollment_changes' },
  },
  { name: 'program_terms', order: 'id' },
  { name: 'terms_acceptances', order: 'id' },
  { name: 'applications', order: 'id' },
  { name: 'assets', order: 'id' },
  { name: 'messages', order: 'id' },
  {
    name: 'message_recipients',
    rows: 't.message_id IN (SELECT id FROM messages WHERE workspace_id = $1)',
    order: 'message_id, enrollment_id',
    without: { mail_id: 'mails are of the deployment that sends them' },
  },
  { name: 'referral_links', rows: OF_ENROLLMENT, order: 'link_id' },
  { name: 'referral_codes', order: 'code_key' },
  { name: 'coupons', order: 'id' },
  { name: 'signups', order: 'id', without: { address_hash: HASHED } },
];

const ORDER = { order_internal_id: 'orders' } as const;

/** What referrers earned, and the ledger. After the orders. */
export const LEDGER_TABLES: readonly ArchivedTable[] = [
  { name: 'purchases', order: 'order_internal_id', numbers: ORDER },
  { name: 'unmatched_orders', order: 'order_internal_id', numbers: ORDER },
  { name: 'refunds', order: 'id', numbers: ORDER, refersToItself: true },
  { name: 'early_refunds', order: 'refund_id' },
  { name: 'grants', order: 'id', numbers: { id: 'grants', ...ORDER } },
  {
    name: 'grant_changes',
    rows: 't.grant_id IN (SELECT id FROM grants WHERE workspace_id = $1)',
    order: 'id',
    numbers: { id: 'grant_changes', grant_id: 'grants' },
  },
  { name: 'commissions', order: 'id', numbers: ORDER, refersToItself: true },
  {
    name: 'commission_changes',
    rows: 't.commission_id IN (SELECT id FROM commissions WHERE workspace_id = $1)',
    order: 'id',
    numbers: { id: 'commission_changes' },
  },
  { name: 'payout_exports', order: 'id' },
  { name: 'payouts', order: 'id' },
  {
    name: 'payout_commissions',
    rows: 't.payout_id IN (SELECT id FROM payouts WHERE workspace_id = $1)',
    order: 'payout_id, commission_id',
  },
  {
    name: 'payout_changes',
    rows: 't.export_id IN (SELECT id FROM payout_exports WHERE workspace_id = $1)',
    order: 'id',
    numbers: { id: 'payout_changes' },
  },
  { name: 'ledger_entries', order: 'id', numbers: { id: 'ledger_entries', grant_id: 'grants' } },
  { name: 'ledger_chain', order: 'position', numbers: { entry_id: 'ledger_entries' } },
  { name: 'ledger_unchained', order: 'entry_id', numbers: { entry_id: 'ledger_entries' } },
  { name: 'acceptances_unchained', order: 'acceptance_id' },
];
