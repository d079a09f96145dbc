import type { WrongVersion } from './list.ts';

const at = (file: string) => `sql/transactions/${file}`;
const GRANTS = 'sql/referrals/grants.ts';

/** Wrong versions of the ledger of referrals, one line each. */
export const LEDGER_MUTATIONS: readonly WrongVersion[] = [
  {
    name: 'no-transaction',
    wrong: 'statements of a transaction take effect one by one',
    file: 'sql/database/pool.ts',
    from: 'await client.query(beginOn(client));',
    to: '',
  },
  {
    name: 'refund-not-idempotent',
    wrong: 'a refund that is reported again is another one',
    file: at('record-refund.ts'),
    from: '  if (known) return known;\n',
    to: `  if (known) return recordRefund(tx, workspace, { ...report, refundId: \`\${report.refundId}+\` }, now);\n`,
  },
  {
    name: 'refunds-exceed-order',
    wrong: 'refunds of an order may exceed its amount',
    file: at('record-refund.ts'),
    from: 'const left = Math.max(0, orderMinor - before);',
    to: 'const left = orderMinor;',
  },
  {
    name: 'early-refund-dropped',
    wrong: 'a refund that was reported before its order is forgotten',
    file: at('early-refunds.ts'),
    from: 'if (early.length === 0) return [];',
    to: 'if (early.length >= 0) return [];',
  },
  {
    name: 'refund-rounded-each-time',
    wrong: 'parts of a refund are rounded one by one',
    file: 'core/referrals/refund.ts',
    from: 'return Number(whole) - takenMinor;',
    to: 'return Math.max(0, Number(whole) - takenMinor - (takenMinor > 0 ? 1 : 0));',
  },
  {
    name: 'refunded-credit-kept',
    wrong: 'a full refund leaves the credits of its order',
    file: at('reverse-commissions.ts'),
    from: 'if (refundedMinor >= purchase.amount_minor) {',
    to: 'if (refundedMinor > purchase.amount_minor) {',
  },
  {
    name: 'hold-period-by-local-time',
    wrong: 'a hold period ends some hours early, as in another time zone',
    file: at('qualify-purchase.ts'),
    from: 'sale.purchasedAt.getTime() + holdDays * DAY_MS)',
    to: 'sale.purchasedAt.getTime() + holdDays * DAY_MS - 10 * 3_600_000)',
  },
  {
    name: 'hold-period-forgotten',
    wrong: 'a hold period is over at once',
    file: 'sql/referrals/commissions.ts',
    from: "WHERE status = 'pending' AND eligible_at <= $1\n",
    to: "WHERE status = 'pending' AND eligible_at <= $1::timestamptz + interval '90 days'\n",
  },
  {
    name: 'matured-without-entries',
    wrong: 'a commission whose hold period is over moves without its entries',
    file: at('mature-held.ts'),
    from: 'await appendEntries(tx, workspaceId, entries, given.now);',
    to: '',
  },
  {
    name: 'entry-on-one-side',
    wrong: 'a posting has one entry in place of two',
    file: at('mature-held.ts'),
    from: "        { ...entry, account: 'cash_pending', amount: -left },\n",
    to: '',
  },
  {
    name: 'open-files-not-counted',
    wrong: 'a payout file takes what an open one pays',
    file: at('export-payouts.ts'),
    from: 'scope.includeOpen ? [] : await openFilesOf(tx, scope, idsOf(eligible));',
    to: 'scope.includeOpen ? [] : await openFilesOf(tx, scope, []);',
  },
  {
    name: 'payout-marked-twice',
    wrong: 'a line pays what another file has paid',
    file: at('pay-payout.ts'),
    from: "    ({ status }) => status === 'eligible',\n",
    to: "    ({ status }) => status === 'eligible' || status === 'paid',\n",
  },
  {
    name: 'failed-line-not-given-back',
    wrong: 'a failed payment is not given back in the ledger',
    file: at('fail-payout-line.ts'),
    from: "held.flatMap((commission) => moveEntries(commission, line.id, 'payout_failed')),",
    to: '[],',
  },
  {
    name: 'credit-delivered-twice',
    wrong: 'a credit that is delivered can be delivered again',
    file: GRANTS,
    from: `AND status = 'earned' RETURNING \${COLUMNS}\`,\n    [workspaceId, id, now],`,
    to: `AND status <> 'revoked' RETURNING \${COLUMNS}\`,\n    [workspaceId, id, now],`,
  },
  {
    name: 'delivered-credit-revoked',
    wrong: 'a credit that is delivered can be revoked',
    file: GRANTS,
    from: `AND status = 'earned' RETURNING \${COLUMNS}\`,\n    [workspaceId, id, reason],`,
    to: `AND status <> 'revoked' RETURNING \${COLUMNS}\`,\n    [workspaceId, id, reason],`,
  },
  {
    name: 'stored-response-ignored',
    wrong: 'a repeated call with an Idempotency-Key runs again',
    file: 'sql/workspaces/idempotency.ts',
    from: 'return { stored: fingerprint && { fingerprint, status, body }, isReserved: reserved };',
    to: 'return { stored: fingerprint && null, isReserved: reserved };',
  },
  {
    name: 'order-not-locked',
    wrong: 'two reports about an order do not wait for each other',
    file: 'sql/orders/reported-orders.ts',
    from: 'WHERE workspace_id = $1 AND order_id = $2 FOR NO KEY UPDATE`',
    to: 'WHERE workspace_id = $1 AND order_id = $2`',
  },
  {
    name: 'commissions-not-locked',
    wrong: 'a payment and a refund of one commission do not wait for each other',
    file: 'sql/referrals/commissions.ts',
    from: "'SELECT id FROM commissions WHERE id = ANY ($1) ORDER BY id FOR NO KEY UPDATE',",
    to: "'SELECT id FROM commissions WHERE id = ANY ($1) ORDER BY id',",
  },
];
